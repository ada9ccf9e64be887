"""``for_each`` and the editor's ``foreach``: n items are n rounds and a closing (SG-4, SG-5).

The first execution takes the items; each re-entry brings the result of the round before and
gives the next item, or closes. Round ports and closing ports are branches, so that the body
never sees the closing and what follows the loop runs once.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

from seeding.model import Json, JsonObject
from workflows.completion import Completion, NodeFailureReport, Turn
from workflows.graph.model import LOOP_BACK_PORT, Node
from workflows.plan import CLOSING_PORTS
from workflows.position import Execution, LoopIterator
from workflows.state_updates import ACTIVE_BRANCHES


class _Names(NamedTuple):
    """The port names in which ``foreach`` differs from ``for_each``."""

    item: str
    number: str
    total: str


_NAMES = {
    "for_each": _Names("current_item", "current_index", "total_count"),
    "foreach": _Names("item", "index", "total"),
}


def evaluate_for_each(
    node: Node, execution: Execution, inputs: JsonObject, iterator: LoopIterator | None
) -> Completion:
    """Return the completion of one execution: a round, the closing, or a failure.

    Without an iterator, and on every entry by a forward edge, the items are taken from the
    input, else from the config: a list as it is, anything else as one item, missing or null a
    node-level failure, ``[]`` closes at once. An iterator that the starting state carried goes
    on with its current item.

    Args:
        node: The node.
        execution: Its execution.
        inputs: Its inputs by port; ``item_result``, else ``loop_back``, is the result of the
            round before, null where neither delivers a value.
        iterator: The node's live iterator.
    """
    if iterator is None or (iterator.begun and not execution.reentry):
        return _enter(node, execution, inputs)
    if not execution.reentry:
        outputs, kind = _outputs(node, iterator.items, iterator.index, iterator.results)
        return _completion(execution, outputs, Turn(kind=kind))
    result = inputs.get("item_result", inputs.get(LOOP_BACK_PORT))
    results = (*iterator.results, result)
    outputs, kind = _outputs(node, iterator.items, iterator.index + 1, results)
    return _completion(execution, outputs, Turn(kind=kind, result=result))


def _enter(node: Node, execution: Execution, inputs: JsonObject) -> Completion:
    given: Json = inputs["items"] if "items" in inputs else node.config.get("items")
    if given is None:
        failure = NodeFailureReport(
            code="MissingItems",
            message=f"node {node.id!r}: no items; port 'items' is missing or null",
        )
        return Completion(
            node_id=execution.node_id, occurrence=execution.occurrence, failure=failure
        )
    items = cast(list[Json], given) if isinstance(given, list) else [given]
    outputs, kind = _outputs(node, items, 0, ())
    return _completion(execution, outputs, Turn(kind=kind, items=items))


def _outputs(
    node: Node, items: Sequence[Json], index: int, results: Sequence[Json]
) -> tuple[JsonObject, Literal["round", "closing"]]:
    names = _NAMES[node.type]
    total = len(items)
    if index < total:
        outputs: JsonObject = {
            "loop_active": True,
            names.item: items[index],
            names.number: index,
            "is_first": index == 0,
            "is_last": index == total - 1,
            names.total: total,
        }
        ports = [port for port in outputs if port != "loop_active"]
        return {**outputs, ACTIVE_BRANCHES: ports}, "round"
    outputs = {
        "loop_active": False,
        names.item: None,
        names.total: total,
        "collected_results": list(results),
    }
    return {**outputs, ACTIVE_BRANCHES: list(CLOSING_PORTS)}, "closing"


def _completion(execution: Execution, outputs: JsonObject, turn: Turn) -> Completion:
    return Completion(
        node_id=execution.node_id,
        occurrence=execution.occurrence,
        outputs=outputs,
        turn=turn,
    )
