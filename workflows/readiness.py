"""When a node may run, and which values it then gets (DATA-1..5, BR-1..6, SG-19, ERR-10).

Everything here looks at the newest execution of each source: an older one is superseded and
satisfies nothing, also while the newest is still running.
"""

from collections.abc import Iterator, Mapping
from typing import cast

from seeding.model import Json
from workflows.graph.model import Edge
from workflows.loops import Stamp, is_behind
from workflows.plan import (
    CLOSING_PORTS,
    NodePlan,
    Plan,
    branch_name,
    carries_value,
    leaves_error,
)
from workflows.position import NodeRecord, Recorded, Reference


def read_active_branches(value: Json) -> tuple[str, ...]:
    """Return the active branch ports of an ``active_branches`` output, as they are compared.

    A bare string is one name and never split; what is no string counts for nothing (BR-3).
    """
    listed = cast(list[Json], value) if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(name for name in map(branch_name, listed) if name))


def is_followed(plan: Plan, edge: Edge, record: NodeRecord) -> bool:
    """Return whether the newest completion of its source follows ``edge``.

    A routed failure follows its error edges and nothing else (ERR-10); a success follows every
    edge that leaves no inactive branch port.
    """
    if leaves_error(edge):
        return record.status == "routed"
    return record.status == "completed" and is_open(plan, edge, record)


def is_open(plan: Plan, edge: Edge, record: NodeRecord) -> bool:
    """Return whether the port that ``edge`` leaves is not gated off.

    Only a declared branch port of a source with a non-empty active list is ever gated (BR-1,
    BR-2). A port of a ``for_each`` that is no branch counts as a round port towards its body
    and as a closing port towards everything else, so that the body never sees the closing and
    what follows the loop runs once.
    """
    source = plan.nodes[edge.source]
    name = branch_name(edge.source_port)
    if name in source.branches:
        return not record.active or name in record.active
    loop = plan.loops.of_head.get(edge.source)
    if not source.iterates or loop is None:
        return True
    closing = CLOSING_PORTS[0] in record.active
    return (loop.key in plan.nodes[edge.target].loops) != closing


def is_satisfied(
    plan: Plan, nodes: Mapping[str, NodeRecord], edge: Edge, stamp: Mapping[str, int]
) -> bool:
    """Return whether ``edge`` is satisfied for an execution of its target stamped ``stamp``."""
    record = nodes.get(edge.source)
    return (
        record is not None
        and is_followed(plan, edge, record)
        and not is_behind(record.stamp, stamp, plan.nodes[edge.target].loops)
    )


def is_ready(
    plan: Plan, nodes: Mapping[str, NodeRecord], node: NodePlan, stamp: Mapping[str, int]
) -> bool:
    """Return whether ``node`` may run in the round ``stamp`` (DATA-4).

    Any satisfied error edge suffices (ERR-10), and any satisfied trigger edge, whatever the data
    ports hold. A node without trigger edges needs one satisfied edge at each fed data port.
    """
    if any(is_satisfied(plan, nodes, edge, stamp) for edge in (*node.errors, *node.triggers)):
        return True
    if node.triggers or not node.ports:
        return False
    return all(
        any(is_satisfied(plan, nodes, edge, stamp) for edge in edges) for _, edges in node.ports
    )


def find_sources(
    plan: Plan,
    nodes: Mapping[str, NodeRecord],
    outputs: Mapping[tuple[str, int], Recorded],
    node: NodePlan,
    stamp: Stamp,
    *,
    reentry: bool,
) -> dict[str, Reference]:
    """Return where the value of each wired port of an execution comes from.

    A port fed by several sources takes the newest execution's value (DATA-2); a source that
    completed without the port's key delivers nothing there (DATA-1).
    """
    newest: dict[str, tuple[int, Reference]] = {}
    for edge, at in _delivering(plan, node, stamp, reentry=reentry):
        if not is_satisfied(plan, nodes, edge, at):
            continue
        record = nodes[edge.source]
        held = outputs.get((edge.source, record.occurrence))
        if held is None or not held.holds(edge.source_port):
            continue
        best = newest.get(edge.target_port)
        if best is None or record.order > best[0]:
            found = Reference(
                kind="output",
                node_id=edge.source,
                occurrence=record.occurrence,
                port=edge.source_port,
            )
            newest[edge.target_port] = (record.order, found)
    return {port: newest[port][1] for port in sorted(newest)}


def _delivering(
    plan: Plan, node: NodePlan, stamp: Stamp, *, reentry: bool
) -> Iterator[tuple[Edge, Stamp]]:
    """Yield the edges that may deliver a value, each with the round it is judged in."""
    for _, edges in node.ports:
        for edge in edges:
            if carries_value(edge, node.iterates):
                yield edge, stamp
    for edge in node.errors:
        if carries_value(edge, node.iterates):
            yield edge, stamp
    if reentry:
        # What comes back was made in the round that has just ended.
        key = plan.loops.of_head[node.node.id].key
        ended = {**stamp, key: stamp[key] - 1}
        for edge in node.returns:
            if carries_value(edge, node.iterates):
                yield edge, ended
