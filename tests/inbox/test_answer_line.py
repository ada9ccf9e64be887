"""Every line we print answers its ticket when pasted, whatever the ids hold."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from seeding.tickets import Ticket
from tests.inbox.runs import pause, ticket
from workflows.answer_line import answer_line

STUB = "temporal() { printf '%s\\0' \"$@\"; }\n"
HOSTILE = [
    "plain",
    "it's",
    'a "quoted" name',
    "two  words",
    "$(touch pwned) `touch pwned` $HOME",
    "; touch pwned #",
    "\\ \\n !! * ? {a,b} ~",
    "naïve ☃",
    "'; touch pwned; '",
]


def pasted(line: str, folder: Path) -> list[str]:
    shell = shutil.which("bash")
    assert shell is not None
    done = subprocess.run(
        [shell, "-c", STUB + line], capture_output=True, check=True, cwd=folder, text=True
    )
    assert done.stderr == ""
    assert list(folder.iterdir()) == []
    return done.stdout.split("\0")[:-1]


def of_node(node: str) -> Ticket:
    body = ticket().body
    return body.model_copy(update={"ticket": f"R:{node}:0:0", "node_id": node})


def test_the_line_is_that_of_the_contract():
    assert answer_line("alice", ticket().body) == (
        "temporal workflow signal --workflow-id thread/alice --name resume "
        """--input '{"ticket": "R:gate:0:0", "decision": "approve"}'"""
    )


def test_the_line_of_a_pause_lifts_it():
    assert answer_line("alice", pause().body).endswith("--name resume --input '{}'")


@pytest.mark.parametrize("name", HOSTILE)
def test_ids_stay_what_they_are_in_a_shell(name: str, tmp_path: Path):
    words = pasted(answer_line(name, of_node(name)), tmp_path)
    assert words[:-1] == [
        *("workflow", "signal", "--workflow-id", f"thread/{name}"),
        *("--name", "resume", "--input"),
    ]
    assert json.loads(words[-1]) == {"ticket": f"R:{name}:0:0", "decision": "approve"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"allowed": ["yes", "no"]}, {"decision": "yes"}),
        ({"kind": "choice", "allowed": ["red", "blue"]}, {"decision": "red"}),
        ({"kind": "text"}, {"value": "..."}),
        ({"who": ["anna", "boss"]}, {"decision": "approve", "actor": "anna"}),
        ({"approved_by": ["anna"]}, {"decision": "approve", "actor": "..."}),
    ],
)
def test_other_tickets(body: dict[str, Any], expected: dict[str, Any], tmp_path: Path):
    words = pasted(answer_line("alice", ticket(**body).body), tmp_path)
    assert json.loads(words[-1]) == {"ticket": "R:gate:0:0", **expected}
