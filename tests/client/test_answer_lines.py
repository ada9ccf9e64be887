"""The line that answers a ticket: shell-quoted, and it always names the ticket."""

import shlex

import pytest

from client.command.people import resume_line
from seeding.model import JsonObject

APPROVAL: JsonObject = {"ticket": "R:gate:0:0", "kind": "approval", "allowed": ["deny", "approve"]}


@pytest.mark.parametrize(
    ("thread", "ticket", "line"),
    [
        ("alice", APPROVAL, "fermata resume alice --ticket R:gate:0:0 --decision approve"),
        (
            "alice",
            {**APPROVAL, "allowed": ["keep it"], "who": ["carol"]},
            "fermata resume alice --ticket R:gate:0:0 --decision 'keep it' --actor carol",
        ),
        (
            "alice",
            {**APPROVAL, "approvedBy": []},
            "fermata resume alice --ticket R:gate:0:0 --decision approve --actor ...",
        ),
        (
            "alice",
            {"ticket": "R:ask:1:0", "kind": "text", "allowed": None},
            "fermata resume alice --ticket R:ask:1:0 --value ...",
        ),
        (
            "alice",
            {"ticket": "R::0:0", "kind": "pause", "allowed": None},
            "fermata resume alice --ticket R::0:0",
        ),
        (
            "it's; rm -rf $HOME",
            {**APPROVAL, "ticket": "R:`id`:0:0"},
            "fermata resume 'it'\"'\"'s; rm -rf $HOME' --ticket 'R:`id`:0:0' --decision approve",
        ),
        (
            "--help",
            APPROVAL,
            "fermata resume --ticket R:gate:0:0 --decision approve -- --help",
        ),
    ],
)
def test_a_line_names_thread_and_ticket_whatever_they_are(
    thread: str, ticket: JsonObject, line: str
) -> None:
    assert resume_line(thread, ticket) == line
    assert {thread, ticket["ticket"]} <= set(shlex.split(line))
