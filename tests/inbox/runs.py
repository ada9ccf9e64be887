"""Tickets and inboxes of one imagined run, for the specifications in this folder."""

from collections.abc import Mapping
from typing import Any

import pytest

from seeding.errors import CommandRefused
from seeding.model import Json, JsonObject
from seeding.tickets import OpenTicket, Ticket
from workflows.inbox import Inbox
from workflows.inbox_model import AnswerTaken, Reply

NOW = "2026-03-01T12:00:00Z"
OPENED = "2026-03-01T11:00:00Z"
ASKING: Mapping[str, bool] = {"gate": True, "a": True, "b": True, "check": False}
NONE_BEHIND: Mapping[str, int] = {}


def ticket(
    node: str = "gate", occurrence: int = 0, n: int = 0, *, deadline: str | None = None, **body: Any
) -> OpenTicket:
    """Return an open ticket of run R."""
    kind = body.pop("kind", "approval")
    return OpenTicket(
        body=Ticket(
            ticket=f"R:{node}:{occurrence}:{n}",
            run_id="R",
            thread_id="alice",
            node_id=node,
            occurrence=occurrence,
            kind=kind,
            **body,
        ),
        created_at=OPENED,
        deadline=deadline,
    )


def pause(n: int = 0) -> OpenTicket:
    """Return an open pause of run R."""
    return ticket("", 0, n, kind="pause")


def waiting(*tickets: OpenTicket, behind: Mapping[str, int] = NONE_BEHIND) -> Inbox:
    """Return the inbox of run R while it waits for ``tickets``."""
    inbox = Inbox()
    inbox.started("R", "alice", ASKING)
    inbox.tickets_changed(tickets, behind)
    return inbox


def send(inbox: Inbox, payload: Json, name: str = "resume", now: str = NOW) -> Reply:
    """Send one command by update."""
    return inbox.receive(name, [payload], now)


def refused(inbox: Inbox, payload: Json, name: str = "resume", now: str = NOW) -> CommandRefused:
    """Send one command that must be refused, through every way in; return the refusal."""
    with pytest.raises(CommandRefused) as checked:
        inbox.check(name, [payload], now)
    with pytest.raises(CommandRefused) as caught:
        inbox.receive(name, [payload], now)
    assert caught.value.message == checked.value.message
    return caught.value


def answer_of(inbox: Inbox) -> AnswerTaken:
    """Return the answer that is next to commit."""
    taken = inbox.take()
    assert isinstance(taken, AnswerTaken)
    return taken


def kinds(inbox: Inbox) -> list[str]:
    """Return the kinds of the commands waiting to be committed."""
    queue: list[JsonObject] = inbox.carry()["queue"]
    return [item["kind"] for item in queue]
