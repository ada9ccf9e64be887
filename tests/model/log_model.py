"""The log as plain lists: every thread its commits, judged and folded by walking over them.

Nothing is remembered beside what was accepted, so every answer is a walk. The order of the
verdicts is that of the write boundary: shape and hash, owner fence, receipt, the run's thread
and end, ordinal, opening, tickets, thread version, messages.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from seeding.commits import (
    BatchReceipt,
    BranchPoint,
    CommitOperation,
    Receipt,
    Refusal,
    ThreadCommit,
    TicketTimes,
)
from seeding.model import JsonObject
from seeding.tickets import Ticket, TicketClosing
from tests.model.commit_shape import misshapen


class Entry(NamedTuple):
    """One accepted commit: what was sent, and what the log gave it."""

    operation: CommitOperation
    branch: str
    version: int
    created_at: str

    @property
    def commit(self) -> ThreadCommit:
        return self.operation.commit

    @property
    def name(self) -> str:
        """Its checkpoint id."""
        return f"{self.operation.run_id}:{self.operation.ordinal}"


class RunNow(NamedTuple):
    """What is true of a run: its commits, its owner epoch, its open tickets."""

    run_id: str
    thread_id: str
    branch: str
    entries: tuple[Entry, ...]
    owner_epoch: int
    tickets: tuple[Ticket, ...]

    @property
    def last(self) -> Entry:
        return self.entries[-1]

    @property
    def phase(self) -> str:
        return self.last.commit.disposition.kind.lower()


def iso(moment: datetime) -> str:
    """Return a moment in UTC as the log writes it: to the millisecond, with a Z."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


