"""Every refusal of the write boundary, and that it leaves nothing behind."""

from typing import Any, get_args

import pytest
from log_writer import Writer, drop, dump, message, next_turn, opening, put

from activities.log import CommitLog
from seeding.commits import (
    BranchPoint,
    CauseKind,
    CommitOperation,
    EndCause,
    RunRow,
    ThreadCommit,
)
from seeding.tickets import TicketClosing, TicketReference


def refused(writer: Writer, operation: CommitOperation, url: str) -> str:
    """Return the code of a refusal, after checking that it left the log as it was."""
    before = dump(url)
    answer = writer.log.append([operation])
    assert answer.accepted == 0
    assert answer.receipt is None
    assert answer.times == ()
    assert dump(url) == before
    assert answer.refusal is not None
    assert (answer.refusal.run_id, answer.refusal.ordinal) == (
        operation.run_id,
        operation.ordinal,
    )
    return answer.refusal.code


def raw(writer: Writer, said: dict[str, Any]) -> CommitOperation:
    """Return an operation whose disposition came as JSON, past any pairing of a model."""
    commit = ThreadCommit.model_validate(
        {"threadId": writer.thread_id, "runId": writer.run_id, "disposition": said}
    )
    return writer.make(commit)


NINE_CELLS = [
    ("Running", None, None),
    ("Running", "own", "TicketForbidden"),
    ("Running", "other", "TicketForbidden"),
    ("Awaiting", None, "TicketRequired"),
    ("Awaiting", "own", None),
    ("Awaiting", "other", "TicketRunMismatch"),
    ("Ended", None, None),
    ("Ended", "own", "TicketForbidden"),
    ("Ended", "other", "TicketForbidden"),
]


@pytest.mark.parametrize(("kind", "whose", "code"), NINE_CELLS)
def test_aw_28_of_nine_pairings_of_disposition_and_ticket_three_are_accepted(
    running: Writer, log_url: str, kind: str, whose: str | None, code: str | None
) -> None:
    ticket = running.ticket()
    reference = TicketReference(
        ticket=ticket.ticket, run_id="r1" if whose == "own" else "r9", thread_id="t"
    )
    said: dict[str, Any] = {"kind": kind, "tickets": [reference.to_json()] if whose else []}
    if kind == "Ended":
        said["cause"] = {"kind": "NaturalEnd"}
    made = raw(running, said)
    if code is None and whose == "own":
        made = running.make(made.commit.model_copy(update={"opened": (ticket,)}))
    if code is None:
        assert running.log.append([made]).accepted == 1
    else:
        assert refused(running, made, log_url) == code


def test_aw_25_after_a_refusal_the_same_ordinal_is_still_free(
    running: Writer, log_url: str
) -> None:
    assert refused(running, raw(running, {"kind": "Awaiting"}), log_url) == "TicketRequired"
    running.wait(running.ticket())
    run = running.log.run("r1")
    assert run is not None
    assert (run.last_ordinal, run.phase) == (1, "awaiting")


def test_aw_27_a_ticket_of_another_thread_is_refused(running: Writer, log_url: str) -> None:
    ticket = running.ticket().model_copy(update={"thread_id": "elsewhere"})
    commit = running.commit("Awaiting", named=[ticket], opened=(ticket,))
    assert refused(running, running.make(commit), log_url) == "TicketThreadMismatch"


def _causes() -> list[CauseKind]:
    return list(get_args(CauseKind))


@pytest.mark.parametrize("kind", _causes())
def test_aw_30_ended_is_absorbing_whatever_the_cause(
    running: Writer, log_url: str, kind: CauseKind
) -> None:
    last = running.ending(kind)
    running.send(last)
    other: CauseKind = "NaturalEnd" if kind != "NaturalEnd" else "Error"
    ticket = running.ticket()
    for commit in (
        running.commit(),
        running.commit("Awaiting", named=[ticket], opened=(ticket,)),
        running.commit("Ended", cause=EndCause(kind=other)),
        running.commit("Ended", cause=EndCause(kind=kind)),
    ):
        assert refused(running, running.make(commit), log_url) == "RunTerminal"
    again = running.log.append([last])
    assert again.receipt is not None
    assert (again.receipt.duplicate, again.receipt.last) == (True, True)


def test_aw_21_a_late_commit_of_an_ended_run_is_judged_by_its_own_end(
    running: Writer, log_url: str
) -> None:
    running.end()
    newer = next_turn(running, "r2")
    running.version = newer.version
    assert refused(running, running.make(running.commit()), log_url) == "RunTerminal"


