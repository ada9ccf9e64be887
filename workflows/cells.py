"""The position as run-owned cells, and back (restore).

Each part that can change by itself is one cell: ``node/<id>``, ``loop/<id>``, ``due/<id>`` and,
written once, ``input/<id>``. Items, results and outputs are rows; cells hold their prefix
lengths only, so that a step writes what changed and nothing that grows.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

from pydantic import ValidationError

from seeding.commits import PositionHead, StateCommand
from seeding.errors import StateDecode
from seeding.model import Json, JsonObject, Model
from seeding.request import describe
from workflows.loops import Stamp
from workflows.plan import Plan
from workflows.position import Execution, LoopIterator, NodeRecord, Position, Recorded

IteratorValues = tuple[Sequence[Json], Sequence[Json]]
"""The items and the results of one iterator."""

_Model = TypeVar("_Model", bound=Model)


class _IteratorCell(Model):
    occurrence: int
    index: int
    items: int
    results: int
    depth: int = 0
    order: int = 0
    begun: bool = True


class _LoopCell(Model):
    round: int = 0
    iterator: _IteratorCell | None = None


def changed_cells(before: Position, after: Position, touched: "Touched") -> list[StateCommand]:
    """Return the commands that bring the cells of ``before`` to those of ``after``.

    Args:
        before: The position that is stored.
        after: The position to store.
        touched: The ids that may differ; one that does not differ writes nothing.
    """
    commands: list[StateCommand] = []
    for node_id in sorted(touched.nodes):
        _compare(commands, f"node/{node_id}", before.nodes.get(node_id), after.nodes.get(node_id))
    for node_id in sorted(touched.loops):
        _compare(commands, f"loop/{node_id}", _loop(before, node_id), _loop(after, node_id))
    for node_id in sorted(touched.executions):
        old, new = before.executions.get(node_id), after.executions.get(node_id)
        _compare(commands, f"due/{node_id}", old, new)
    return commands


class Touched:
    """The ids of nodes, loops and executions that a step may have changed, in no set."""

    def __init__(self) -> None:
        self.nodes: dict[str, None] = {}
        self.loops: dict[str, None] = {}
        self.executions: dict[str, None] = {}


def input_cells(inputs: Mapping[str, JsonObject]) -> list[StateCommand]:
    """Return the commands that store the request's values."""
    return [_set(f"input/{node_id}", inputs[node_id]) for node_id in sorted(inputs)]


def needed_outputs(head: PositionHead, cells: Mapping[str, Json]) -> list[tuple[str, int]]:
    """Return the executions whose outputs :func:`restore` needs, by node and occurrence.

    Raises:
        StateDecode: A cell does not have the shape it was written in.
    """
    needed: dict[tuple[str, int], None] = {}
    for node_id, record in _decoded(cells, "node/", NodeRecord):
        if record.delivers:
            needed[node_id, record.occurrence] = None
    for _, execution in _decoded(cells, "due/", Execution):
        needed.update(dict.fromkeys(referred(execution)))
    return sorted(needed)


class NeededIterator(NamedTuple):
    """The rows of one iterator: what they are filed under, and how many of each kind."""

    node_id: str
    occurrence: int
    items: int
    results: int


def needed_iterators(head: PositionHead, cells: Mapping[str, Json]) -> list[NeededIterator]:
    """Return the iterators whose item and result rows :func:`restore` needs.

    Raises:
        StateDecode: A cell does not have the shape it was written in.
    """
    return [
        NeededIterator(node_id, stored.occurrence, stored.items, stored.results)
        for node_id, cell in _decoded(cells, "loop/", _LoopCell)
        if (stored := cell.iterator) is not None
    ]


