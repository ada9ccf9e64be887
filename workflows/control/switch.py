"""``switch`` and the editor's ``gateway``: follow the first branch whose condition holds.

Conditions are JMESPath over the node's inputs by port, see :mod:`workflows.graph.conditions`.
A ``gateway`` entry may have a ``value`` instead, which is matched as a ``branch`` matches it
against input ``value``, else ``data``, else the only input there is.
"""

from seeding.model import Json, JsonObject
from workflows.completion import Completion, NodeFailureReport
from workflows.control.branch import activated, default_or_failure, matches
from workflows.graph.branch_lists import Branch, listed_branches
from workflows.graph.conditions import ConditionFailed, holds
from workflows.graph.model import LOOP_BACK_PORT, Node
from workflows.position import Execution


def evaluate_switch(node: Node, execution: Execution, inputs: JsonObject) -> Completion:
    """Return the completion that activates one branch, or a failure.

    The first entry whose condition holds is active, else the default. A condition that fails
    on the values, and values that no branch is for, are node-level failures.
    """
    values = {port: value for port, value in inputs.items() if port != LOOP_BACK_PORT}
    branches = listed_branches(node)
    for branch in branches:
        try:
            if _applies(branch, values):
                return activated(execution, branch.name)
        except ConditionFailed as failed:
            return _failed(node, execution, branch, failed)
    return default_or_failure(node, execution, branches, "the inputs")


def _applies(branch: Branch, values: JsonObject) -> bool:
    condition: Json = branch.given.get("condition")
    if isinstance(condition, str) and condition.strip():
        return holds(condition, values)
    return "value" in branch.given and matches(_outcome(values), branch.given["value"])


def _outcome(values: JsonObject) -> Json:
    for port in ("value", "data"):
        if port in values:
            return values[port]
    return next(iter(values.values())) if len(values) == 1 else None


def _failed(
    node: Node, execution: Execution, branch: Branch, failed: ConditionFailed
) -> Completion:
    failure = NodeFailureReport(
        code="ConditionFailed",
        message=f"node {node.id!r}: the condition of branch {branch.name!r} failed: {failed}",
    )
    return Completion(node_id=node.id, occurrence=execution.occurrence, failure=failure)