def test_aw_22_a_run_belongs_to_one_thread(running: Writer, log_url: str) -> None:
    stray = Writer(running.log, "r1", "elsewhere")
    stray.ordinal = 1
    assert refused(stray, stray.make(stray.commit()), log_url) == "RunThreadMismatch"
    assert running.log.latest_run("elsewhere") is None


def test_aw_32_an_operation_carries_a_commit_of_its_own_run(running: Writer, log_url: str) -> None:
    made = running.make(running.commit()).model_copy(update={"run_id": "r9"})
    assert refused(running, made, log_url) == "OperationRunMismatch"


def test_aw_59_two_exclusive_sets_of_one_cell_refuse_the_whole_commit(
    running: Writer, log_url: str
) -> None:
    twice = (put("a", 1, policy="exclusive"), put("a", 2, policy="exclusive"))
    assert refused(running, running.make(running.commit(state=twice)), log_url) == "StateConflict"
    running.step(state=(put("a", 1, policy="exclusive"),))
    running.step(state=(put("a", 2, policy="exclusive"), put("a", 3, "metadata", "exclusive")))
    running.step(state=(drop("b"), drop("b")))
    state = running.log.state("t").state
    assert (state.data, state.metadata) == ({"a": 2}, {"a": 3})
    running.end("Error", "StateConflict")
    assert running.log.state("t").state.data == {"a": 2}


@pytest.mark.parametrize(
    "added",
    [[message("m0")], [message("m1"), message("m1")], [message("m1"), message("m0")]],
    ids=["against the log", "within the commit", "one new, one not"],
)
def test_aw_64_a_repeated_message_id_refuses_the_whole_commit(
    running: Writer, log_url: str, added: list[dict[str, Any]]
) -> None:
    commit = running.commit(messages=tuple(added), state=(put("a", 1),))
    assert refused(running, running.make(commit), log_url) == "DuplicateMessage"


def _large() -> str:
    return "x" * 65_536


@pytest.mark.parametrize(
    "parts",
    [
        {"state": (put("a", _large()),)},
        {"state": tuple(put(f"k{n}", "x" * 60_000) for n in range(5))},
        {"state": (put("a", {1, 2}),)},
        {"state": (put("a", float("nan")),)},
        {"state": (put("a", 2**53 + 1),)},
        {"state": (put("a", (1, 2)),)},
        {"rows": (RunRow(kind="output", node_id="n", occurrence=0, value=b"raw"),)},
        {"messages": ({"role": "user", "content": "no id"},)},
    ],
    ids=[
        "a value above 64 KB",
        "a commit above 256 KB",
        "a set",
        "not a number",
        "an integer beyond 2^53",
        "a tuple",
        "bytes",
        "a message without an id",
    ],
)
def test_content_that_no_log_keeps_is_an_invalid_commit(
    running: Writer, log_url: str, parts: dict[str, Any]
) -> None:
    commit = running.commit(**parts)
    made = running.make(running.commit()).model_copy(update={"commit": commit})
    assert refused(running, made, log_url) == "InvalidCommit"


def test_a_hash_that_is_not_the_contents_is_an_invalid_commit(
    running: Writer, log_url: str
) -> None:
    made = running.make(running.commit()).model_copy(update={"payload_hash": "0" * 64})
    assert refused(running, made, log_url) == "InvalidCommit"


def test_a_commutative_merge_does_not_grow_a_cell_beyond_its_size(
    running: Writer, log_url: str
) -> None:
    running.step(state=(put("a", {"one": "x" * 40_000}, policy="commutative"),))
    more = running.commit(state=(put("a", {"two": "x" * 40_000}, policy="commutative"),))
    assert refused(running, running.make(more), log_url) == "InvalidCommit"


def _tickets_that_do_not_add_up(writer: Writer) -> dict[str, ThreadCommit]:
    first, second = writer.ticket("gate"), writer.ticket("other")
    closing = TicketClosing(ticket=first.ticket, outcome="answered")
    return {
        "one is forgotten": writer.commit(),
        "one is named that nobody opened": writer.commit("Awaiting", named=[first, second]),
        "one is closed that is not open": writer.commit(
            "Awaiting",
            named=[first],
            closed=(TicketClosing(ticket=second.ticket, outcome="expired"),),
        ),
        "one is closed twice": writer.commit(closed=(closing, closing)),
        "one is opened again": writer.commit("Awaiting", named=[first], opened=(first,)),
        "an end leaves one open": writer.commit("Ended", cause=EndCause(kind="NaturalEnd")),
    }


