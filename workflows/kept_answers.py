"""Answers that wait, unjudged, for the tickets they name to open."""

from collections.abc import Iterable, Mapping

from seeding.errors import CommandRefused
from seeding.tickets import OpenTicket
from workflows.admission import Situation, route
from workflows.inbox_model import AnswerTaken, KeptAnswer
from workflows.instants import read_moment


class KeptAnswers:
    """Kept answers in the order of their receipt, and how many bytes they take.

    Attributes:
        items: The answers.
        size: The bytes of their payloads.
    """

    def __init__(self, items: Iterable[KeptAnswer] = ()) -> None:
        self.items = list(items)
        self.size = sum(item.size for item in self.items)

    def keep(self, answer: KeptAnswer) -> None:
        """Keep one more."""
        self.items.append(answer)
        self.size += answer.size

    def release(self) -> list[KeptAnswer]:
        """Return all of them, and keep none."""
        released, self.items, self.size = self.items, [], 0
        return released


def judged(
    situation: Situation, kept: KeptAnswer, open_tickets: Mapping[str, OpenTicket]
) -> AnswerTaken | KeptAnswer | CommandRefused:
    """Return what becomes of a kept answer now: it is taken, kept on, or refused.

    It is judged as of the later of its receipt and the opening of its ticket.
    """
    opened = open_tickets.get(kept.answer.ticket or "")
    as_of = read_moment(kept.received_at)
    if opened is not None:
        as_of = max(as_of, read_moment(opened.created_at))
    try:
        goes = route(situation, kept.answer, as_of)
    except CommandRefused as error:
        return error
    if isinstance(goes, KeptAnswer):
        return kept
    return goes.model_copy(update={"unnamed": kept.unnamed, "received_at": kept.received_at})
