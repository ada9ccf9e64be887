"""What the workflow holds of its run: always what the last accepted commit says.

A ``Held`` is never changed; :func:`after` returns the next one. The workflow builds commits on
a tentative ``Held`` and adopts it only when the log's receipt has come.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from seeding.commits import EndCause, PositionHead, StateCommand, ThreadCommit, TicketTimes
from seeding.identity import checkpoint_id
from seeding.model import JsonObject
from seeding.request import RunConfig
from seeding.tickets import OpenTicket, Ticket, TicketReference
from workflows.position import Position


@dataclass(frozen=True)
class RunFacts:
    """What never changes in the life of one execution of a run."""

    thread_id: str
    run_id: str
    run_epoch: int
    owner_epoch: int
    branch: str
    graph_name: str
    config: RunConfig
    start: JsonObject
    warnings: tuple[JsonObject, ...] = ()


@dataclass(frozen=True)
class Held:
    """The run as the last accepted commit left it.

    Attributes:
        facts: What never changes.
        position: The scheduler's position.
        head: The small position of the last commit.
        tickets: Open tickets, oldest first.
        times: When each open ticket was opened and is due.
        next_ordinal: The ordinal the next commit gets.
        thread_version: The compare-and-set value of the next commit.
        message_count: Messages on the thread.
        data: The thread's data, large values by reference.
        metadata: The thread's metadata, likewise.
        extra: Unknown keys of the state, kept.
        cause: Why the run ended; None while it is live.
    """

    facts: RunFacts
    position: Position
    head: PositionHead
    tickets: tuple[Ticket, ...] = ()
    times: Mapping[str, TicketTimes] = field(default_factory=dict[str, TicketTimes])
    next_ordinal: int = 0
    thread_version: int = 0
    message_count: int = 0
    data: JsonObject = field(default_factory=JsonObject)
    metadata: JsonObject = field(default_factory=JsonObject)
    extra: JsonObject = field(default_factory=JsonObject)
    cause: EndCause | None = None

    @property
    def checkpoint_id(self) -> str:
        """The checkpoint the last accepted commit made; empty before the first."""
        if self.next_ordinal == 0:
            return ""
        return checkpoint_id(self.facts.run_id, self.next_ordinal - 1)

    @property
    def references(self) -> tuple[TicketReference, ...]:
        """The open tickets as a disposition names them."""
        return tuple(ticket.reference for ticket in self.tickets)

    @property
    def pause(self) -> Ticket | None:
        """The open pause, or None."""
        return next((ticket for ticket in self.tickets if ticket.is_pause), None)

    @property
    def open_tickets(self) -> list[OpenTicket]:
        """The open tickets with the times the log gave them."""
        return [
            OpenTicket(
                body=ticket,
                created_at=self.times[ticket.ticket].created_at,
                deadline=self.times[ticket.ticket].deadline,
            )
            for ticket in self.tickets
            if ticket.ticket in self.times
        ]


def after(held: Held, commit: ThreadCommit, position: Position | None = None) -> Held:
    """Return what the workflow holds once ``commit`` is accepted."""
    closed = [closing.ticket for closing in commit.closed]
    kept = tuple(ticket for ticket in held.tickets if ticket.ticket not in closed)
    ended = commit.disposition.kind == "Ended"
    return replace(
        held,
        position=held.position if position is None else position,
        head=commit.position,
        tickets=() if ended else (*kept, *commit.opened),
        next_ordinal=held.next_ordinal + 1,
        thread_version=held.thread_version + 1,
        message_count=held.message_count + len(commit.messages),
        data=_apply(held.data, commit.state, "data"),
        metadata=_apply(held.metadata, commit.state, "metadata"),
        cause=commit.disposition.cause,
    )


def with_times(held: Held, times: tuple[TicketTimes, ...]) -> Held:
    """Return ``held`` with the times of newly opened tickets, and without those of closed."""
    known = {**held.times, **{item.ticket: item for item in times}}
    return replace(
        held,
        times={
            ticket.ticket: known[ticket.ticket] for ticket in held.tickets if ticket.ticket in known
        },
    )


def _apply(values: JsonObject, commands: tuple[StateCommand, ...], cell: str) -> JsonObject:
    changes = [item for item in commands if item.scope == "thread" and item.cell == cell]
    if not changes:
        return values
    changed = dict(values)
    for command in changes:
        # Taken out first, so that a key that is set again is the newest, as in the log.
        changed.pop(command.key, None)
        if command.op != "remove":
            changed[command.key] = command.value
    return changed