@pytest.mark.parametrize(
    "case",
    [
        "one is forgotten",
        "one is named that nobody opened",
        "one is closed that is not open",
        "one is closed twice",
        "one is opened again",
        "an end leaves one open",
    ],
)
def test_the_open_tickets_are_those_before_with_the_opened_without_the_closed(
    running: Writer, log_url: str, case: str
) -> None:
    running.wait(running.ticket("gate"))
    commit = _tickets_that_do_not_add_up(running)[case]
    assert refused(running, running.make(commit), log_url) == "InvalidCommit"


def test_a_closed_ticket_is_never_opened_again(running: Writer, log_url: str) -> None:
    ticket = running.ticket()
    running.wait(ticket)
    running.answer(ticket)
    again = running.commit("Awaiting", named=[ticket], opened=(ticket,))
    assert refused(running, running.make(again), log_url) == "InvalidCommit"


def test_the_first_commit_of_a_run_and_only_it_opens_it(log: CommitLog, log_url: str) -> None:
    writer = Writer(log)
    assert refused(writer, writer.make(writer.commit()), log_url) == "InvalidCommit"
    writer.open()
    later = writer.commit(opening=opening())
    assert refused(writer, writer.make(later), log_url) == "InvalidCommit"


def test_an_opening_may_be_ended_but_not_awaiting(log: CommitLog, log_url: str) -> None:
    writer = Writer(log)
    ticket = writer.ticket()
    awaiting = writer.commit("Awaiting", named=[ticket], opened=(ticket,), opening=opening())
    assert refused(writer, writer.make(awaiting), log_url) == "InvalidCommit"
    writer.open(kind="Ended", cause=EndCause(kind="Cancelled", message="queued too long"))
    run = log.run("r1")
    assert run is not None
    assert (run.phase, run.last_ordinal, run.ended_at) == (
        "ended",
        0,
        "2030-01-02T12:00:01.000Z",
    )


def test_a_second_run_does_not_open_beside_one_that_has_not_ended(
    running: Writer, log_url: str
) -> None:
    second = Writer(running.log, "r2")
    made = second.make(second.commit(opening=opening(run_epoch=2)))
    assert refused(second, made, log_url) == "ThreadBusy"
    running.wait(running.ticket())
    made = second.make(second.commit(opening=opening(run_epoch=2)), expected_thread_version=2)
    assert refused(second, made, log_url) == "ThreadBusy"


@pytest.mark.parametrize(
    "lineage",
    [
        (BranchPoint(thread_id="t", branch="main", up_to=9),),
        (BranchPoint(thread_id="t", branch="none", up_to=1),),
        (BranchPoint(thread_id="nobody", branch="main", up_to=1),),
        (
            BranchPoint(thread_id="t", branch="main", up_to=1),
            BranchPoint(thread_id="t", branch="main", up_to=2),
        ),
    ],
    ids=["a future version", "no such branch", "no such thread", "not that branch's lineage"],
)
def test_a_branch_stands_on_a_lineage_of_the_log(
    running: Writer, log_url: str, lineage: tuple[BranchPoint, ...]
) -> None:
    running.end()
    second = Writer(running.log, "r2")
    made = second.make(second.commit(opening=opening(branch="b2", lineage=lineage)))
    assert refused(second, made, log_url) == "InvalidCommit"


def test_a_branch_is_opened_once(running: Writer, log_url: str) -> None:
    running.end()
    second = Writer(running.log, "r2")
    made = second.make(second.commit(opening=opening(branch="main", lineage=())))
    assert refused(second, made, log_url) == "InvalidCommit"


def test_a_writer_of_an_older_owner_epoch_is_fenced(running: Writer, log_url: str) -> None:
    assert running.log.take_over("r1", "chain-1") == 1
    assert running.log.take_over("r1", "chain-2") == 2
    assert running.log.take_over("r1", "chain-2") == 2
    assert refused(running, running.make(running.commit()), log_url) == "Fenced"
    running.owner_epoch = 3
    assert refused(running, running.make(running.commit()), log_url) == "UnknownOwner"
    running.owner_epoch = 2
    running.step()
    run = running.log.run_of_chain("chain-2")
    assert run is not None
    assert (run.run_id, run.owner_epoch, run.chain_id) == ("r1", 2, "chain-1")
