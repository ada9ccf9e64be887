"""Gates that nobody can answer, and answers that lead nowhere."""

from collections.abc import Iterator

from seeding.model import Json, as_list, as_object
from workflows.graph.gate_config import (
    APPROVAL,
    DEFAULT,
    DENY,
    ESCALATE,
    EXPIRE,
    GateConfig,
    read_gate,
)
from workflows.linting.advice import Advice
from workflows.linting.ways import Ways
from workflows.plan import NodePlan, Plan, branch_name, leaves_error


def gate_advice(plan: Plan, ways: Ways) -> Iterator[Advice]:
    """Yield what is odd about the gates of a graph."""
    del ways
    for node in plan.nodes.values():
        if node.node.type == "gate":
            yield from _unanswerable(node)
            yield from _deadline_leads_nowhere(node)
            yield from _answer_leads_nowhere(node)


def _unanswerable(node: NodePlan) -> Iterator[Advice]:
    for key, what in (("who", "who may answer"), ("allowed", "decisions"), ("options", "options")):
        if as_list(node.node.config.get(key)) == []:
            yield Advice(
                code="gate_nobody_can_answer",
                message=f"gate {node.node.id!r} cannot be answered: its list of {what} ({key}) is "
                "empty; name some, or leave it out",
                node=node.node.id,
            )
    if _takes_nothing(node.node.config.get("schema")):
        yield Advice(
            code="gate_nobody_can_answer",
            message=f"gate {node.node.id!r} cannot be answered: no value fits its schema",
            node=node.node.id,
        )


def _takes_nothing(schema: Json) -> bool:
    if schema is False:
        return True
    given = as_object(schema) or {}
    return as_list(given.get("enum")) == [] or given.get("not") in ({}, True)


def _deadline_leads_nowhere(node: NodePlan) -> Iterator[Advice]:
    branch = _branch_of_deadline(read_gate(node.node))
    if branch is None or not node.outgoing or _goes_on_by(node, branch):
        return
    yield Advice(
        code="deadline_leads_nowhere",
        message=f"gate {node.node.id!r}: once its deadline has passed it follows {branch!r}, and "
        f"no edge leaves that port; wire {node.node.id}.{branch}",
        node=node.node.id,
    )


def _branch_of_deadline(gate: GateConfig) -> str | None:
    """Return the branch that is followed once nobody has answered in time, if one is."""
    if gate.on_deadline in (EXPIRE, ESCALATE):
        return "expired"
    if gate.on_deadline == DEFAULT:
        return str(gate.default) if gate.kind == APPROVAL else "answered"
    return DENY if gate.on_deadline == DENY else None


def _answer_leads_nowhere(node: NodePlan) -> Iterator[Advice]:
    if node.outgoing or node.loopbacks:
        return
    yield Advice(
        code="answer_leads_nowhere",
        message=f"nothing follows gate {node.node.id!r}, whatever is answered: the run waits for "
        "an answer that changes nothing; wire its branches or its answer",
        node=node.node.id,
    )


def _goes_on_by(node: NodePlan, branch: str) -> bool:
    for edge in (*node.outgoing, *node.loopbacks):
        name = branch_name(edge.source_port)
        if not leaves_error(edge) and (name not in node.branches or name == branch):
            return True
    return False