class LogModel:
    """Threads as lists of commits, branches as lineages, and who owns each run."""

    def __init__(self) -> None:
        self.threads: dict[str, list[Entry]] = {}
        self.lineages: dict[tuple[str, str], tuple[BranchPoint, ...]] = {}
        self.chains: dict[str, list[str]] = {}

    def copy(self) -> "LogModel":
        other = LogModel()
        other.threads = {name: list(entries) for name, entries in self.threads.items()}
        other.lineages = dict(self.lineages)
        other.chains = {run: list(chains) for run, chains in self.chains.items()}
        return other

    # --- looking ------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Every commit of every thread."""
        for entries in self.threads.values():
            yield from entries

    def entry(self, name: str) -> Entry:
        """The commit of a checkpoint id."""
        return next(entry for entry in self.entries() if entry.name == name)

    def version(self, thread_id: str) -> int:
        return len(self.threads.get(thread_id, []))

    def runs(self, thread_id: str | None = None) -> list[RunNow]:
        """The runs of a thread, or of all, in the order in which they were opened."""
        names = dict.fromkeys(
            entry.operation.run_id
            for entry in self.entries()
            if thread_id in (None, entry.commit.thread_id)
        )
        return [found for name in names if (found := self.run(name)) is not None]

    def run(self, run_id: str) -> RunNow | None:
        own = tuple(entry for entry in self.entries() if entry.operation.run_id == run_id)
        if not own:
            return None
        tickets: dict[str, Ticket] = {}
        for entry in own:
            _move_tickets(tickets, entry.commit)
        first = own[0]
        return RunNow(
            run_id=run_id,
            thread_id=first.commit.thread_id,
            branch=first.branch,
            entries=own,
            owner_epoch=len(self.chains[run_id]),
            tickets=tuple(tickets.values()),
        )

    def open_run(self, thread_id: str) -> RunNow | None:
        """The run of a thread that has not ended: there is at most one."""
        return next((run for run in self.runs(thread_id) if run.phase != "ended"), None)

    def lineage(self, thread_id: str, branch: str, up_to: int) -> tuple[BranchPoint, ...]:
        own = BranchPoint(thread_id=thread_id, branch=branch, up_to=up_to)
        return (*self.lineages[thread_id, branch], own)

    def along(self, lineage: Sequence[BranchPoint]) -> list[Entry]:
        """The commits a lineage consists of, in order."""
        return [
            entry
            for point in lineage
            for entry in self.threads.get(point.thread_id, [])[: point.up_to]
            if entry.branch == point.branch
        ]

    def before(self, entry: Entry) -> list[Entry]:
        """The commits of a commit's lineage, with itself as the last."""
        thread_id = entry.commit.thread_id
        return self.along(self.lineage(thread_id, entry.branch, entry.version))

    # --- accepting ----------------------------------------------------------------------------

    def append(
        self, operations: Sequence[CommitOperation], now: datetime, *, whole: bool = False
    ) -> BatchReceipt:
        """Do what the log does with a list; the message of a refusal is left empty."""
        kept = self.copy()
        receipts: list[Receipt] = []
        times: list[TicketTimes] = []
        refusal = None
        for operation in operations:
            verdict = self.verdict(operation)
            if isinstance(verdict, str):
                refusal = Refusal(
                    code=verdict, message="", ordinal=operation.ordinal, run_id=operation.run_id
                )
                break
            entry = verdict or self._accept(operation, iso(now))
            receipts.append(self._receipt(entry, duplicate=verdict is not None))
            times.extend(_times(entry))
        if refusal is not None and whole:
            self.threads, self.lineages, self.chains = kept.threads, kept.lineages, kept.chains
            return BatchReceipt(accepted=0, refusal=refusal)
        return BatchReceipt(
            accepted=len(receipts),
            receipt=receipts[-1] if receipts else None,
            times=tuple(times),
            refusal=refusal,
        )

    def take_over(self, run_id: str, chain_id: str) -> int:
        """Return the owner epoch of a chain; a chain that is not the owner gets the next one."""
        chains = self.chains[run_id]
        if chains[-1] != chain_id:
            chains.append(chain_id)
        return len(chains)

    def _accept(self, operation: CommitOperation, at: str) -> Entry:
        commit, opening = operation.commit, operation.commit.opening
        run = self.run(operation.run_id)
        if opening is not None:
            self.chains[operation.run_id] = [opening.chain_id]
            self.lineages.setdefault((commit.thread_id, opening.branch), opening.lineage or ())
        entries = self.threads.setdefault(commit.thread_id, [])
        branch = run.branch if run else opening.branch if opening else ""
        entries.append(Entry(operation, branch, len(entries) + 1, at))
        return entries[-1]

    def _receipt(self, entry: Entry, *, duplicate: bool) -> Receipt:
        run = self.run(entry.operation.run_id)
        assert run is not None
        return Receipt(
            run_id=entry.operation.run_id,
            ordinal=entry.operation.ordinal,
            thread_version=entry.version,
            payload_hash=entry.operation.payload_hash,
            created_at=entry.created_at,
            duplicate=duplicate,
            last=run.last == entry,
        )

    # --- judging ------------------------------------------------------------------------------

    def verdict(self, operation: CommitOperation) -> Entry | str | None:
        """Return the code of a refusal, the first acceptance of a repeated one, or None."""
        run = self.run(operation.run_id)
        refusal = misshapen(operation) or _fence(operation, run)
        if refusal is not None:
            return refusal
        for entry in run.entries if run else ():
            if entry.operation.ordinal == operation.ordinal:
                same = entry.operation.payload_hash == operation.payload_hash
                return entry if same else "OperationReused"
        return (
            _bound(operation, run)
            or self._opening(operation, run)
            or self._tickets(operation, run)
            or self._on_time(operation)
            or self._messages(operation, run)
        )

    def _opening(self, operation: CommitOperation, run: RunNow | None) -> str | None:
        commit, opening = operation.commit, operation.commit.opening
        if operation.ordinal != (len(run.entries) if run else 0):
            return "OrdinalConflict"
        if (opening is None) != (run is not None):
            return "InvalidCommit"
        if opening is None:
            return None
        if self.open_run(commit.thread_id) is not None:
            return "ThreadBusy"
        if opening.lineage is None:
            return None
        taken = (commit.thread_id, opening.branch) in self.lineages
        return "InvalidCommit" if taken or not self._stands(opening.lineage) else None

    def _stands(self, lineage: tuple[BranchPoint, ...]) -> bool:
        """Whether a lineage is nothing, or exactly that of one point of the log."""
        if not lineage:
            return True
        tip = lineage[-1]
        if (tip.thread_id, tip.branch) not in self.lineages:
            return False
        there = 0 < tip.up_to <= self.version(tip.thread_id)
        return there and lineage == self.lineage(tip.thread_id, tip.branch, tip.up_to)

    def _tickets(self, operation: CommitOperation, run: RunNow | None) -> str | None:
        commit = operation.commit
        tickets = {ticket.ticket: ticket for ticket in run.tickets} if run else {}
        used = {ticket.ticket for entry in self.entries() for ticket in entry.commit.opened}
        added = [ticket.ticket for ticket in commit.opened]
        closed = [closing.ticket for closing in commit.closed]
        sound = (
            not used.intersection(added)
            and len(set(added)) == len(added)
            and len(set(closed)) == len(closed)
            and set(closed) <= set(tickets)
        )
        _move_tickets(tickets, commit)
        named = {reference.ticket for reference in commit.disposition.tickets}
        return None if sound and named == set(tickets) else "InvalidCommit"

    def _on_time(self, operation: CommitOperation) -> str | None:
        now = self.version(operation.commit.thread_id)
        return None if operation.expected_thread_version == now else "ThreadVersionConflict"

    def _messages(self, operation: CommitOperation, run: RunNow | None) -> str | None:
        there = [message["id"] for message in self.messages_before(operation.commit, run)]
        added = [message["id"] for message in operation.commit.messages]
        repeated = len(set(added)) != len(added) or set(added).intersection(there)
        return "DuplicateMessage" if repeated else None

    def messages_before(self, commit: ThreadCommit, run: RunNow | None) -> list[JsonObject]:
        """The messages that a commit is appended after, along its lineage."""
        opening, thread_id = commit.opening, commit.thread_id
        branch = run.branch if run else opening.branch if opening else "main"
        if (thread_id, branch) in self.lineages:
            lineage = self.lineage(thread_id, branch, self.version(thread_id))
        else:
            lineage = (opening.lineage or ()) if opening else ()
        return [message for entry in self.along(lineage) for message in entry.commit.messages]

    # --- what was closed ----------------------------------------------------------------------

    def closings(self, run: RunNow) -> list[TicketClosing]:
        """How the tickets of a run left ``open``: by closing, those of one commit by opening."""
        order = [ticket.ticket for entry in run.entries for ticket in entry.commit.opened]
        return [
            closing
            for entry in run.entries
            for closing in sorted(entry.commit.closed, key=lambda one: order.index(one.ticket))
        ]


