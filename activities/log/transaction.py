"""One writing transaction: operations are judged in turn, each seeing those before it."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from activities.log import checks, facts, records
from activities.log.cells import CellGroup, group_of, read_cell, text_after
from activities.log.checks import RunFacts
from activities.log.encoding import EncodedCommit, dump
from activities.log.facts import Accepted, MessagePlace, ThreadHead
from activities.log.floors import read_floor
from activities.log.lineage import count_messages, read_branch, read_lineage
from activities.log.names import can_be_looked_up
from activities.log.pending import PendingRows
from activities.log.run_points import own_places, read_run_points
from activities.log.stored import Execution
from activities.log.tables import branches, cells, commits, messages, run_owners, run_rows
from activities.log.turn_rows import Settled, read_turn, settle_turn
from seeding.commits import (
    BranchPoint,
    CommitOperation,
    Opening,
    Receipt,
    RunPoint,
    TicketTimes,
)
from seeding.errors import ThreadVersionConflict, UnknownThread

_UNBOUNDED = 2**62


class CommitTransaction:
    """Judges and collects operations on one connection; ``write`` makes them visible.

    Args:
        connection: A writing transaction.
        operations: Everything that will be applied, so that it can be looked up at once.
        now: The time the log gives to what it appends.
        execution: Temporal's names of the execution that opens a run here.
    """

    def __init__(
        self,
        connection: Connection,
        operations: Sequence[CommitOperation],
        now: datetime,
        execution: Execution,
    ) -> None:
        self._connection = connection
        self._now = now
        self._execution = execution
        self._pending = PendingRows()
        self._threads: dict[str, ThreadHead | None] = {}
        sound = [operation for operation in operations if can_be_looked_up(operation)]
        for thread_id in facts.threads_of(sound):
            self._lock(thread_id)
        self._accepted = facts.read_accepted(connection, sound)
        self._places = facts.read_message_places(connection, sound)
        self._runs: dict[str, RunFacts | None] = {}
        self._openings: dict[str, Opening] = {}
        self._tickets: dict[str, list[str]] = {}
        self._lineages: dict[tuple[str, str], tuple[BranchPoint, ...]] = {}
        self._cells: dict[tuple[str, str, CellGroup, str], str | None] = {}
        self._turns: list[tuple[str, int, str]] = []

    def apply(self, operation: CommitOperation) -> tuple[Receipt, tuple[TicketTimes, ...]]:
        """Judge one operation and collect its rows.

        Raises:
            CommitRefused: The first check that fails; nothing of the operation is kept.
        """
        encoded = checks.check_content(operation)
        run = self._run(operation.run_id)
        checks.check_fence(operation, run)
        before = self._accepted.get((operation.run_id, operation.ordinal))
        if before is not None:
            checks.check_same_payload(operation, before.payload_hash)
            last = run is not None and run.last_ordinal == operation.ordinal
            return self._answer(operation, before, duplicate=True, last=last)
        checks.check_run(operation, run)
        checks.check_ordinal(operation, run)
        self._check_opening(operation)
        self._check_tickets(operation, run)
        head = self._threads[operation.commit.thread_id]
        checks.check_version(operation, head.version if head else 0)
        self._check_turn(operation)
        self._check_messages(operation, run)
        values = self._values_after(operation, encoded, run)
        accepted = self._record(operation, encoded, run, values)
        return self._answer(operation, accepted, duplicate=False, last=True)

    def write(self) -> None:
        """Write what was collected."""
        self._pending.write(self._connection)
        for thread_id, number, run_id in self._turns:
            settled = Settled("started", run_id=run_id)
            settle_turn(
                self._connection,
                thread_id=thread_id,
                number=number,
                settled=settled,
                at=records.iso(self._now),
            )

    # --- facts ------------------------------------------------------------------------------

    def _lock(self, thread_id: str) -> None:
        if thread_id not in self._threads:
            self._threads[thread_id] = facts.read_thread_head(self._connection, thread_id)

    def _run(self, run_id: str) -> RunFacts | None:
        if run_id not in self._runs:
            self._runs[run_id] = facts.read_run_facts(self._connection, run_id)
        return self._runs[run_id]

    def _open_tickets(self, run: RunFacts | None) -> list[str]:
        if run is None or run.phase != "awaiting":
            return []
        if run.run_id not in self._tickets:
            self._tickets[run.run_id] = facts.read_open_tickets(self._connection, run.run_id)
        return self._tickets[run.run_id]

    def _lineage(self, thread_id: str, branch: str) -> tuple[BranchPoint, ...]:
        """Return the lineage of a branch's tip; a branch's own point has no end here."""
        name = (thread_id, branch)
        if name not in self._lineages:
            self._lineages[name] = read_lineage(self._connection, thread_id, branch, _UNBOUNDED)
        return self._lineages[name]

    def _lineage_of(
        self, operation: CommitOperation, run: RunFacts | None
    ) -> tuple[BranchPoint, ...]:
        thread_id, opening = operation.commit.thread_id, operation.commit.opening
        if opening is None or run is not None:
            return self._lineage(thread_id, run.branch if run else "main")
        if opening.lineage is None and self._has_branch(thread_id, opening.branch):
            return self._lineage(thread_id, opening.branch)
        own = BranchPoint(thread_id=thread_id, branch=opening.branch, up_to=_UNBOUNDED)
        return (*(opening.lineage or ()), own)

    def _has_branch(self, thread_id: str, branch: str) -> bool:
        if (thread_id, branch) in self._lineages:
            return True
        return read_branch(self._connection, thread_id, branch) is not None

    # --- checks that read -------------------------------------------------------------------

    def _check_opening(self, operation: CommitOperation) -> None:
        opening, thread_id = operation.commit.opening, operation.commit.thread_id
        if opening is None:
            return
        checks.check_thread_free(operation, self._run_in_the_way(thread_id))
        if opening.lineage is None:
            return
        exists = self._has_branch(thread_id, opening.branch)
        standing_on = self._standing_on(opening)
        checks.check_kept(operation, self._pruned_point(opening))
        checks.check_branch(operation, exists, standing_on)

    def _check_turn(self, operation: CommitOperation) -> None:
        """Pass an opening whose turn is still queued: each begins one run."""
        opening, thread_id = operation.commit.opening, operation.commit.thread_id
        if opening is None or opening.queued_turn is None:
            return
        turn = read_turn(self._connection, thread_id, opening.queued_turn)
        if turn is None or turn.state != "queued":
            state = "not there" if turn is None else turn.state
            raise ThreadVersionConflict(
                f"queued turn {opening.queued_turn} of thread {thread_id!r} is {state}"
            )
        self._turns.append((thread_id, opening.queued_turn, operation.run_id))

    def _run_in_the_way(self, thread_id: str) -> str | None:
        stored = facts.read_runs_not_ended(self._connection, thread_id)
        for run_id in (*stored, *self._runs):
            run = self._run(run_id)
            if run is not None and run.thread_id == thread_id and run.phase != "ended":
                return run_id
        return None

    def _standing_on(self, opening: Opening) -> tuple[BranchPoint, ...] | None:
        if not opening.lineage:
            return ()
        point = opening.lineage[-1]
        self._lock(point.thread_id)
        head = self._threads[point.thread_id]
        if head is None or not 0 < point.up_to <= head.version:
            return None
        try:
            lineage = self._lineage(point.thread_id, point.branch)
        except UnknownThread:
            return None
        return (*lineage[:-1], point)

    def _pruned_point(self, opening: Opening) -> BranchPoint | None:
        # What its outer points stand on is kept by the branch that the last one is on.
        for point in (opening.lineage or ())[-1:]:
            if 0 < point.up_to <= read_floor(self._connection, point.thread_id, point.branch):
                return point
        return None

    def _check_tickets(self, operation: CommitOperation, run: RunFacts | None) -> None:
        opened = [ticket.ticket for ticket in operation.commit.opened]
        known = [ticket for ticket in opened if self._pending.knows_ticket(ticket)]
        if opened and not known:
            known = facts.read_known_tickets(self._connection, opened)
        checks.check_tickets(operation, self._open_tickets(run), known)

    def _check_messages(self, operation: CommitOperation, run: RunFacts | None) -> None:
        added = operation.commit.messages
        if not added:
            return
        used = [message["id"] for message in added if message["id"] in self._places]
        lineage = self._lineage_of(operation, run) if used else ()
        reach = {(point.thread_id, point.branch): point.up_to for point in lineage}
        taken = [
            identity
            for identity in used
            if any(
                place.version <= reach.get((place.thread_id, place.branch), -1)
                for place in self._places[identity]
            )
        ]
        checks.check_messages(operation, taken)

    def _values_after(
        self, operation: CommitOperation, encoded: EncodedCommit, run: RunFacts | None
    ) -> list[str | None]:
        """Return the JSON text each command leaves in its cell; None is a tombstone."""
        values: list[str | None] = []
        within: dict[tuple[CellGroup, str], str | None] = {}
        for command, given in zip(operation.commit.state, encoded.values, strict=True):
            name = (group_of(command, operation.run_id), command.key)
            existing: str | None = None
            if command.op == "set" and command.policy == "commutative":
                known = name in within
                existing = within[name] if known else self._cell(operation, run, *name)
            within[name] = text_after(command, given, existing)
            checks.check_merged(operation, command, within[name])
            values.append(within[name])
        return values

    def _cell(
        self, operation: CommitOperation, run: RunFacts | None, group: CellGroup, key: str
    ) -> str | None:
        lineage = self._lineage_of(operation, run)
        tip = lineage[-1]
        name = (tip.thread_id, tip.branch, group, key)
        if name not in self._cells:
            places = [(point, group) for point in lineage]
            if group.scope == "run":
                places = own_places(self._run_points(operation, lineage[-1]))
            written = self._pending.cell(places, key)
            self._cells[name] = (
                written["value"] if written else read_cell(self._connection, places, key)
            )
        return self._cells[name]

    def _run_points(self, operation: CommitOperation, tip: BranchPoint) -> tuple[RunPoint, ...]:
        opening = operation.commit.opening or self._openings.get(operation.run_id)
        if opening is None:
            return read_run_points(self._connection, operation.run_id)
        own = RunPoint(run_id=operation.run_id, **dict(tip))
        return (*opening.continues, own)

    # --- recording --------------------------------------------------------------------------

    def _record(
        self,
        operation: CommitOperation,
        encoded: EncodedCommit,
        run: RunFacts | None,
        values: Sequence[str | None],
    ) -> Accepted:
        commit = operation.commit
        head = self._threads[commit.thread_id]
        version = head.version + 1 if head else 1
        at = records.iso(self._now)
        if run is None:
            run = self._open(operation, version, at)
        run = run._replace(
            phase=records.PHASES[commit.disposition.kind],
            last_ordinal=operation.ordinal,
            last_version=version,
            message_count=run.message_count + len(commit.messages),
        )
        self._pending.add(commits, records.commit_row(operation, encoded, run, at))
        self._record_messages(operation, encoded, run)
        self._record_cells(operation, encoded, run, values)
        for row in records.run_row_rows(operation, encoded, run):
            self._pending.add(run_rows, row)
        self._record_tickets(operation, run)
        self._pending.change_run(run.run_id, records.run_changes(operation, encoded, run, at))
        if run.phase == "ended":
            self._pending.drop_outcomes(run.run_id)
        if head is None or commit.opening is not None:
            moved = ThreadHead(version, run.run_id)
        else:
            moved = ThreadHead(version, head.head_run_id)
        self._pending.set_thread(commit.thread_id, *moved, new=head is None)
        self._threads[commit.thread_id] = moved
        self._runs[run.run_id] = run
        accepted = Accepted(version, operation.payload_hash, at)
        self._accepted[operation.run_id, operation.ordinal] = accepted
        return accepted

    def _open(self, operation: CommitOperation, version: int, at: str) -> RunFacts:
        commit, opening = operation.commit, operation.commit.opening
        assert opening is not None, "an ordinal 0 without an opening was refused"
        lineage = self._lineage_of(operation, None)
        if not self._has_branch(commit.thread_id, opening.branch):
            self._pending.add(branches, records.branch_row(commit.thread_id, opening, version))
        self._lineages[commit.thread_id, opening.branch] = lineage
        self._openings[commit.run_id] = opening
        self._pending.open_run(records.run_row(operation, opening, version, at))
        self._pending.add(
            run_owners,
            records.owner_row(commit.run_id, 1, opening.chain_id, self._execution, at),
        )
        return RunFacts(
            run_id=commit.run_id,
            thread_id=commit.thread_id,
            branch=opening.branch,
            owner_epoch=1,
            phase="running",
            last_ordinal=-1,
            last_version=version,
            message_count=self._count_before(lineage),
        )

    def _count_before(self, lineage: tuple[BranchPoint, ...]) -> int:
        # Counts only grow along a lineage, and this transaction may have moved any part of it.
        stored = count_messages(self._connection, lineage)
        return max(stored, self._pending.count_messages(lineage))

    def _record_messages(
        self, operation: CommitOperation, encoded: EncodedCommit, run: RunFacts
    ) -> None:
        first = run.message_count - len(operation.commit.messages)
        for index, message in enumerate(operation.commit.messages):
            row = records.message_row(run, first + index, message["id"], encoded.messages[index])
            self._pending.add(messages, row)
            place = MessagePlace(run.thread_id, run.branch, run.last_version)
            self._places.setdefault(message["id"], []).append(place)

    def _record_cells(
        self,
        operation: CommitOperation,
        encoded: EncodedCommit,
        run: RunFacts,
        values: Sequence[str | None],
    ) -> None:
        for place, command in enumerate(operation.commit.state):
            group = group_of(command, run.run_id)
            value, given = values[place], encoded.values[place]
            self._cells[run.thread_id, run.branch, group, command.key] = value
            row = records.cell_row(run, place, command, group, value=value, given=given)
            self._pending.add(cells, row)

    def _record_tickets(self, operation: CommitOperation, run: RunFacts) -> None:
        commit = operation.commit
        for closing in commit.closed:
            text = dump(closing.to_json())
            self._pending.close_ticket(closing.ticket, run.last_version, text)
        for place, ticket in enumerate(commit.opened):
            self._pending.open_ticket(records.ticket_row(ticket, run, place, self._now))
        self._tickets[run.run_id] = [said.ticket for said in commit.disposition.tickets]

    def _answer(
        self, operation: CommitOperation, accepted: Accepted, *, duplicate: bool, last: bool
    ) -> tuple[Receipt, tuple[TicketTimes, ...]]:
        receipt = Receipt(
            run_id=operation.run_id,
            ordinal=operation.ordinal,
            thread_version=accepted.thread_version,
            payload_hash=accepted.payload_hash,
            created_at=accepted.created_at,
            duplicate=duplicate,
            last=last,
        )
        times = tuple(
            records.ticket_times(ticket, accepted.created_at) for ticket in operation.commit.opened
        )
        return receipt, times
