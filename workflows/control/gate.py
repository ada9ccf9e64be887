"""``gate``: asks people and goes on where their answer says."""

from seeding.model import Json, JsonObject
from seeding.tickets import Ticket, TicketClosing
from workflows.completion import Asked, Completion
from workflows.control.templates import fill_template
from workflows.graph.gate_config import APPROVAL, APPROVE, ESCALATE, EXPIRE, GateConfig, read_gate
from workflows.graph.model import Node
from workflows.position import Execution
from workflows.state_updates import ACTIVE_BRANCHES

ANSWERED, EXPIRED = "answered", "expired"
"""Branches: of the kinds that are no approval, and of a deadline that nobody met."""


def ask(node: Node, execution: Execution, inputs: JsonObject) -> Asked:
    """Return the first question of a gate: its message filled in, its inputs for people to see."""
    gate = read_gate(node)
    message: Json = node.config.get("message")
    return Asked(
        node_id=execution.node_id,
        occurrence=execution.occurrence,
        kind=gate.kind,
        message=fill_template(message, inputs) if isinstance(message, str) else None,
        input=inputs,
        answer_schema=gate.schema,
        allowed=None if gate.allowed is None else list(gate.allowed),
        who=None if gate.who is None else list(gate.who),
        approved_by=[] if gate.approvals > 1 else None,
        deadline_after=gate.deadline,
        on_deadline=gate.on_deadline,
    )


def next_question(node: Node, ticket: Ticket, closing: TicketClosing) -> Asked | None:
    """Return what a gate asks after one of its tickets was closed; None where it is settled.

    A gate that several people have to approve asks again after each of them, but whoever has
    approved; one that escalates asks somebody else after its deadline, once.
    """
    gate = read_gate(node)
    if closing.outcome == "expired":
        if ticket.on_deadline != ESCALATE:
            return None
        return _again(ticket, who=list(gate.escalate_to), on_deadline=EXPIRE)
    approved = [*(ticket.approved_by or ()), closing.actor or ""]
    if closing.decision != APPROVE or len(approved) >= gate.approvals:
        return None
    left = None if ticket.who is None else [name for name in ticket.who if name != closing.actor]
    return _again(ticket, who=left, approved_by=approved)


def _again(ticket: Ticket, **changed: Json) -> Asked:
    same = {name: getattr(ticket, name) for name in Asked.model_fields}
    return Asked(**{**same, **changed})


def gate_completion(node: Node, execution: Execution, given: JsonObject) -> Completion:
    """Return the completion of a gate by an accepted answer, or by a deadline that says one.

    ``answer`` is the value if one was given, null included, else the decision. Of an approval
    the decision is also the active branch, other kinds follow ``answered``; a ticket that
    expired without an answer follows ``expired``.
    """
    decision: Json = given.get("decision")
    expired = given.get("expired") is True
    outputs: JsonObject = {
        "answer": given.get("value", decision),
        "decision": decision,
        "actor": given.get("actor"),
        "expired": expired,
        ACTIVE_BRANCHES: _branches(read_gate(node), given, expired=expired),
    }
    return Completion(node_id=execution.node_id, occurrence=execution.occurrence, outputs=outputs)


def _branches(gate: GateConfig, given: JsonObject, *, expired: bool) -> list[Json]:
    decision: Json = given.get("decision")
    if expired and decision is None and "value" not in given:
        return [EXPIRED]
    if gate.kind != APPROVAL:
        return [ANSWERED]
    return [] if decision is None else [decision]
