"""The loops of a graph: their bodies, how they nest, and who is a round behind.

A loop is made by a loopback edge from a tail S to a head H. Everything here is computed once
from the pinned graph and never changes while a run lives (SG-17).
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from seeding.model import Model
from workflows.graph.model import Edge, Graph

ITERATING_TYPES = ("for_each", "foreach")
"""Types whose re-entries follow an iterator instead of a number of rounds (SG-4)."""

Stamp = dict[str, int]
"""The round of every loop an execution is in, by the loop's key; ``{}`` outside all loops."""


class Loop(Model):
    """One loop after merging.

    Attributes:
        key: What its rounds are counted under: the head of the largest original body.
        heads: The heads of the loopback edges that belong to it, in order of their ids.
        body: The nodes that take part in its rounds, in order of their ids.
    """

    key: str
    heads: tuple[str, ...]
    body: tuple[str, ...]


class LoopPlan(Model):
    """Every loop of a graph, outermost first.

    ``diagnostics`` names merged loops and loopback edges that close no cycle; they concern the
    author of the graph, never a run (SG-18).
    """

    graph: Graph
    loops: tuple[Loop, ...]
    diagnostics: tuple[str, ...] = ()

    @cached_property
    def of_node(self) -> Mapping[str, tuple[str, ...]]:
        """Keys of the loops each node is in, outermost first; nodes in none are missing."""
        found: dict[str, tuple[str, ...]] = {}
        for loop in self.loops:
            for node in loop.body:
                found[node] = (*found.get(node, ()), loop.key)
        return found

    @cached_property
    def of_head(self) -> Mapping[str, Loop]:
        """The loop each head re-enters."""
        return {head: loop for loop in self.loops for head in loop.heads}

    @cached_property
    def of_key(self) -> Mapping[str, Loop]:
        """Each loop by what its rounds are counted under."""
        return {loop.key: loop for loop in self.loops}

    @cached_property
    def inside(self) -> Mapping[str, tuple[str, ...]]:
        """Keys of the loops nested in each loop, outermost first."""
        of_node = self.of_node
        found: dict[str, tuple[str, ...]] = {loop.key: () for loop in self.loops}
        for loop in self.loops:
            chain = of_node[loop.key]
            for outer in chain[: chain.index(loop.key)]:
                found[outer] = (*found[outer], loop.key)
        return found

    def reaching(self, node_id: str) -> tuple[str, ...]:
        """Return everything that can reach a node over forward edges, itself included (SG-17).

        The answer is not limited to the node's loop and is in order of ids.
        """
        return tuple(sorted(_reach(node_id, self._backward)))

    @cached_property
    def _backward(self) -> Mapping[str, tuple[str, ...]]:
        return _neighbours(self.graph).backward


def is_behind(source: Mapping[str, int], consumer: Mapping[str, int], loops: Sequence[str]) -> bool:
    """Return whether an execution stamped ``source`` is a round behind ``consumer`` (SG-19).

    Only loops that both are in count, compared lexicographically; without a shared loop nobody
    is ever behind.

    Args:
        source: Stamp of the execution that completed.
        consumer: Stamp of the execution that would use it.
        loops: The order of comparison, outermost first.
    """
    for key in loops:
        if key in source and key in consumer and source[key] != consumer[key]:
            return source[key] < consumer[key]
    return False


def plan_loops(graph: Graph) -> LoopPlan:
    """Return the loops of ``graph`` (SG-16, SG-18); independent of the document's order.

    The body of H and S is ({H} and all below H) and ({S} and all above S) over forward edges,
    united over the loopback edges of one head; a tail that is not below its head leaves {H}.
    Bodies that overlap or are identical merge, strict subsets stay loops of their own.

    A loop that holds a ``for_each`` but is not inside that one's loop holds its whole body: the
    rounds run between the entry and the closing of one execution around them. By the formula
    alone such a body, which ends in a loopback edge and nowhere else, would overlap with every
    loop around it, and loops in loops would count as one.
    """
    neighbours = _neighbours(graph)
    bodies: dict[str, frozenset[str]] = {}
    diagnostics: list[str] = []
    for edge in _loopbacks(graph):
        body = _body(edge, neighbours)
        if body is None:
            diagnostics.append(
                f"loopback {edge} closes no cycle: {edge.source!r} is not below {edge.target!r}"
            )
            body = frozenset((edge.target,))
        bodies[edge.target] = bodies.get(edge.target, frozenset()) | body
    _enclose_iterations(graph, bodies)
    drafts = [_Draft(body, (head,), (-len(body), head)) for head, body in sorted(bodies.items())]
    merged = _merge_until_stable(drafts, diagnostics)
    loops = [
        Loop(key=draft.rank[1], heads=tuple(sorted(draft.heads)), body=tuple(sorted(draft.body)))
        for draft in merged
    ]
    loops.sort(key=lambda loop: (-len(loop.body), loop.key))
    return LoopPlan(graph=graph, loops=tuple(loops), diagnostics=tuple(diagnostics))


