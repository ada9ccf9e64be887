"""Tickets: what an awaiting run waits for (design, section 1).

A ticket is an address, not a secret. Its body is part of the commit that opened it; the moment
it was opened and its deadline are columns that the log fills at the first append, so they are
kept beside it and never hashed.
"""

from typing import Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from seeding.identity import parse_ticket_id
from seeding.model import Json, JsonObject, Model

TicketKind = Literal["approval", "choice", "text", "form", "review", "external", "pause"]
TicketOutcome = Literal["answered", "expired", "cancelled"]


class TicketReference(Model):
    """Names one open ticket in a disposition, with the run and thread it belongs to."""

    ticket: str
    run_id: str
    thread_id: str


class Ticket(Model):
    """The body of a ticket, as the commit that opened it says it.

    ``deadline_after`` is in seconds from the moment the log recorded the ticket; None is never.
    ``approved_by`` is None but for one of several approvals: who approved before, and may not
    again.
    """

    ticket: str
    run_id: str
    thread_id: str
    node_id: str
    occurrence: int
    kind: TicketKind
    message: str | None = None
    input: Json = None
    answer_schema: JsonObject | None = None
    allowed: list[str] | None = None
    who: list[str] | None = None
    deadline_after: float | None = None
    on_deadline: str | None = None
    reason: str | None = None
    approved_by: list[str] | None = None

    @model_serializer(mode="wrap")
    def _as_before(self, serialize: SerializerFunctionWrapHandler) -> JsonObject:
        """Write a ticket that takes one answer as it was written before others did."""
        written: JsonObject = serialize(self)
        if self.approved_by is None:
            written.pop("approvedBy", None)
            written.pop("approved_by", None)
        return written

    @property
    def reference(self) -> TicketReference:
        """The reference by which a disposition names this ticket."""
        return TicketReference(ticket=self.ticket, run_id=self.run_id, thread_id=self.thread_id)

    @property
    def is_pause(self) -> bool:
        """Whether this ticket is a pause, by a person or a budget, and no node's."""
        return self.kind == "pause"

    @property
    def is_by_budget(self) -> bool:
        """Whether this is a pause that the run made itself: a person's has no message."""
        return self.is_pause and self.message is not None

    @property
    def n(self) -> int:
        """The running number of the ticket within its execution."""
        name = parse_ticket_id(self.ticket)
        return name.n if name else 0


class TicketTimes(Model):
    """The times the log gave one ticket at the first append (ISO 8601, UTC)."""

    ticket: str
    created_at: str
    deadline: str | None = None


class OpenTicket(Model):
    """An open ticket with the times the log gave it (ISO 8601, UTC)."""

    body: Ticket
    created_at: str
    deadline: str | None = None

    @property
    def times(self) -> "TicketTimes":
        """The times alone."""
        return TicketTimes(
            ticket=self.body.ticket, created_at=self.created_at, deadline=self.deadline
        )

    def shown(self) -> JsonObject:
        """Return the ticket as ``waitingFor`` and query ``tickets`` show it (contract 4)."""
        body = self.body
        shown: JsonObject = {
            "ticket": body.ticket,
            "nodeId": body.node_id,
            "occurrence": body.occurrence,
            "kind": body.kind,
            "message": body.message,
            "input": body.input,
            "schema": body.answer_schema,
            "allowed": body.allowed,
            "createdAt": self.created_at,
            "deadline": self.deadline,
        }
        if body.who is not None:
            shown["who"] = body.who
        if body.reason is not None:
            shown["reason"] = body.reason
        if body.approved_by is not None:
            shown["approvedBy"] = body.approved_by
        return shown


class TicketClosing(Model):
    """How one ticket left ``open``: exactly one of these per ticket."""

    ticket: str
    outcome: TicketOutcome
    decision: str | None = None
    value: Json = None
    actor: str | None = None
    command_id: str | None = None
