"""Generated graphs and the behaviour of their nodes, for property tests."""

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from seeding.model import JsonObject
from workflows.graph.model import Graph
from workflows.scheduler import NodeFailureReport

from .graphs import graph
from .runs import Node

BUDGETS = st.sampled_from([4, 1000])
"""Iteration budgets: one that many generated runs exhaust, and one that none does."""


Counts = dict[str, int]
"""How often each node of a program was executed."""


class Stuck(Exception):
    """A ``repeat`` used up its rounds without leaving; nothing after it runs."""


class Block(NamedTuple):
    """A part of a program: the port that leads on from it, and what it does, told directly."""

    leaves: str
    perform: Callable[[Counts], None]


class Program(NamedTuple):
    """A graph nested like a program, and the program itself."""

    graph: Graph
    perform: Callable[[Counts], None]


class _Builder:
    """Collects the edges of a graph that is nested like a program."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.edges: list[str] = []
        self.types: dict[str, str] = {}
        self.config: dict[str, JsonObject] = {}
        self.priority: dict[str, int] = {}
        self.count = 0

    def node(self, kind: str = "task", **config: Any) -> str:
        """Add a node and return its id."""
        self.count += 1
        node_id = f"{kind[0]}{self.count}"
        self.types[node_id] = kind
        self.config[node_id] = config
        self.priority[node_id] = self.draw(st.integers(0, 2))
        return node_id

    def wire(self, source: str, target: str) -> None:
        """Add an edge."""
        self.edges.append(f"{source} -> {target}")


def _count(counts: Counts, node: str) -> int:
    occurrence = counts.get(node, 0)
    counts[node] = occurrence + 1
    return occurrence


def _once(node: str) -> Callable[[Counts], None]:
    def perform(counts: Counts) -> None:
        _count(counts, node)

    return perform


def _task(builder: _Builder, source: str, depth: int) -> Block:
    node = builder.node()
    builder.wire(source, f"{node}.in")
    return Block(f"{node}.out", _once(node))


def _gate(builder: _Builder, source: str, depth: int) -> Block:
    node = builder.node("gate", message="Go on with {in}?")
    builder.wire(source, f"{node}.in")
    return Block(f"{node}.answer", _once(node))


def _choice(builder: _Builder, source: str, depth: int) -> Block:
    router, merged = builder.node("router"), builder.node()
    builder.wire(source, f"{router}.in")
    one = _blocks(builder, f"{router}.yes", depth + 1)
    other = _blocks(builder, f"{router}.no", depth + 1)
    builder.wire(one.leaves, f"{merged}.in")
    builder.wire(other.leaves, f"{merged}.in")

    def perform(counts: Counts) -> None:
        (one if says_yes(router, _count(counts, router)) else other).perform(counts)
        _count(counts, merged)

    return Block(f"{merged}.out", perform)


def _fork(builder: _Builder, source: str, depth: int) -> Block:
    joined = builder.node()
    left = _blocks(builder, source, depth + 1)
    right = _blocks(builder, source, depth + 1)
    builder.wire(left.leaves, f"{joined}.left")
    builder.wire(right.leaves, f"{joined}.right")

    def perform(counts: Counts) -> None:
        left.perform(counts)
        right.perform(counts)
        _count(counts, joined)

    return Block(f"{joined}.out", perform)


def _for_each(builder: _Builder, source: str, depth: int) -> Block:
    items, length = builder.draw(st.sampled_from(LISTS))
    lists, loop = builder.node("value", value=items), builder.node("for_each")
    # The wire that orders the loop carries nothing; the items come from beside it.
    builder.wire(f"{lists}.value", f"{loop}.items")
    builder.wire(source, f"{loop}.after")
    body = _blocks(builder, f"{loop}.current_item", depth + 1)
    builder.wire(body.leaves, f"{loop}.loop_back")

    def perform(counts: Counts) -> None:
        counts[lists] = 1
        for _ in range(length):
            _count(counts, loop)
            body.perform(counts)
        _count(counts, loop)

    return Block(f"{loop}.collected_results", perform)


def _repeat(builder: _Builder, source: str, depth: int) -> Block:
    most = builder.draw(st.integers(1, 3))
    head, tail = builder.node("task", maxRounds=most), builder.node("router")
    builder.wire(source, f"{head}.in")
    body = _blocks(builder, f"{head}.out", depth + 1)
    builder.wire(body.leaves, f"{tail}.in")
    builder.wire(f"{tail}.yes", f"{head}.loop_back")

    def perform(counts: Counts) -> None:
        for _ in range(most):
            _count(counts, head)
            body.perform(counts)
            if not says_yes(tail, _count(counts, tail)):
                return
        raise Stuck

    return Block(f"{tail}.no", perform)


def _caught(builder: _Builder, source: str, depth: int) -> Block:
    risky, handler, after = builder.node("patient"), builder.node(), builder.node()
    builder.wire(source, f"{risky}.in")
    builder.wire(f"{risky}.error", f"{handler}.in")
    builder.wire(f"{risky}.out", f"{after}.in")
    builder.wire(f"{handler}.out", f"{after}.in")

    def perform(counts: Counts) -> None:
        if fails(risky, _count(counts, risky)):
            _count(counts, handler)
        _count(counts, after)

    return Block(f"{after}.out", perform)


LISTS: list[tuple[Any, int]] = [
    ([], 0),
    (["a"], 1),
    (["a", "b"], 2),
    ([1, None, [2]], 3),
    ("single", 1),
]
"""Items of a loop, and how many rounds they are."""

_Maker = Callable[[_Builder, str, int], Block]
_LEAVES: list[_Maker] = [_task, _task, _gate]
_NESTED: list[_Maker] = [_choice, _fork, _for_each, _for_each, _repeat, _caught]


def _blocks(builder: _Builder, source: str, depth: int) -> Block:
    kinds = [*_LEAVES, *_NESTED] if depth < 3 else _LEAVES
    chosen = builder.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    made: list[Block] = []
    for maker in chosen:
        made.append(maker(builder, made[-1].leaves if made else source, depth))

    def perform(counts: Counts) -> None:
        for block in made:
            block.perform(counts)

    return Block(made[-1].leaves, perform)


@st.composite
def programs(draw: DrawFn) -> Program:
    """Graphs nested like programs: choices, forks, gates, and loops in loops."""
    builder = _Builder(draw)
    first = builder.node("value", value="go")
    whole = _blocks(builder, f"{first}.value", 0)
    builder.wire(whole.leaves, "last.in")

    def perform(counts: Counts) -> None:
        counts[first] = 1
        # Lists that stand by themselves are brought in at the start, whatever needs them.
        counts.update({node: 1 for node, kind in builder.types.items() if kind == "value"})
        whole.perform(counts)
        _count(counts, "last")

    built = graph(
        *builder.edges, types=builder.types, config=builder.config, priority=builder.priority
    )
    return Program(built, perform)


def nested_graphs() -> st.SearchStrategy[Graph]:
    """The graphs of :func:`programs`."""
    return programs().map(lambda program: program.graph)


@st.composite
def tangled_graphs(draw: DrawFn) -> Graph:
    """Graphs of any shape: forward edges at random, loopback edges at random."""
    size = draw(st.integers(2, 7))
    kinds = ["task", "task", "router", "for_each", "gate", "patient"]
    types = {f"n{index}": draw(st.sampled_from(kinds)) for index in range(size)}
    edges: dict[str, None] = {}
    for _ in range(draw(st.integers(size, 12))):
        low = draw(st.integers(0, size - 2))
        high = draw(st.integers(low + 1, size - 1))
        port = draw(st.sampled_from([*_ports(types[f"n{low}"]), "trigger", "error"]))
        into = draw(st.sampled_from(["in", "in", "in", "in", "items", "trigger"]))
        edges[f"n{low}.{port} -> n{high}.{into}"] = None
    for _ in range(draw(st.integers(0, 4))):
        high = draw(st.integers(0, size - 1))
        low = draw(st.integers(0, high))
        port = draw(st.sampled_from([*_ports(types[f"n{high}"]), "trigger", "error"]))
        edges[f"n{high}.{port} -> n{low}.loop_back"] = None
    rounds = {node: {"maxRounds": draw(st.integers(1, 3)), "items": ["x", "y"]} for node in types}
    return graph(*edges, types=types, config=rounds, alone=list(types))


def _ports(kind: str) -> list[str]:
    named = {
        "router": ["yes", "no"],
        "for_each": ["current_item", "collected_results"],
        "gate": ["answer", "approve"],
    }
    return named.get(kind, ["out", "other"])


def says_yes(node_id: str, occurrence: int) -> bool:
    """Return whether an execution of a router takes its branch ``yes``."""
    return zlib.crc32(f"{node_id}/{occurrence}".encode()) % 2 == 1


def fails(node_id: str, occurrence: int) -> bool:
    """Return whether an execution of a node that may fail does."""
    return zlib.crc32(f"{occurrence}/{node_id}".encode()) % 2 == 1


def behaviours(built: Graph) -> dict[str, Node]:
    """Return what each effect of a generated graph does: a function of node and occurrence."""
    return {node.id: _behaviour(node.id, node.type) for node in built.nodes}


def _behaviour(node_id: str, kind: str) -> Node:
    def behave(inputs: JsonObject, occurrence: int) -> JsonObject | NodeFailureReport:
        if kind == "patient" and fails(node_id, occurrence):
            return NodeFailureReport(message=f"{node_id} cannot")
        if kind == "router":
            return {"active_branches": ["yes" if says_yes(node_id, occurrence) else "no"]}
        update: JsonObject = {"data": {node_id: occurrence}} if occurrence % 3 == 0 else {}
        return {"out": [node_id, occurrence], "seen": inputs, "state_update": update}

    return behave


def shuffled(built: Graph, order: list[int]) -> Graph:
    """Return the same graph with its nodes and edges listed in another order."""
    nodes = sorted(built.nodes, key=lambda node: order[zlib.crc32(node.id.encode()) % len(order)])
    edges = sorted(built.edges, key=lambda edge: order[zlib.crc32(str(edge).encode()) % len(order)])
    return Graph(id=built.id, nodes=tuple(nodes), edges=tuple(edges))