def restore(
    plan: Plan,
    head: PositionHead,
    cells: Mapping[str, Json],
    outputs: Mapping[tuple[str, int], Json],
    iterators: Mapping[tuple[str, int], IteratorValues],
) -> Position:
    """Return the position that a run's stored head, cells and rows describe.

    Args:
        plan: The plan of the run's pinned graph.
        head: The position head of the run's last commit.
        cells: Values of its ``position`` cells by key; keys of other kinds are ignored.
        outputs: Values of the output rows that :func:`needed_outputs` names.
        iterators: Items and results of what :func:`needed_iterators` names, by node and
            occurrence, as many as it says.

    Raises:
        StateDecode: A cell or row is missing or does not have the shape it was written in.
    """
    loops = list(_decoded(cells, "loop/", _LoopCell))
    return Position(
        current_node_id=head.current_node_id,
        iteration_count=head.iteration_count,
        order=head.counters.get("order", 0),
        passes=head.counters.get("passes", 0),
        verdict=head.verdict,
        nodes={
            node_id: record.model_copy(update={"stamp": _ordered(plan, node_id, record.stamp)})
            for node_id, record in _decoded(cells, "node/", NodeRecord)
        },
        rounds={key: cell.round for key, cell in loops if cell.round},
        iterators={
            node_id: _iterator(node_id, cell.iterator, iterators)
            for node_id, cell in loops
            if cell.iterator is not None
        },
        executions={
            node_id: execution.model_copy(
                update={"stamp": _ordered(plan, node_id, execution.stamp)}
            )
            for node_id, execution in _decoded(cells, "due/", Execution)
        },
        inputs={key.removeprefix("input/"): cells[key] for key in _keys(cells, "input/")},
        outputs={pair: _recorded(outputs, pair) for pair in needed_outputs(head, cells)},
    )


def referred(execution: Execution) -> Iterator[tuple[str, int]]:
    """Yield the executions whose outputs ``execution`` takes values from."""
    for source in execution.sources.values():
        yield (source.node_id, source.occurrence)


def output_row(recorded: Recorded) -> JsonObject:
    """Return the value of the row that keeps the outputs of one execution."""
    if recorded.passed:
        return {"outputs": recorded.outputs, "passed": recorded.passed}
    return {"outputs": recorded.outputs}


def _recorded(outputs: Mapping[tuple[str, int], Json], pair: tuple[str, int]) -> Recorded:
    row = outputs.get(pair)
    if not isinstance(row, dict) or "outputs" not in row:
        raise StateDecode(
            f"the outputs of execution {pair[1]} of node {pair[0]!r} are missing or damaged; "
            "the position needs them",
            node=pair[0],
            occurrence=pair[1],
        )
    found = cast(JsonObject, row)
    return Recorded(outputs=found["outputs"], passed=found.get("passed", {}))


def _iterator(
    node_id: str, cell: _IteratorCell, iterators: Mapping[tuple[str, int], IteratorValues]
) -> LoopIterator:
    items, results = iterators.get((node_id, cell.occurrence), ((), ()))
    if len(items) != cell.items or len(results) != cell.results:
        raise StateDecode(
            f"the iterator of node {node_id!r}, entered at {cell.occurrence}, needs {cell.items} "
            f"items and {cell.results} results; {len(items)} and {len(results)} were read",
            node=node_id,
        )
    return LoopIterator(
        node_id=node_id,
        occurrence=cell.occurrence,
        index=cell.index,
        items=tuple(items),
        results=tuple(results),
        depth=cell.depth,
        order=cell.order,
        begun=cell.begun,
    )


def _loop(position: Position, node_id: str) -> _LoopCell | None:
    current, found = position.rounds.get(node_id, 0), position.iterators.get(node_id)
    if not current and found is None:
        return None
    if found is None:
        return _LoopCell(round=current)
    cell = _IteratorCell(
        occurrence=found.occurrence,
        index=found.index,
        items=len(found.items),
        results=len(found.results),
        depth=found.depth,
        order=found.order,
        begun=found.begun,
    )
    return _LoopCell(round=current, iterator=cell)


def _ordered(plan: Plan, node_id: str, stamp: Stamp) -> Stamp:
    # The log may give keys back in another order; people read stamps outermost first.
    node = plan.nodes.get(node_id)
    return {key: stamp[key] for key in node.loops if key in stamp} if node else stamp


def _compare(
    commands: list[StateCommand], key: str, before: Model | None, after: Model | None
) -> None:
    if before == after:
        return
    if after is None:
        commands.append(StateCommand(op="remove", scope="run", cell="position", key=key))
        return
    value = after.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    commands.append(_set(key, value))


def _set(key: str, value: Json) -> StateCommand:
    return StateCommand(scope="run", cell="position", key=key, value=value)


def _keys(cells: Mapping[str, Json], prefix: str) -> list[str]:
    return sorted(key for key in cells if key.startswith(prefix))


def _decoded(
    cells: Mapping[str, Json], prefix: str, model: type[_Model]
) -> Iterator[tuple[str, _Model]]:
    for key in _keys(cells, prefix):
        try:
            decoded = model.model_validate(cells[key])
        except ValidationError as error:
            raise StateDecode(f"position cell {key!r}: {describe(error)}", key=key) from error
        yield key.removeprefix(prefix), decoded
