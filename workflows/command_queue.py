"""Accepted commands on their way to the log, and how tickets are decided.

An answer reserves its ticket when it is accepted and stays in the queue until a commit shows
the ticket closed, so that each ticket has at most one winner and none is lost on the way.
"""

from collections.abc import Sequence
from typing import NamedTuple

from seeding.tickets import TicketClosing
from workflows.inbox_model import AnswerTaken, LiftTaken, PauseTaken, Taken


class Overtaken(NamedTuple):
    """An accepted answer whose ticket was closed otherwise, and how."""

    answer: AnswerTaken
    closing: TicketClosing


class CommandQueue:
    """Accepted commands in the order of acceptance, and the decided tickets.

    Attributes:
        items: Commands that are not committed yet.
        head_taken: Whether the engine has the first of them in hand.
    """

    def __init__(self, items: Sequence[Taken] = (), *, head_taken: bool = False) -> None:
        self.items = list(items)
        self.head_taken = head_taken
        self._reserved = {
            item.closing.ticket: item for item in items if isinstance(item, AnswerTaken)
        }
        self._decided: dict[str, TicketClosing] = {}
        self._expiring: TicketClosing | None = None

    @property
    def pause_pending(self) -> bool:
        """Whether a pause is accepted and not committed."""
        return any(isinstance(item, PauseTaken) for item in self.items)

    def ends_paused(self, paused: bool) -> bool:
        """Return whether a pause is in force after all these commands; ``paused`` is it now."""
        turns = [item for item in self.items if not isinstance(item, AnswerTaken)]
        return isinstance(turns[-1], PauseTaken) if turns else paused

    def is_reserved(self, ticket: str) -> bool:
        """Return whether an accepted answer, or an expiry, waits to close ``ticket``."""
        return ticket in self._reserved or self._expires(ticket)

    def winner(self, ticket: str) -> TicketClosing | None:
        """Return how ``ticket`` is decided, committed or reserved; None if it is not."""
        decided = self._decided.get(ticket)
        if decided is not None:
            return decided
        if self._expires(ticket):
            return self._expiring
        reserved = self._reserved.get(ticket)
        return reserved.closing if reserved else None

    def expire(self, closing: TicketClosing | None) -> None:
        """Note that the engine commits an expiry, or, with None, that it does no longer."""
        self._expiring = closing

    def _expires(self, ticket: str) -> bool:
        return self._expiring is not None and self._expiring.ticket == ticket

    def decided(self, ticket: str | None) -> TicketClosing | None:
        """Return how the log says ``ticket`` was closed; None while no commit closed it."""
        return None if ticket is None else self._decided.get(ticket)

    def add(self, item: Taken) -> None:
        """Append an accepted command; an answer reserves its ticket."""
        self.items.append(item)
        if isinstance(item, AnswerTaken):
            self._reserved[item.closing.ticket] = item

    def drop_head(self) -> None:
        """Remove the first command, a pause or a lift."""
        del self.items[0]
        self.head_taken = False

    def clear(self) -> None:
        """Forget every command that is not committed."""
        self.items, self.head_taken, self._reserved = [], False, {}

    def learn(self, closings: Sequence[TicketClosing]) -> list[Overtaken]:
        """Note how tickets were closed, and return the answers that lost theirs by it."""
        overtaken: list[Overtaken] = []
        for closing in closings:
            # The value is not needed to name a winner, and may be large.
            self._decided[closing.ticket] = closing.model_copy(update={"value": None})
            reserved = self._reserved.pop(closing.ticket, None)
            if reserved is None:
                continue
            if self.items[0] is reserved:
                self.head_taken = False
            self.items = [item for item in self.items if item is not reserved]
            if not _same(reserved.closing, closing):
                overtaken.append(Overtaken(reserved, closing))
        return overtaken

    def unlisted(self, gone: Sequence[str], paused: str | None) -> list[TicketClosing]:
        """Return how tickets were closed of which the engine said only that they are gone.

        The command in hand closed its ticket; any other one was cancelled.

        Args:
            gone: Tickets of nodes that are no longer open.
            paused: The pause that is no longer open.
        """
        head = self.items[0] if self.items and self.head_taken else None
        closings: list[TicketClosing] = []
        for ticket in [*gone, *([paused] if paused else [])]:
            if ticket in self._decided:
                continue
            if isinstance(head, AnswerTaken) and head.closing.ticket == ticket:
                closings.append(head.closing)
            elif isinstance(head, LiftTaken) and ticket == paused:
                closings.append(
                    TicketClosing(
                        ticket=ticket,
                        outcome="answered",
                        actor=head.actor,
                        command_id=head.command_id,
                    )
                )
            else:
                closings.append(TicketClosing(ticket=ticket, outcome="cancelled"))
        return closings

    def settle_head(self, was_paused: str | None, paused: str | None) -> None:
        """Remove a pause or lift in hand once a commit has carried it out."""
        if not self.items or not self.head_taken:
            return
        head = self.items[0]
        done = isinstance(head, PauseTaken) and paused is not None
        if done or (isinstance(head, LiftTaken) and paused != was_paused):
            self.drop_head()


def _same(reserved: TicketClosing, logged: TicketClosing) -> bool:
    """Whether the log holds the very answer that was reserved; large values are references."""
    value = logged.value
    staged = isinstance(value, dict) and "$ref" in value
    expected = logged.model_copy(update={"value": reserved.value}) if staged else logged
    return reserved == expected