def _fence(operation: CommitOperation, run: RunNow | None) -> str | None:
    granted = run.owner_epoch if run else 1
    if operation.owner_epoch == granted:
        return None
    return "Fenced" if operation.owner_epoch < granted else "UnknownOwner"


def _bound(operation: CommitOperation, run: RunNow | None) -> str | None:
    if run is None:
        return None
    if run.thread_id != operation.commit.thread_id:
        return "RunThreadMismatch"
    return "RunTerminal" if run.phase == "ended" else None


def _move_tickets(tickets: dict[str, Ticket], commit: ThreadCommit) -> None:
    for closing in commit.closed:
        tickets.pop(closing.ticket, None)
    tickets.update({ticket.ticket: ticket for ticket in commit.opened})


def _times(entry: Entry) -> Iterator[TicketTimes]:
    for ticket in entry.commit.opened:
        yield ticket_times(ticket, entry.created_at)


def ticket_times(ticket: Ticket, created_at: str) -> TicketTimes:
    """The times of a ticket whose commit was accepted at ``created_at``."""
    deadline = None
    if ticket.deadline_after is not None:
        moment = datetime.fromisoformat(created_at) + timedelta(seconds=ticket.deadline_after)
        deadline = iso(moment)
    return TicketTimes(ticket=ticket.ticket, created_at=created_at, deadline=deadline)
