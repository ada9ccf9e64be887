"""The loops of a graph by their definition (SG-16, SG-18, SG-19), without any bookkeeping."""

from dataclasses import dataclass

from workflows.graph.model import Edge, Graph

ITERATING = ("for_each", "foreach")
Stamp = dict[str, int]


@dataclass(frozen=True)
class ModelLoop:
    """One loop: what its rounds are counted under, its heads, and the nodes of its rounds."""

    key: str
    heads: tuple[str, ...]
    body: frozenset[str]


@dataclass(frozen=True)
class _Group:
    """Bodies that count as one; ``origins`` are the bodies it came from, by head."""

    body: frozenset[str]
    origins: tuple[tuple[str, frozenset[str]], ...]


def is_forward(edge: Edge) -> bool:
    """Whether an edge makes its target depend on its source (DATA-5)."""
    return edge.kind not in ("loopback", "tool")


def nodes_from(starts: list[str], edges: list[Edge]) -> frozenset[str]:
    """Return what can be reached from some nodes over ``edges``, themselves included."""
    found = set(starts)
    while True:
        more = {edge.target for edge in edges if edge.source in found} - found
        if not more:
            return frozenset(found)
        found |= more


def nodes_to(ends: list[str], edges: list[Edge]) -> frozenset[str]:
    """Return what can reach some nodes over ``edges``, themselves included."""
    found = set(ends)
    while True:
        more = {edge.source for edge in edges if edge.target in found} - found
        if not more:
            return frozenset(found)
        found |= more


def find_loops(graph: Graph) -> tuple[ModelLoop, ...]:
    """Return the loops of a graph, outermost first: larger bodies, then by key."""
    forward = [edge for edge in graph.edges if is_forward(edge)]
    bodies: dict[str, frozenset[str]] = {}
    for edge in graph.edges:
        if edge.kind != "loopback":
            continue
        head, tail = edge.target, edge.source
        body = nodes_from([head], forward) & nodes_to([tail], forward)
        bodies[head] = bodies.get(head, frozenset()) | (body or {head})
    groups = [
        _Group(body, ((head, body),))
        for head, body in sorted(_with_iterations_inside(graph, bodies).items())
    ]
    while any(_meet(one, other) for one in groups for other in groups if one is not other):
        groups = _merged(groups)
    loops = [_loop(group) for group in groups]
    return tuple(sorted(loops, key=lambda loop: (-len(loop.body), loop.key)))


def is_behind(source: Stamp, consumer: Stamp) -> bool:
    """Whether a stamp is a round behind another; loops that only one is in do not count."""
    shared = [key for key in consumer if key in source]
    return [source[key] for key in shared] < [consumer[key] for key in shared]


def _with_iterations_inside(
    graph: Graph, bodies: dict[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """Let every loop around a ``for_each`` hold that one's whole body."""
    grown = dict(bodies)
    while True:
        before = dict(grown)
        for outer in grown:
            for inner in grown:
                iterates = graph.by_id[inner].type in ITERATING
                if iterates and inner in grown[outer] and outer not in grown[inner]:
                    grown[outer] = grown[outer] | grown[inner]
        if grown == before:
            return grown


def _meet(one: _Group, other: _Group) -> bool:
    """Whether two bodies have nodes in common and neither is a strict part of the other."""
    nested = one.body < other.body or other.body < one.body
    return bool(one.body & other.body) and not nested


def _merged(groups: list[_Group]) -> list[_Group]:
    """Unite each group with all that it meets, and with all that those meet, at once."""
    left, united = list(groups), list[_Group]()
    while left:
        together = [left.pop(0)]
        while True:
            more = [group for group in left if any(_meet(group, member) for member in together)]
            if not more:
                break
            together += more
            left = [group for group in left if group not in more]
        body = frozenset[str]().union(*(group.body for group in together))
        united.append(_Group(body, tuple(part for group in together for part in group.origins)))
    return united


def _loop(group: _Group) -> ModelLoop:
    key = min(group.origins, key=lambda origin: (-len(origin[1]), origin[0]))[0]
    return ModelLoop(key, tuple(sorted(head for head, _ in group.origins)), group.body)
