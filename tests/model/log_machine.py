"""The real log and its model, driven side by side: whatever happens, both say the same.

Every action goes to both. What the model refuses changes no byte of the log; what it accepts is
read back whole. The threads are few and their values small, so that runs, branches, messages
and tickets meet often.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Engine, delete, select

from activities.log import CommitLog
from activities.log.dialect import open_engine, writing
from activities.log.tables import metadata, schema_version
from seeding.commits import BatchReceipt, CommitOperation
from seeding.errors import RunTerminal, UnknownThread
from seeding.fold import fold
from seeding.model import Json
from seeding.tickets import OpenTicket
from tests.model import building
from tests.model.commit_shape import misshapen
from tests.model.content import THREADS
from tests.model.log_fold import cells, messages_of, owned_entries, run_entries, state_at
from tests.model.log_model import Entry, LogModel, RunNow, ticket_times

NOON = datetime(2030, 1, 2, 12, 0, 0, tzinfo=UTC)
DRAWN = st.data()


class Clock:
    """The time of both: it moves when the machine acts, not when it is read."""

    def __init__(self) -> None:
        self.moment = NOON

    def __call__(self) -> datetime:
        return self.moment


def exact(value: Json) -> str:
    """Return JSON text in which 1, 1.0 and true are three things and key order is none."""
    return json.dumps(value, sort_keys=True)


class LogMachine(RuleBasedStateMachine):
    """Actions on the log at ``url``, a database of its own that every machine empties first."""

    url: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.log = CommitLog.open(self.url, clock=self.clock)
        self.bystander: Engine = open_engine(self.url)
        self._empty()
        self.model = LogModel()
        self.opened = 0

    # --- runs open and go on ------------------------------------------------------------------

    @rule(drawn=DRAWN, thread_id=st.sampled_from(THREADS))
    def a_run_opens_or_meets_one_that_has_not_ended(
        self, drawn: st.DataObject, thread_id: str
    ) -> None:
        made = building.build_opening(drawn.draw, self.model, thread_id, self._new_run())
        self._send([made])

    @precondition(lambda self: self._open_runs())
    @rule(drawn=DRAWN, count=st.sampled_from([1, 1, 1, 2, 4]))
    def a_run_goes_on(self, drawn: st.DataObject, count: int) -> None:
        run = self._any(drawn, self._open_runs())
        self._send(self._continuation(drawn, self.model, run.run_id, count))

    @precondition(lambda self: len(self._open_runs()) > 1)
    @rule(drawn=DRAWN)
    def one_list_moves_several_threads(self, drawn: st.DataObject) -> None:
        first, second = self._open_runs()[:2]
        mixed = [
            *self._continuation(drawn, self.model, first.run_id, 2),
            *self._continuation(drawn, self.model, second.run_id, 2),
        ]
        self._send(mixed, whole=drawn.draw(st.booleans()))

    @precondition(lambda self: self._open_runs())
    @rule(drawn=DRAWN, broken=st.booleans())
    def one_list_ends_a_run_and_opens_the_next(self, drawn: st.DataObject, broken: bool) -> None:
        run = self._any(drawn, self._open_runs())
        end = building.build_next(drawn.draw, self.model, run, "end")
        then = self.model.copy()
        then.append([end], self.clock.moment)
        where = drawn.draw(st.sampled_from(["turn", "fork", "going on"]))
        opens = building.build_opening(drawn.draw, then, run.thread_id, self._new_run(), where)
        if broken:
            opens = building.spoil(drawn.draw, then, opens)
        self._send([end, opens], whole=True)

    # --- what may go wrong --------------------------------------------------------------------

    @precondition(lambda self: self.model.threads)
    @rule(drawn=DRAWN)
    def a_spoiled_commit_arrives(self, drawn: st.DataObject) -> None:
        run = self._any(drawn, self.model.runs())
        made = building.build_next(drawn.draw, self.model, run)
        self._send([building.spoil(drawn.draw, self.model, made)])

    @rule(drawn=DRAWN, thread_id=st.sampled_from(THREADS))
    def a_spoiled_opening_arrives(self, drawn: st.DataObject, thread_id: str) -> None:
        made = building.build_opening(drawn.draw, self.model, thread_id, self._new_run())
        self._send([building.spoil(drawn.draw, self.model, made)])

    @precondition(lambda self: self.model.threads)
    @rule(drawn=DRAWN, late=st.booleans())
    def an_accepted_commit_is_sent_again(self, drawn: st.DataObject, late: bool) -> None:
        names = [entry.name for entry in self.model.entries()]
        entry = self.model.entry(drawn.draw(st.sampled_from(names)))
        run = self._run(entry.operation.run_id)
        now = {"expected_thread_version": 999, "owner_epoch": run.owner_epoch}
        again = entry.operation.model_copy(update={} if late else now)
        answer = self._send([again])
        if again.owner_epoch == run.owner_epoch:
            assert answer.receipt is not None
            assert (answer.receipt.duplicate, answer.receipt.last) == (True, entry == run.last)
            assert answer.receipt.created_at == entry.created_at
        else:
            assert answer.refusal is not None
            assert answer.refusal.code == "Fenced"

    @precondition(lambda self: self._open_runs())
    @rule(drawn=DRAWN, count=st.integers(1, 3), kept=st.integers(0, 2))
    def a_workflow_task_is_discarded(self, drawn: st.DataObject, count: int, kept: int) -> None:
        """A list is accepted, then the run decides otherwise from where it was before."""
        run = self._any(drawn, self._open_runs())
        older = self.model.copy()
        accepted = self._continuation(drawn, older, run.run_id, count)
        answer = self._send(accepted)
        same = accepted[: min(kept, answer.accepted)]
        older.append(same, self.clock.moment)
        before = older.run(run.run_id)
        assert before is not None
        if before.phase != "ended":
            intent = drawn.draw(st.sampled_from(["step", "wait", "end"]))
            other = building.build_next(drawn.draw, older, before, intent)
            lost = [*same, other]
            behind = other.ordinal < len(self._run(run.run_id).entries)
            answer = self._send(lost)
            first = accepted[other.ordinal - len(run.entries)] if behind else other
            if behind and first.payload_hash != other.payload_hash:
                assert answer.accepted == len(same)
                assert answer.refusal is not None
                assert answer.refusal.code == "OperationReused"
        self._restore(drawn, run.run_id)

    @precondition(lambda self: self.model.threads)
    @rule(drawn=DRAWN, chain=st.sampled_from(["second", "third"]))
    def another_chain_takes_a_run_over(self, drawn: st.DataObject, chain: str) -> None:
        run = self._any(drawn, self.model.runs())
        if run.phase == "ended":
            before = self._bytes()
            with pytest.raises(RunTerminal):
                self.log.take_over(run.run_id, chain)
            assert self._bytes() == before
            return
        made = building.build_next(drawn.draw, self.model, run)
        self._tick()
        expected = self.model.take_over(run.run_id, chain)
        assert self.log.take_over(run.run_id, chain) == expected
        owned = self.log.run_of_chain(self.model.chains[run.run_id][-1])
        assert owned is not None
        assert owned.owner_epoch == len(self.model.chains[owned.run_id])
        answer = self._send([made])
        if expected > made.owner_epoch and misshapen(made) is None:
            assert answer.refusal is not None
            assert answer.refusal.code == "Fenced"

    @rule()
    def the_log_is_closed_and_opened_again(self) -> None:
        before = self._bytes()
        self.log.close()
        self.log = CommitLog.open(self.url, clock=self.clock)
        assert self._bytes() == before

    # --- acting on both -----------------------------------------------------------------------

    def _send(self, operations: Sequence[CommitOperation], *, whole: bool = False) -> BatchReceipt:
        self._tick()
        counts = [len(entries) for entries in self.model.threads.values()]
        judged = self.model.copy()
        expected = judged.append(operations, self.clock.moment, whole=whole)
        changes = [len(entries) for entries in judged.threads.values()] != counts
        before = {} if changes else self._bytes()
        answer = self.log.append(operations, whole=whole)
        assert _told(answer) == _told(expected), answer.refusal
        self.model = judged
        if not changes:
            assert self._bytes() == before
            return answer
        for thread_id in dict.fromkeys(made.commit.thread_id for made in operations):
            self._check_thread(thread_id)
        return answer

    def _restore(self, drawn: st.DataObject, run_id: str) -> None:
        """Go on from what the log says of a run, knowing nothing else."""
        found = self.log.run(run_id)
        assert found is not None
        run = self._run(run_id)
        assert (found.last_ordinal + 1, found.phase) == (len(run.entries), run.phase)
        if found.phase == "ended":
            assert found.cause == run.last.commit.disposition.cause
            return
        head, own = self.log.position(run_id)
        assert head == run.last.commit.position
        assert exact(own) == exact(cells(owned_entries(self.model.before(run.last)), "position"))
        made = building.build_next(drawn.draw, self.model, run, "step").model_copy(
            update={
                "ordinal": found.last_ordinal + 1,
                "expected_thread_version": found.thread_version,
                "owner_epoch": found.owner_epoch,
            }
        )
        self._send([made])

    def _continuation(
        self, drawn: st.DataObject, model: LogModel, run_id: str, count: int
    ) -> list[CommitOperation]:
        """Return the next operations of a run, each made on the one before it."""
        ahead, made = model.copy(), list[CommitOperation]()
        for _ in range(count):
            run = ahead.run(run_id)
            if run is None or run.phase == "ended":
                break
            made.append(building.build_next(drawn.draw, ahead, run))
            if ahead.append(made[-1:], self.clock.moment).refusal is not None:
                break
        return made

    # --- comparing ----------------------------------------------------------------------------

    def _check_thread(self, thread_id: str) -> None:
        """Compare everything that is read of a thread now."""
        sent = self.model.threads.get(thread_id, [])
        assert self.log.thread_version(thread_id) == len(sent)
        if not sent:
            with pytest.raises(UnknownThread):
                self.log.state(thread_id)
            return
        stored = self.log.commits(thread_id)
        assert [found.thread_version for found in stored] == list(range(1, len(sent) + 1))
        for found, entry in zip(stored, sent, strict=True):
            assert exact(found.operation.to_json()) == exact(entry.operation.to_json())
            assert (found.branch, found.created_at) == (entry.branch, entry.created_at)
        runs = self.model.runs(thread_id)
        found_runs = self.log.runs(thread_id)
        assert [
            (found.run_id, found.branch, found.phase, found.last_ordinal, found.owner_epoch)
            for found in found_runs
        ] == [
            (run.run_id, run.branch, run.phase, run.last.operation.ordinal, run.owner_epoch)
            for run in runs
        ]
        assert self.log.open_tickets(thread_id) == tuple(
            ticket for run in runs for ticket in _open_tickets(run.entries)
        )
        self._check_state(runs[-1].last, None)
        assert self.log.messages(thread_id) == messages_of(self.model.before(runs[-1].last))

    def _check_state(self, entry: Entry, name: str | None) -> None:
        thread_id = entry.commit.thread_id
        along = self.model.before(entry)
        view = self.log.state(thread_id, name)
        assert exact(view.state.to_json()) == exact(state_at(along))
        assert exact(fold([one.commit for one in along]).to_json()) == exact(state_at(along))
        assert (view.version, view.ordinal) == (entry.version, entry.operation.ordinal)
        assert (view.branch, view.message_count) == (entry.branch, len(messages_of(along)))
        assert view.phase == entry.commit.disposition.kind.lower()
        assert view.open_tickets == _open_tickets(run_entries(along))

    def teardown(self) -> None:
        """Compare every checkpoint there ever was, then let go."""
        try:
            for thread_id in THREADS:
                self._check_thread(thread_id)
            for entry in self.model.entries():
                run_id, ordinal = entry.operation.run_id, entry.operation.ordinal
                self._check_state(entry, entry.name)
                head, own = self.log.position(run_id, ordinal)
                upto = owned_entries(self.model.before(entry))
                assert head == entry.commit.position
                assert exact(own) == exact(cells(upto, "position"))
            for run in self.model.runs():
                assert self.log.closed_tickets(run.run_id, 999) == self.model.closings(run)
                assert self.log.all_outputs(run.run_id) == [
                    row
                    for entry in owned_entries(self.model.before(run.last))
                    for row in entry.commit.rows
                    if row.kind == "output"
                ]
        finally:
            self.bystander.dispose()
            self.log.close()

    # --- small things -------------------------------------------------------------------------

    def _open_runs(self) -> list[RunNow]:
        return [run for run in self.model.runs() if run.phase != "ended"]

    def _any(self, drawn: st.DataObject, runs: list[RunNow]) -> RunNow:
        return self._run(drawn.draw(st.sampled_from([run.run_id for run in runs])))

    def _run(self, run_id: str) -> RunNow:
        found = self.model.run(run_id)
        assert found is not None
        return found

    def _new_run(self) -> str:
        self.opened += 1
        return f"r{self.opened}"

    def _tick(self) -> None:
        self.clock.moment += timedelta(seconds=1)

    def _bytes(self) -> dict[str, list[str]]:
        with self.bystander.connect() as connection:
            return {
                table.name: sorted(repr(tuple(row)) for row in connection.execute(select(table)))
                for table in metadata.sorted_tables
            }

    def _empty(self) -> None:
        with writing(self.bystander, quick=False).begin() as connection:
            for table in reversed(metadata.sorted_tables):
                if table is not schema_version:
                    connection.execute(delete(table))


def drive(at: str, *, histories: int, actions: int, new: bool) -> None:
    """Drive the log at a URL and its model through histories of some actions.

    Args:
        at: The URL of a database that nobody else uses.
        histories: How many.
        actions: How many actions each has at most.
        new: Make up new ones and make a failing one small; else the same ones every time.
    """

    class Machine(LogMachine):
        url = at

    phases = [Phase.reuse, Phase.generate, Phase.shrink] if new else [Phase.generate]
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    how = settings(
        max_examples=histories,
        stateful_step_count=actions,
        phases=phases,
        derandomize=not new,
        deadline=None,
        suppress_health_check=slow,
    )
    run_state_machine_as_test(Machine, settings=how)


def _open_tickets(entries: Sequence[Entry]) -> tuple[OpenTicket, ...]:
    """The tickets that commits of one run opened and none of them closed, with their times."""
    closed = {closing.ticket for entry in entries for closing in entry.commit.closed}
    found: list[OpenTicket] = []
    for entry in entries:
        for ticket in entry.commit.opened:
            if ticket.ticket not in closed:
                times = ticket_times(ticket, entry.created_at)
                found.append(
                    OpenTicket(body=ticket, created_at=times.created_at, deadline=times.deadline)
                )
    return tuple(found)


def _told(answer: BatchReceipt) -> dict[str, Any]:
    """Return an answer without the words of its refusal."""
    told = answer.to_json()
    if told["refusal"] is not None:
        del told["refusal"]["message"]
    return told
