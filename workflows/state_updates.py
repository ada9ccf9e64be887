"""Control outputs: what a node says to the engine beside its results (SG-1, SG-3, ERR-2).

They are taken out of what is recorded, always, and applied only after the node completed.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import cast

from pydantic import ValidationError

from seeding.commits import StateCommand
from seeding.model import Json, JsonObject
from seeding.request import describe
from seeding.state import StateUpdate
from workflows.completion import Completion, Limits, NodeFailureReport
from workflows.draft import Draft
from workflows.graph.model import is_internal
from workflows.plan import NodePlan
from workflows.position import Execution, LoopIterator

STATE_UPDATE = "state_update"
ACTIVE_BRANCHES = "active_branches"
CONTROL_OUTPUTS = (STATE_UPDATE, ACTIVE_BRANCHES, "error_retryable")


def recorded_outputs(outputs: JsonObject, hidden: Collection[str] = ()) -> JsonObject:
    """Return ``outputs`` without control outputs, ``__names__`` (SG-2) and ``hidden`` (DATA-8)."""
    return {
        port: value
        for port, value in outputs.items()
        if port not in CONTROL_OUTPUTS and port not in hidden and not is_internal(port)
    }


def read_update(
    draft: Draft, node: NodePlan, execution: Execution, completion: Completion
) -> StateUpdate | NodeFailureReport | None:
    """Return the node's ``state_update``, or the node-level failure that it is.

    Fields other than those of :class:`StateUpdate`, wrong types, a negative count, a message
    without a role, and an iterator where no round of a ``for_each`` is in progress are failures.
    """
    value = completion.outputs.get(STATE_UPDATE)
    if value is None:
        return None
    try:
        update = StateUpdate.model_validate(value, strict=True)
    except ValidationError as error:
        return _refused(node, describe(error))
    if (update.iteration_count or 0) < 0:
        return _refused(node, "iterationCount: it is not negative")
    for message in update.messages or ():
        if not isinstance(message.get("role"), str) or not message["role"]:
            return _refused(node, "messages: a message has a role, a non-empty string")
        identity = message.get("id")
        if identity is not None and (not isinstance(identity, str) or not identity):
            return _refused(node, "messages: a message's id is a non-empty string")
    if "iterator" in update.model_fields_set:
        problem = _iterator_problem(draft, node, execution, update.iterator)
        if problem is not None:
            return _refused(node, f"iterator: {problem}")
    return update


def apply_update(draft: Draft, execution: Execution, update: StateUpdate, limits: Limits) -> None:
    """Apply a checked update: messages append, data and metadata merge by key, null clears.

    ``iterationCount`` is not applied here, because a refused one ends the run (SG-14).
    """
    given = update.model_fields_set
    draft.messages.extend(update.messages or ())
    if "data" in given:
        draft.commands.extend(_cells("data", update.data, limits.data_keys))
    if "metadata" in given:
        draft.commands.extend(_cells("metadata", update.metadata, limits.metadata_keys))
    if "iterator" in given:
        _replace_iterator(draft, execution, update.iterator)


def innermost_of(draft: Draft, node: NodePlan) -> LoopIterator | None:
    """Return the live iterator of the innermost ``for_each`` whose loop ``node`` is in."""
    for key in reversed(node.loops):
        for loop in draft.plan.loops.loops:
            if loop.key == key:
                found = [draft.iterators[head] for head in loop.heads if head in draft.iterators]
                if found:
                    return max(found, key=lambda iterator: (iterator.order, iterator.node_id))
    return None


def _cells(cell: str, update: JsonObject | None, keys: tuple[str, ...]) -> list[StateCommand]:
    common = {"scope": "thread", "cell": cell}
    if update is None:
        removed = [{**common, "op": "remove", "key": key} for key in sorted(keys)]
        return [StateCommand.model_validate(command) for command in removed]
    return [
        StateCommand.model_validate({**common, "key": key, "value": update[key]})
        for key in sorted(update)
    ]


def _iterator_problem(
    draft: Draft, node: NodePlan, execution: Execution, value: JsonObject | None
) -> str | None:
    if innermost_of(draft, node) is None:
        return "no round of a for_each is in progress around this node"
    if execution.stamp != draft.stamp(node):
        return "the round this execution belongs to is over"
    if value is None:
        return None
    for name in value:
        if name not in ("items", "index", "results"):
            return f"unknown field {name!r}"
    items, index, results = value.get("items"), value.get("index", 0), value.get("results", [])
    if not isinstance(items, list):
        return "items is a list"
    if not isinstance(results, list):
        return "results is a list"
    length = len(cast(list[Json], items))
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < max(length, 1):
        return f"index is a whole number from 0 to {max(length - 1, 0)}"
    return None


def _replace_iterator(draft: Draft, execution: Execution, value: JsonObject | None) -> None:
    found = innermost_of(draft, draft.plan.nodes[execution.node_id])
    if found is None:
        return
    if value is None:
        # Cleared, it has no more items: the next re-entry closes with the results so far.
        kept = found.items[: found.index + 1]
        draft.set_iterator(found.node_id, replace(found, items=kept))
        return
    # Rows are append-only, so what replaces them is filed under a number of its own.
    iterator = replace(
        found,
        occurrence=-execution.order,
        index=value.get("index", 0),
        items=tuple(value["items"]),
        results=tuple(value.get("results", ())),
    )
    draft.set_iterator(found.node_id, iterator)
    draft.add_rows("item", iterator, iterator.items, at=0)
    draft.add_rows("result", iterator, iterator.results, at=0)


def _refused(node: NodePlan, problem: str) -> NodeFailureReport:
    return NodeFailureReport(
        code="InvalidStateUpdate",
        message=f"node {node.node.id!r}: state_update cannot be applied: {problem}",
    )
