"""``branch`` and the editor's ``if_else``: follow the branch whose value the outcome matches.

The outcome is the input ``data``, or, where config ``matchText`` is given, whether ``data`` as
a text compares to it by ``operator`` (``equals``, ``not_equals``, ``contains``, ``starts_with``,
``ends_with``), without regard to case unless ``caseSensitive``. There is no ``regex``: a
backtracking pattern can run for ever on an unlucky text, and a decision in the workflow must
come to an end.

Without a list of branches they are ``True`` and ``False``.
"""

from collections.abc import Mapping
from typing import cast

from seeding.model import Json, JsonObject
from workflows.completion import Completion, NodeFailureReport
from workflows.control.templates import as_text
from workflows.graph.branch_lists import TRUE_AND_FALSE, Branch, listed_branches
from workflows.graph.model import Node
from workflows.position import Execution
from workflows.state_updates import ACTIVE_BRANCHES

_TRUE_OR_FALSE = tuple(
    Branch(name, {"name": name, "value": name == "True"}, False) for name in TRUE_AND_FALSE
)


def evaluate_branch(node: Node, execution: Execution, inputs: JsonObject) -> Completion:
    """Return the completion that activates one branch, or the failure that none matches (BR-4).

    The first entry whose value the outcome matches is active, else the default. An entry
    without a ``value`` stands for its own name; a missing ``data`` counts as null.
    """
    outcome = _outcome(node.config, inputs.get("data"))
    branches = listed_branches(node) or _TRUE_OR_FALSE
    for branch in branches:
        if matches(outcome, branch.given.get("value", branch.name)):
            return activated(execution, branch.name)
    return default_or_failure(node, execution, branches, f"outcome {as_text(outcome)[:200]}")


def default_or_failure(
    node: Node, execution: Execution, branches: tuple[Branch, ...], unmatched: str
) -> Completion:
    """Return the completion by the default branch, or a node-level failure without one (BR-4)."""
    for branch in branches:
        if branch.is_default:
            return activated(execution, branch.name)
    names = ", ".join(repr(branch.name) for branch in branches)
    failure = NodeFailureReport(
        code="NoBranch",
        message=f"node {node.id!r}: no branch matches {unmatched}; the branches are {names}, "
        "and none is the default",
    )
    return Completion(node_id=node.id, occurrence=execution.occurrence, failure=failure)


def activated(execution: Execution, name: str) -> Completion:
    """Return the completion that follows one branch; its port carries the node's input."""
    return Completion(
        node_id=execution.node_id,
        occurrence=execution.occurrence,
        outputs={ACTIVE_BRANCHES: [name]},
    )


def matches(outcome: Json, value: Json) -> bool:
    """Return whether an outcome is what a branch is configured for (BR-4).

    A boolean matches what denotes it: itself, 1 or 0, or a text such as ``"TRUE"`` or ``"1"``.
    Texts compare without regard to case. Everything else agrees in type and value, numbers
    being one type.
    """
    if isinstance(outcome, bool):
        return _as_boolean(value) is outcome
    if isinstance(outcome, str):
        return isinstance(value, str) and value.lower() == outcome.lower()
    return _same(outcome, value)


def _as_boolean(value: Json) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        named = {"true": True, "1": True, "false": False, "0": False}
        return named.get(value.strip().lower())
    return None


def _same(left: Json, right: Json) -> bool:
    """Compare two JSON values; Python alone would take True for 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        ours, theirs = cast(list[Json], left), cast(list[Json], right)
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    if isinstance(left, dict) and isinstance(right, dict):
        mine, other = cast(Mapping[str, Json], left), cast(Mapping[str, Json], right)
        return mine.keys() == other.keys() and all(_same(mine[key], other[key]) for key in mine)
    return left == right


def _outcome(config: JsonObject, data: Json) -> Json:
    wanted: Json = config.get("matchText")
    if not isinstance(wanted, str):
        return data
    text = "" if data is None else as_text(data)
    if config.get("caseSensitive") is not True:
        text, wanted = text.lower(), wanted.lower()
    operator = config.get("operator") or "equals"
    if operator == "contains":
        return wanted in text
    if operator == "starts_with":
        return text.startswith(wanted)
    if operator == "ends_with":
        return text.endswith(wanted)
    return (text == wanted) is (operator == "equals")