def _enclose_iterations(graph: Graph, bodies: dict[str, frozenset[str]]) -> None:
    """Add the body of each ``for_each`` to the loops around it, innermost first."""
    iterating = [head for head in sorted(bodies) if graph.by_id[head].type in ITERATING_TYPES]
    grown = True
    while grown:
        grown = False
        for outer in sorted(bodies):
            for inner in iterating:
                around = inner in bodies[outer] and outer not in bodies[inner]
                if around and not bodies[inner] <= bodies[outer]:
                    bodies[outer] = bodies[outer] | bodies[inner]
                    grown = True


class _Neighbours(NamedTuple):
    forward: Mapping[str, tuple[str, ...]]
    backward: Mapping[str, tuple[str, ...]]


class _Draft(NamedTuple):
    """A loop while merging; ``rank`` orders original bodies, the largest first."""

    body: frozenset[str]
    heads: tuple[str, ...]
    rank: tuple[int, str]


def _loopbacks(graph: Graph) -> list[Edge]:
    return sorted((edge for edge in graph.edges if edge.kind == "loopback"), key=str)


def _neighbours(graph: Graph) -> _Neighbours:
    forward: dict[str, tuple[str, ...]] = {}
    backward: dict[str, tuple[str, ...]] = {}
    for edge in graph.edges:
        if edge.kind not in ("loopback", "tool"):
            forward[edge.source] = (*forward.get(edge.source, ()), edge.target)
            backward[edge.target] = (*backward.get(edge.target, ()), edge.source)
    return _Neighbours(forward, backward)


def _body(edge: Edge, neighbours: _Neighbours) -> frozenset[str] | None:
    below = _reach(edge.target, neighbours.forward)
    if edge.source not in below:
        return None
    return below & _reach(edge.source, neighbours.backward)


def _reach(start: str, neighbours: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    seen = {start}
    waiting = deque((start,))
    while waiting:
        for following in neighbours.get(waiting.popleft(), ()):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return frozenset(seen)


def _merge_until_stable(drafts: list[_Draft], diagnostics: list[str]) -> list[_Draft]:
    # Whole groups merge at once, so that the outcome does not depend on which pair comes first.
    while True:
        groups = _groups(drafts)
        if len(groups) == len(drafts):
            return drafts
        drafts = [_united(group, diagnostics) for group in groups]


def _united(group: list[_Draft], diagnostics: list[str]) -> _Draft:
    if len(group) == 1:
        return group[0]
    first = min(group, key=lambda draft: draft.rank)
    heads = tuple(sorted(head for draft in group for head in draft.heads))
    diagnostics.append(f"loops of {', '.join(heads)} overlap and count as one, {first.rank[1]!r}")
    body = frozenset(node for draft in group for node in sorted(draft.body))
    return _Draft(body, heads, first.rank)


def _groups(drafts: list[_Draft]) -> list[list[_Draft]]:
    leader = list(range(len(drafts)))

    def find(index: int) -> int:
        while leader[index] != index:
            index = leader[index]
        return index

    for left, right in _meeting(drafts):
        one, other = drafts[left].body, drafts[right].body
        if one == other or not (one < other or other < one):
            low, high = sorted((find(left), find(right)))
            leader[high] = low
    groups: dict[int, list[_Draft]] = {}
    for index, draft in enumerate(drafts):
        groups.setdefault(find(index), []).append(draft)
    return list(groups.values())


def _meeting(drafts: list[_Draft]) -> Iterable[tuple[int, int]]:
    """Yield each pair of drafts that have a node in common, once."""
    members: dict[str, list[int]] = {}
    for index, draft in enumerate(drafts):
        for node in sorted(draft.body):
            members.setdefault(node, []).append(index)
    pairs: dict[tuple[int, int], None] = {}
    for indexes in members.values():
        for position, left in enumerate(indexes):
            pairs.update(dict.fromkeys((left, right) for right in indexes[position + 1 :]))
    return pairs
