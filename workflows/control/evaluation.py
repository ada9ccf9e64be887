"""Evaluates a control node by its type."""

from seeding.errors import UnknownExecution
from seeding.model import JsonObject
from workflows.completion import Asked, Completion
from workflows.control.branch import evaluate_branch
from workflows.control.for_each import evaluate_for_each
from workflows.control.gate import ask
from workflows.control.merge import evaluate_merge
from workflows.control.reply import evaluate_reply
from workflows.control.set_state import evaluate_set
from workflows.control.stop import STOP, evaluate_stop
from workflows.control.switch import evaluate_switch
from workflows.control.value import OUTPUT_PORTS, evaluate_value
from workflows.graph.branch_lists import IF_TYPES, SWITCH_TYPES
from workflows.graph.model import Node
from workflows.loops import ITERATING_TYPES
from workflows.plan import Plan
from workflows.position import Execution, Position
from workflows.unfillable import unfillable_completion
from workflows.values import resolve_inputs

REPLY_TYPES = ("reply", "chat_output", "text_output")


def evaluate(plan: Plan, position: Position, execution: Execution) -> Completion | Asked:
    """Return the completion of a due control execution, or the question it asks.

    A failure of the node itself is part of the completion and never raised. An execution that
    was dispatched because of an unfillable port comes to its failure, whatever its node's type.

    Raises:
        UnknownExecution: The node is no control node that is evaluated here.
    """
    if execution.unfillable is not None:
        return unfillable_completion(execution, execution.unfillable)
    node = plan.nodes[execution.node_id].node
    inputs = resolve_inputs(plan, position, execution)
    if node.type in OUTPUT_PORTS:
        return evaluate_value(node, execution, inputs)
    if node.type in ITERATING_TYPES:
        return evaluate_for_each(node, execution, inputs, position.iterators.get(node.id))
    if node.type in REPLY_TYPES:
        return evaluate_reply(node, execution, inputs)
    found = _evaluate_flow(node, execution, inputs)
    if found is not None:
        return found
    if node.type == "gate":
        return ask(node, execution, inputs)
    raise UnknownExecution(
        f"node {node.id!r} of type {node.type!r} is not evaluated in place; run it as an effect",
        node=node.id,
    )


def _evaluate_flow(node: Node, execution: Execution, inputs: JsonObject) -> Completion | None:
    """Evaluate a type that directs the run or changes its thread; None for any other type."""
    if node.type in IF_TYPES:
        return evaluate_branch(node, execution, inputs)
    if node.type in SWITCH_TYPES:
        return evaluate_switch(node, execution, inputs)
    if node.type == "merge":
        return evaluate_merge(execution, inputs)
    if node.type == "set":
        return evaluate_set(node, execution, inputs)
    if node.type == STOP:
        return evaluate_stop(execution, inputs)
    return None
