"""What belongs to a loop and what only looks as if it did."""

from collections.abc import Iterator

from workflows.graph.model import ERROR_PORT, TRIGGER_PORT, Edge
from workflows.linting.advice import Advice
from workflows.linting.ways import SUCCESS, Ways, contradiction, own_choice
from workflows.loops import Loop
from workflows.plan import NodePlan, Plan, branch_name, leaves_error
from workflows.state_updates import CONTROL_OUTPUTS

MAX_ROUNDS = "maxRounds"
LOOP_ACTIVE = "loop_active"


def body_advice(plan: Plan, ways: Ways) -> Iterator[Advice]:
    """Yield iterators without a way back, nodes beside a body, and limits that limit nothing."""
    for node in plan.nodes.values():
        if node.iterates and not node.returns:
            yield Advice(
                code="iterates_once",
                message=f"node {node.node.id!r} ({node.node.type}) has no edge into its loop_back: "
                "it takes the first item and no other; lead the last node of its body back to "
                f"{node.node.id}.loop_back",
                node=node.node.id,
            )
        if node.iterates:
            yield from _no_such_port(node)
        if MAX_ROUNDS in node.node.config and (node.iterates or node.node.id not in _heads(plan)):
            yield Advice(
                code="unused_max_rounds",
                message=f"node {node.node.id!r}: config maxRounds limits the loop that a node "
                f"heads, and {_why_unused(node)}; leave it out",
                node=node.node.id,
            )
    for loop in plan.loops.loops:
        for head in loop.heads:
            if plan.nodes[head].iterates:
                yield from _beside_the_body(plan, ways, loop, plan.nodes[head])


def _no_such_port(node: NodePlan) -> Iterator[Advice]:
    known = (*sorted(node.branches), LOOP_ACTIVE, TRIGGER_PORT, ERROR_PORT)
    for edge in (*node.outgoing, *node.loopbacks):
        name = branch_name(edge.source_port) or edge.source_port
        if name not in known and edge.source_port not in CONTROL_OUTPUTS:
            yield Advice(
                code="no_such_port",
                message=f"edge '{edge}' leaves port {edge.source_port!r}, which type "
                f"{node.node.type!r} does not have: it delivers nothing; its ports are "
                f"{', '.join(sorted(node.branches))}",
                node=node.node.id,
                edge=str(edge),
            )


def _beside_the_body(plan: Plan, ways: Ways, loop: Loop, head: NodePlan) -> Iterator[Advice]:
    """SG-16: what does not lead back to the head is no member of the body and runs once."""
    told: dict[str, Edge] = {}
    for member in sorted(loop.body):
        for edge in plan.nodes[member].outgoing:
            if edge.target in loop.body or leaves_error(edge) or edge.target in told:
                continue
            names = {name for _, name in own_choice(plan, edge)}
            if names - ({"round"} if member == head.node.id else {SUCCESS}):
                continue  # A branch out of the body, or what follows the loop.
            if contradiction(plan, ways.of_node[edge.target]) is not None:
                continue  # It never runs at all, which is told already.
            told[edge.target] = edge
    for target, edge in told.items():
        yield Advice(
            code="beside_the_body",
            message=f"node {target!r} is fed by '{edge}' from the body of {head.node.id!r} and "
            "does not lead back to it: it is no part of the rounds and runs once (SG-16); lead "
            f"it back to {head.node.id}.loop_back, or feed it when the loop is over",
            node=target,
            edge=str(edge),
        )


def _heads(plan: Plan) -> dict[str, bool]:
    return {head: True for loop in plan.loops.loops for head in loop.heads}


def _why_unused(node: NodePlan) -> str:
    if node.iterates:
        return f"type {node.node.type!r} goes round once for each item"
    return "this one heads none"
