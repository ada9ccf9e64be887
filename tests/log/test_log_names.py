"""Names with U+0000, which one of the databases cannot hold: refused on each, by one rule."""

from typing import Any

import pytest
from log_writer import Writer, dump, message, opening, put

from activities.log import CommitLog
from seeding.commits import CommitOperation, RunRow
from seeding.tickets import TicketClosing


def refused(writer: Writer, operation: CommitOperation, url: str) -> str:
    """Return what an ``InvalidCommit`` says that left the log as it was."""
    before = dump(url)
    refusal = writer.log.append([operation]).refusal
    assert refusal is not None
    assert refusal.code == "InvalidCommit"
    assert dump(url) == before
    return refusal.message


def _names_with_nul(writer: Writer) -> dict[str, dict[str, Any]]:
    closing = TicketClosing(ticket="r1:ga\0te:0:0", outcome="answered")
    ticket = writer.ticket("ga\0te")
    return {
        "nodeId": {"node_id": "a\0b"},
        "messages.1.id": {"messages": (message("m1"), message("a\0b"))},
        "the key of data": {"state": (put("a\0b", 1),)},
        "the key of position": {"state": (put("a\0b", 1, "position"),)},
        "the node of an output": {
            "rows": (RunRow(kind="output", node_id="a\0b", occurrence=0, value=1),)
        },
        "the id of a ticket": {"kind": "Awaiting", "named": [ticket], "opened": (ticket,)},
        "the id of a closed ticket": {"closed": (closing,)},
    }


@pytest.mark.parametrize(
    "place",
    [
        "nodeId",
        "messages.1.id",
        "the key of data",
        "the key of position",
        "the node of an output",
        "the id of a ticket",
        "the id of a closed ticket",
    ],
)
def test_a_name_with_u_0000_is_refused_on_every_database(
    running: Writer, log_url: str, place: str
) -> None:
    """PostgreSQL's text cannot hold it, and a log has one rule wherever it is kept."""
    made = running.make(running.commit(**_names_with_nul(running)[place]))
    assert (
        refused(running, made, log_url)
        == f"{place} of a commit of run 'r1' holds U+0000, which no name may hold"
    )


@pytest.mark.parametrize("name", ["thread_id", "run_id"])
def test_a_thread_or_run_named_with_u_0000_is_refused(
    log: CommitLog, log_url: str, name: str
) -> None:
    writer = Writer(log)
    commit = writer.commit(opening=opening()).model_copy(update={name: "a\0b"})
    place = {"thread_id": "threadId", "run_id": "runId"}[name]
    assert refused(writer, writer.make(commit), log_url).startswith(f"{place} of a commit")


def test_an_opening_with_u_0000_in_its_key_is_refused(log: CommitLog, log_url: str) -> None:
    writer = Writer(log)
    commit = writer.commit(opening=opening(idempotency_key="a\0b"))
    said = refused(writer, writer.make(commit), log_url)
    assert said.startswith("idempotencyKey of a commit")


def test_a_value_with_u_0000_is_kept_as_it_is(running: Writer) -> None:
    running.step(messages=(message("m1", "a\0b"),), state=(put("k", ["\0"]),))
    view = running.log.state("t")
    assert view.state.messages[-1]["content"] == "a\0b"
    assert view.state.data == {"k": ["\0"]}
