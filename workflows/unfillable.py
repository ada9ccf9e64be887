"""A data port that nothing can fill any more ends its node as a failure (SG-20).

A node is *held back by rounds* on a port while no edge into the port is satisfied, a source of
it has completed and was followed but is a round behind (SG-19), and another port was filled by an
execution of this round. "This round" is that of the innermost loop that the node shares with the
source that is behind, because the port is behind there: what an outer loop delivered, or a loop
that closed, makes no conditional arm of an inner loop a failure. The node waits for that source
until nothing can lead there any more, and then fails in its turn like any other node.

When nothing leads there is told by the node itself. The nodes of a loop lead to each other over
forward and loopback edges, and whatever else feeds the port leads to the node: an execution can
reach a source of the port exactly if it can reach the node. So a node that is held back ends its
wait in the step in which the last execution that leads to it ends without a follower that leads
there too, and no other step has to look.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workflows.completion import Completion, NodeFailureReport
from workflows.draft import Draft
from workflows.graph.model import Edge
from workflows.loops import Stamp, is_behind
from workflows.plan import NodePlan, Plan
from workflows.position import Execution, NodeRecord, Unfillable
from workflows.readiness import is_followed, is_satisfied

CODE = "unfillable_port"
"""The code of the failure."""


def release_held(draft: Draft, ended: Execution) -> None:
    """Dispatch the next node that waits for a port nothing can fill any more, if there is one.

    One at a time, so that each failure leads to what it leads to before the next one comes:
    while one is due no other is looked for, and its completion looks at all of them.

    Args:
        draft: The step, with all that it dispatches due.
        ended: The execution whose completion makes the step.
    """
    reachability = draft.plan.reachability
    lost = reachability.every_bit if ended.unfillable else reachability.bits[ended.node_id]
    for execution in draft.executions.values():
        if not lost or execution.unfillable:
            return
        lost &= ~reachability.bits[execution.node_id]
    if not lost or draft.verdict is not None:
        return
    held = _held_nodes(draft, reachability.watched(lost))
    if held:
        first = _first(draft.plan, held)
        node_id = first.node.node.id
        draft.request(node_id, first.stamp, reentry=False, unfillable=first.told(draft))
        draft.dispatch()


def unfillable_completion(execution: Execution, unfillable: Unfillable) -> Completion:
    """Return the end of an execution that was dispatched because of an unfillable port."""
    names = ", ".join(repr(source) for source in unfillable.sources)
    plural = "s" if len(unfillable.sources) > 1 else ""
    reason = (
        f", because gateway {unfillable.gateway!r} led elsewhere"
        if unfillable.gateway is not None
        else ""
    )
    failure = NodeFailureReport(
        code=CODE,
        message=f"node {execution.node_id!r}: nothing can fill port {unfillable.port!r} any more "
        f"in round {unfillable.round} of loop {unfillable.loop!r}: its source{plural} {names} "
        f"did not run in this round{reason}; feed the port on every way through the loop, or "
        "give the node an error edge",
        details=unfillable.model_dump(mode="json", by_alias=True, exclude_none=True),
    )
    return Completion(node_id=execution.node_id, occurrence=execution.occurrence, failure=failure)


@dataclass(frozen=True)
class _Held:
    """A node that is held back, and the port that holds it.

    Attributes:
        node: The node.
        stamp: The round it waits in.
        port: The port without a value of this round.
        key: The innermost loop it shares with a source that is behind.
        sources: All sources of the port in that loop, in order.
    """

    node: NodePlan
    stamp: Stamp
    port: str
    key: str
    sources: tuple[str, ...]

    def told(self, draft: Draft) -> Unfillable:
        """Return what its failure says."""
        return Unfillable(
            port=self.port,
            round=self.stamp[self.key],
            loop=self.key,
            sources=self.sources,
            gateway=_find_gateway(draft, self),
        )


def _held_nodes(draft: Draft, watched: tuple[str, ...]) -> list[_Held]:
    stamps: dict[tuple[str, ...], Stamp] = {}
    held: list[_Held] = []
    for node_id in watched:
        node, record = draft.plan.nodes[node_id], draft.nodes.get(node_id)
        stamp = stamps.get(node.loops)
        if stamp is None:
            stamp = stamps[node.loops] = draft.stamp(node)
        if record is not None and record.stamp == stamp:
            continue
        found = _held_port(draft, node, stamp)
        if found is not None:
            held.append(found)
    return held


def _held_port(draft: Draft, node: NodePlan, stamp: Stamp) -> _Held | None:
    """Return the first port, in order of names, that holds a node back; None if none does.

    Every fed port of such a node is filled or has a followed source that is behind. A port whose
    sources never delivered, or chose another branch, makes the node an ordinary skip.
    """
    plan, nodes = draft.plan, draft.nodes
    filled: dict[str, None] = {}
    waiting: list[tuple[str, tuple[Edge, ...], str]] = []
    for port, edges in node.ports:
        satisfied = [edge for edge in edges if is_satisfied(plan, nodes, edge, stamp)]
        for edge in satisfied:
            filled.update(dict.fromkeys(plan.nodes[edge.source].loops))
        if not satisfied:
            late = [edge for edge in edges if _is_late(plan, nodes, edge, stamp)]
            if not late:
                return None
            waiting.append((port, edges, _innermost(plan, node, late)))
    if any(is_satisfied(plan, nodes, edge, stamp) for edge in node.errors):
        return None
    for port, edges, key in waiting:
        if key in filled:
            inside = [edge.source for edge in edges if key in plan.nodes[edge.source].loops]
            return _Held(node, stamp, port, key, tuple(sorted(dict.fromkeys(inside))))
    return None


def _is_late(plan: Plan, nodes: Mapping[str, NodeRecord], edge: Edge, stamp: Stamp) -> bool:
    record = nodes.get(edge.source)
    return (
        record is not None
        and is_followed(plan, edge, record)
        and is_behind(record.stamp, stamp, plan.nodes[edge.target].loops)
    )


def _innermost(plan: Plan, node: NodePlan, late: list[Edge]) -> str:
    shared = [key for edge in late for key in plan.nodes[edge.source].loops]
    return max((key for key in node.loops if key in shared), key=node.loops.index)


def _first(plan: Plan, held: list[_Held]) -> _Held:
    """Return the node that fails first: nothing it waits for can follow from another failure.

    Of those the first by priority and id. Among nodes that lead to each other, as those of one
    loop do, what counts is who comes first within the round: only forward edges lead on.
    """
    ordered = sorted(held, key=lambda found: found.node.rank)
    return next(found for found in ordered if not _is_preceded(plan, found, ordered))


def _is_preceded(plan: Plan, found: _Held, held: list[_Held]) -> bool:
    bits = plan.reachability.bits
    own = bits[found.node.node.id]
    # A component's own bit is the highest one of those that it leads to.
    highest = own.bit_length() - 1
    above = frozenset(one for source in found.sources for one in plan.loops.reaching(source))
    for other in held:
        other_id = other.node.node.id
        if bits[other_id] == own:
            if other is not found and other_id in above:
                return True
        elif bits[other_id] >> highest & 1:
            return True
    return False


def _find_gateway(draft: Draft, held: _Held) -> str | None:
    """Return the nearest node whose completion in this round led away from the port's sources.

    It has branch ports, is no source of the port itself, and followed no edge that leads on to
    a source within the loop; nearest is fewest edges from a source, then the smallest id.
    """
    plan, distance = draft.plan, _distances(draft.plan, held)
    for node_id in sorted(distance, key=lambda node_id: (distance[node_id], node_id)):
        node, record = plan.nodes[node_id], draft.nodes.get(node_id)
        if not node.branches or node_id in held.sources or record is None or not record.delivers:
            continue
        if is_behind(record.stamp, held.stamp, held.node.loops):
            continue
        leading = [edge for edge in node.outgoing if edge.target in distance]
        if not any(is_followed(plan, edge, record) for edge in leading):
            return node_id
    return None


def _distances(plan: Plan, held: _Held) -> dict[str, int]:
    """Return how many forward edges lead from each node of the loop to the nearest source."""
    distance = dict.fromkeys(held.sources, 0)
    reached = list(held.sources)
    for node_id in reached:
        for before in _before(plan.nodes[node_id]):
            if before not in distance and held.key in plan.nodes[before].loops:
                distance[before] = distance[node_id] + 1
                reached.append(before)
    return distance


def _before(node: NodePlan) -> Iterator[str]:
    for _, edges in node.ports:
        yield from (edge.source for edge in edges)
    yield from (edge.source for edge in (*node.triggers, *node.errors))
