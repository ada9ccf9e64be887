"""``gate``: asks a person and goes on where the answer says."""

from seeding.durations import parse_duration
from seeding.model import Json, JsonObject
from workflows.completion import Asked, Completion
from workflows.control.templates import fill_template
from workflows.graph.model import Node
from workflows.position import Execution
from workflows.state_updates import ACTIVE_BRANCHES

APPROVAL_DECISIONS = ("approve", "deny")
EXPIRE = "expire"


def ask(node: Node, execution: Execution, inputs: JsonObject) -> Asked:
    """Return the question of a gate: its message filled in, its inputs for people to see."""
    message: Json = node.config.get("message")
    deadline = parse_duration(node.config.get("deadline"), f"deadline of gate {node.id!r}")
    return Asked(
        node_id=execution.node_id,
        occurrence=execution.occurrence,
        kind="approval",
        message=fill_template(message, inputs) if isinstance(message, str) else None,
        input=inputs,
        allowed=list(APPROVAL_DECISIONS),
        deadline_after=deadline,
        on_deadline=None if deadline is None else node.config.get("onDeadline") or EXPIRE,
    )


def gate_completion(execution: Execution, given: JsonObject) -> Completion:
    """Return the completion of a gate by an accepted answer.

    ``answer`` is the value if one was given, null included, else the decision. The decision is
    also the active branch; a ticket that expired without one follows ``expired``.
    """
    decision: Json = given.get("decision")
    expired = given.get("expired") is True
    branch: Json = "expired" if expired and decision is None else decision
    outputs: JsonObject = {
        "answer": given.get("value", decision),
        "decision": decision,
        "actor": given.get("actor"),
        "expired": expired,
        ACTIVE_BRANCHES: [] if branch is None else [branch],
    }
    return Completion(node_id=execution.node_id, occurrence=execution.occurrence, outputs=outputs)
