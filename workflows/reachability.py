"""Which parts of a graph an execution can still lead to. Pure, computed once for a plan.

Forward and loopback edges both lead on. Nodes that lead to each other form a component, so that
what can reach one of them can reach them all; a component is one bit of a number, and so "can
anything still get there?" costs a few operations on whole numbers, however large the graph is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Reachability:
    """What each node leads to.

    Attributes:
        groups: The watched nodes by component, in order of their ids; those of ``groups[n]``
            are what bit ``n`` stands for. Components without a watched node have no bit.
        bits: For each node the bits of all groups it leads to, its own included.
    """

    groups: tuple[tuple[str, ...], ...]
    bits: Mapping[str, int]

    @property
    def every_bit(self) -> int:
        """The bits of all groups."""
        return (1 << len(self.groups)) - 1

    def watched(self, bits: int) -> tuple[str, ...]:
        """Return the watched nodes that some bits stand for."""
        return tuple(
            node_id
            for number, group in enumerate(self.groups)
            if bits >> number & 1
            for node_id in group
        )


def find_reachability(
    following: Mapping[str, Sequence[str]], watched: Sequence[str]
) -> Reachability:
    """Return what each node of a graph leads to.

    Args:
        following: The nodes that each node's edges lead to; every node is a key.
        watched: The nodes somebody will ask about; without any, no node has a bit.
    """
    if not watched:
        return Reachability(groups=(), bits=dict.fromkeys(following, 0))
    asked = frozenset(watched)
    groups: list[tuple[str, ...]] = []
    bits: dict[str, int] = {}
    for component in _components(following):
        # Components come after all that they lead to, whose bits are known by now.
        found = 0
        for node_id in component:
            for target in following[node_id]:
                found |= bits.get(target, 0)
        group = tuple(sorted(node_id for node_id in component if node_id in asked))
        if group:
            found |= 1 << len(groups)
            groups.append(group)
        bits.update(dict.fromkeys(component, found))
    return Reachability(groups=tuple(groups), bits=bits)


def _components(following: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the strongly connected components, each after those that it leads to.

    Two searches (Kosaraju): the components are the trees of a search against the edges that
    takes the nodes in the reverse of the order in which a first search left them.
    """
    leading: dict[str, list[str]] = {node_id: [] for node_id in following}
    for node_id, targets in following.items():
        for target in targets:
            leading[target].append(node_id)
    found: list[tuple[str, ...]] = []
    seen: dict[str, None] = {}
    for start in reversed(_left_in_order(following)):
        if start in seen:
            continue
        seen[start] = None
        component = [start]
        for node_id in component:
            for before in leading[node_id]:
                if before not in seen:
                    seen[before] = None
                    component.append(before)
        found.append(tuple(component))
    found.reverse()
    return found


def _left_in_order(following: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the nodes in the order in which a depth-first search leaves them."""
    left: list[str] = []
    seen: dict[str, None] = {}
    for start in following:
        if start in seen:
            continue
        seen[start] = None
        path = [(start, iter(following[start]))]
        while path:
            node_id, targets = path[-1]
            entered = next((target for target in targets if target not in seen), None)
            if entered is None:
                left.append(node_id)
                path.pop()
            else:
                seen[entered] = None
                path.append((entered, iter(following[entered])))
    return left
