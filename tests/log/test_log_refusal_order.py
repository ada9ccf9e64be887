"""Of two things wrong with a commit the earlier check is told, for every pair that can meet.

Each table is in the order of the write boundary: shape and hash, owner fence, receipt, the
run's thread and end, ordinal, opening, tickets, thread version, messages.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from log_writer import Writer, dump, message, next_turn, opening, put

from activities.log import CommitLog
from seeding.commits import (
    CommitOperation,
    Disposition,
    EndCause,
    StateCommand,
    commit_hash,
)
from seeding.tickets import Ticket, TicketClosing, TicketReference


class Fault(NamedTuple):
    """One thing wrong: the refusal it gets, its stage, and how it is brought about.

    Two faults of one ``stage`` contradict each other, so they never meet.
    """

    code: str
    stage: str
    spoil: Callable[[CommitOperation], CommitOperation]


def _address(**fields: Any) -> Callable[[CommitOperation], CommitOperation]:
    return lambda made: made.model_copy(update=fields)


def _content(**parts: Any) -> Callable[[CommitOperation], CommitOperation]:
    def spoil(made: CommitOperation) -> CommitOperation:
        commit = made.commit.model_copy(update=parts)
        return made.model_copy(update={"commit": commit, "payload_hash": commit_hash(commit)})

    return spoil


def _said(kind: Any, *tickets: TicketReference, cause: EndCause | None = None) -> Fault:
    """A disposition by itself; the code is filled in by the table."""
    disposition = Disposition(kind=kind, tickets=tickets, cause=cause)
    return Fault("", "disposition", _content(disposition=disposition))


def _ticket(run_id: str, thread_id: str) -> Ticket:
    return Ticket(
        ticket=f"{run_id}:gate:0:0",
        run_id=run_id,
        thread_id=thread_id,
        node_id="gate",
        occurrence=0,
        kind="approval",
    )


_END = EndCause(kind="NaturalEnd")
_TWICE = (put("a", 1, policy="exclusive"), put("a", 2, policy="exclusive"))
_STAMPED = (StateCommand(scope="run", cell="position", key="a", value=1, run_id="r9"),)
_NOT_OPEN = (TicketClosing(ticket="nobody's", outcome="expired"),)


def shape_faults(run_id: str, thread_id: str) -> list[Fault]:
    """Everything that is wrong with a commit in itself, in no order."""
    own = _ticket(run_id, thread_id).reference
    of_run = _ticket("r9", thread_id)
    of_thread = _ticket(run_id, "nowhere")
    return [
        Fault("InvalidCommit", "shape", _content(run_id="")),
        Fault("InvalidCommit", "shape", _content(thread_id="")),
        _said("Awaiting")._replace(code="TicketRequired"),
        _said("Running", own)._replace(code="TicketForbidden"),
        _said("Ended", own, cause=_END)._replace(code="TicketForbidden"),
        _said("Ended")._replace(code="InvalidCommit"),
        _said("Running", cause=_END)._replace(code="InvalidCommit"),
        Fault("StateConflict", "shape", _content(state=_TWICE)),
        Fault("StateScopeMismatch", "shape", _content(state=_STAMPED)),
        Fault("InvalidCommit", "shape", _address(payload_hash="0" * 64)),
        Fault("OperationRunMismatch", "shape", _address(run_id="r9")),
        Fault("TicketRunMismatch", "shape", _content(opened=(of_run,))),
        Fault("TicketThreadMismatch", "shape", _content(opened=(of_thread,))),
    ]


LATER = [
    Fault("Fenced", "owner", _address(owner_epoch=0)),
    Fault("UnknownOwner", "owner", _address(owner_epoch=9)),
    Fault("OperationReused", "ordinal", _address(ordinal=0)),
    Fault("RunThreadMismatch", "thread", _content(thread_id="elsewhere")),
    Fault("OrdinalConflict", "ordinal", _address(ordinal=7)),
    Fault("InvalidCommit", "opening", _content(opening=opening())),
    Fault("InvalidCommit", "tickets", _content(closed=_NOT_OPEN)),
    Fault("ThreadVersionConflict", "version", _address(expected_thread_version=99)),
    Fault("DuplicateMessage", "messages", _content(messages=(message("m0"),))),
]
"""What is wrong with a commit of a run that goes on, only because of what the log holds."""

OPENING = [
    Fault("Fenced", "owner", _address(owner_epoch=0)),
    Fault("UnknownOwner", "owner", _address(owner_epoch=9)),
    Fault("OrdinalConflict", "ordinal", _address(ordinal=7)),
    Fault("InvalidCommit", "opening", _content(opening=None)),
    Fault("InvalidCommit", "opening", _content(opening=opening(branch="main", lineage=()))),
    Fault("InvalidCommit", "tickets", _content(closed=_NOT_OPEN)),
    Fault("ThreadVersionConflict", "version", _address(expected_thread_version=99)),
    Fault("DuplicateMessage", "messages", _content(messages=(message("m0"),))),
]
"""What is wrong with an opening on a thread whose run has ended."""


def told(log: CommitLog, made: CommitOperation) -> str | None:
    """Return the code of a refusal."""
    answer = log.append([made])
    return answer.refusal.code if answer.refusal else None


def spoiled(made: CommitOperation, *faults: Fault) -> CommitOperation:
    """Return an operation with all of this wrong; what changes the content comes first."""
    for fault in faults:
        made = fault.spoil(made)
    for fault in faults:
        changed = fault.spoil(made)
        made = changed if changed.commit == made.commit else made
    return made


def check_pairs(log: CommitLog, made: CommitOperation, order: Sequence[Fault]) -> None:
    """Send every pair of faults of different stages; the earlier one must be told."""
    for first, second in itertools.combinations(order, 2):
        if first.stage != second.stage:
            sent = spoiled(made, first, second)
            assert told(log, sent) == first.code, (first.code, second.code)


def test_each_thing_that_can_be_wrong_has_its_own_refusal(running: Writer, log_url: str) -> None:
    """AW-25 to AW-28, AW-32, AW-59, AW-64, and the ordinal of AW-7: one at a time."""
    made = running.make(running.commit())
    before = dump(log_url)
    for fault in (*shape_faults("r1", "t"), *LATER):
        assert told(running.log, spoiled(made, fault)) == fault.code
    assert dump(log_url) == before
    assert told(running.log, made) is None


def test_what_is_wrong_in_itself_is_told_before_what_the_log_holds(
    running: Writer, log_url: str
) -> None:
    made = running.make(running.commit())
    before = dump(log_url)
    for shape, later in itertools.product(shape_faults("r1", "t"), LATER):
        sent = spoiled(made, later, shape)
        assert told(running.log, sent) == shape.code, (shape.code, later.code)
    assert dump(log_url) == before


def test_of_two_things_wrong_with_a_step_the_earlier_is_told(running: Writer, log_url: str) -> None:
    before = dump(log_url)
    check_pairs(running.log, running.make(running.commit()), LATER)
    assert dump(log_url) == before


@pytest.mark.parametrize("newer", [False, True], ids=["the latest run", "a newer one is open"])
def test_of_an_ended_run_only_owner_receipt_and_thread_are_told_before_its_end(
    running: Writer, log_url: str, newer: bool
) -> None:
    """AW-21, AW-30."""
    running.end()
    if newer:
        running.version = next_turn(running, "r2").version
    made = running.make(running.commit())
    before = dump(log_url)
    for fault in LATER:
        earlier = fault.stage == "owner" or fault.code in ("OperationReused", "RunThreadMismatch")
        code = fault.code if earlier else "RunTerminal"
        assert told(running.log, spoiled(made, fault)) == code
    for shape in shape_faults("r1", "t"):
        assert told(running.log, spoiled(made, shape)) == shape.code
    assert dump(log_url) == before


def test_of_two_things_wrong_with_an_opening_the_earlier_is_told(
    running: Writer, log_url: str
) -> None:
    running.end()
    second = Writer(running.log, "r2")
    made = second.make(second.commit(opening=opening(run_epoch=2)))
    before = dump(log_url)
    for fault in OPENING:
        assert told(running.log, spoiled(made, fault)) == fault.code
    check_pairs(running.log, made, OPENING)
    for shape, later in itertools.product(shape_faults("r2", "t"), OPENING):
        assert told(running.log, spoiled(made, later, shape)) == shape.code
    assert dump(log_url) == before
    assert told(running.log, made) is None


def test_a_busy_thread_is_told_after_the_ordinal_and_before_all_else(
    running: Writer, log_url: str
) -> None:
    """AW-18: whatever else is wrong with the second of two openings at one moment."""
    second = Writer(running.log, "r2")
    made = second.make(second.commit(opening=opening(run_epoch=2)), expected_thread_version=0)
    before = dump(log_url)
    assert told(running.log, made) == "ThreadBusy"
    without = _content(opening=None)(made)
    for fault in OPENING:
        earlier = fault.stage in ("owner", "ordinal") or fault.spoil(made) == without
        assert told(running.log, spoiled(made, fault)) == (fault.code if earlier else "ThreadBusy")
    assert dump(log_url) == before
