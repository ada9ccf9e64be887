"""Accepted commands as their senders told them, and which command ids were used."""

from collections.abc import Iterable
from typing import NamedTuple

from seeding.model import JsonObject
from workflows.inbox_model import (
    AnswerTaken,
    KeptAnswer,
    LiftTaken,
    PauseTaken,
    Remembered,
    Taken,
)

MAX_COMMANDS = 10_000
"""How many command ids are remembered: the newest. Those of decided tickets are in the log."""


class Told(NamedTuple):
    """A command as its sender told it: name, payload, and what it names."""

    name: str
    payload: JsonObject
    ticket: str | None
    command_id: str | None


def as_told(item: Taken | KeptAnswer) -> Told:
    """Return an accepted command as its sender told it."""
    match item:
        case PauseTaken():
            return Told("pause", {"reason": item.reason}, None, None)
        case LiftTaken():
            return Told("resume", item.payload(), item.ticket, item.command_id)
        case AnswerTaken(closing=closing):
            return Told("resume", item.payload(), closing.ticket, closing.command_id)
        case KeptAnswer(answer=answer):
            return Told("resume", answer.payload(), answer.ticket, answer.command_id)


class CommandMemory:
    """Command ids with the reply each got first, the newest ``MAX_COMMANDS`` of them.

    Attributes:
        known: What is remembered, by command id, oldest first.
    """

    def __init__(self, remembered: Iterable[Remembered] = ()) -> None:
        self.known = {item.command_id: item for item in remembered}

    def remember(self, command_id: str, ticket: str | None, *, pending: bool = False) -> None:
        """Note that a command id was used, and for which ticket."""
        self.known[command_id] = Remembered(command_id=command_id, ticket=ticket, pending=pending)
        while len(self.known) > MAX_COMMANDS:
            del self.known[next(iter(self.known))]

    def forget(self, command_id: str) -> None:
        """Count a command id as unused."""
        self.known.pop(command_id, None)
