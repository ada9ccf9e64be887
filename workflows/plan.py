"""What the scheduler looks up of a graph, computed once when a run starts or is restored."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from seeding.model import Json
from workflows.graph.builtin_types import max_retries, max_rounds
from workflows.graph.model import (
    ERROR_PORT,
    LOOP_BACK_PORT,
    TRIGGER_PORT,
    Edge,
    Node,
    NodeType,
    ResolvedGraph,
)
from workflows.loops import ITERATING_TYPES, LoopPlan, plan_loops
from workflows.reachability import Reachability, find_reachability

CLOSING_PORTS = ("collected_results", "completed")
"""Ports of a ``for_each`` that are followed on its closing execution only."""


@dataclass(frozen=True)
class NodePlan:
    """One node with its edges, sorted by what they mean to it.

    Attributes:
        loops: Keys of the loops it is in, outermost first.
        ports: Incoming data edges by port: the ports that are *fed* (DATA-4).
        triggers: Incoming trigger edges.
        errors: Incoming error edges.
        returns: Incoming loopback edges.
        outgoing: Outgoing edges that create a dependency.
        loopbacks: Outgoing loopback edges, outermost loop first.
        branches: Its branch ports as :func:`branch_name` writes them.
        passing: Branch ports with an edge that carries a value.
        routes_errors: Whether a node-level failure of it has somewhere to go (ERR-7).
        max_rounds: Rounds it may run as a loop's head; None is no limit (SG-7).
        max_retries: Retries it may have over the whole run (ERR-11).
        hidden: Output ports that are neither recorded nor delivered (DATA-8).
    """

    node: Node
    type: NodeType
    loops: tuple[str, ...]
    ports: tuple[tuple[str, tuple[Edge, ...]], ...]
    triggers: tuple[Edge, ...]
    errors: tuple[Edge, ...]
    returns: tuple[Edge, ...]
    outgoing: tuple[Edge, ...]
    loopbacks: tuple[Edge, ...]
    branches: frozenset[str]
    passing: tuple[str, ...]
    routes_errors: bool
    max_rounds: int | None
    max_retries: int
    hidden: tuple[str, ...]

    @property
    def iterates(self) -> bool:
        """Whether this is a ``for_each``."""
        return self.node.type in ITERATING_TYPES

    @property
    def depends(self) -> bool:
        """Whether it waits for anything; a node that does not is ready at the start (DATA-5)."""
        return bool(self.ports or self.triggers or self.errors)

    @property
    def rank(self) -> tuple[int, str]:
        """Order among nodes that become ready together (ORC-9)."""
        return (self.node.priority, self.node.id)


@dataclass(frozen=True)
class Plan:
    """A resolved graph with its loops; ``nodes`` leaves out what executes nothing."""

    resolved: ResolvedGraph
    loops: LoopPlan
    nodes: Mapping[str, NodePlan]

    @cached_property
    def reachability(self) -> Reachability:
        """What each node leads to, watching the nodes that rounds can hold back (SG-20)."""
        graph = self.resolved.graph
        following = {
            node_id: [edge.target for edge in graph.outgoing[node_id] if edge.kind != "tool"]
            for node_id in sorted(graph.by_id)
        }
        watched = [node_id for node_id, node in self.nodes.items() if self._may_be_held(node)]
        return find_reachability(following, watched)

    def _may_be_held(self, node: NodePlan) -> bool:
        """Return whether two data ports of a node are fed from within one of its loops."""
        fed = [
            {key for edge in edges for key in self.nodes[edge.source].loops}
            for _, edges in node.ports
        ]
        return not node.triggers and any(
            sum(key in sources for sources in fed) > 1 for key in node.loops
        )


def make_plan(resolved: ResolvedGraph) -> Plan:
    """Return the plan of a resolved graph, a function of its content and not of its order."""
    graph = resolved.graph
    active = {
        node.id: node
        for node in sorted(graph.nodes, key=lambda node: node.id)
        if resolved.types[node.type].kind != "ignored"
    }
    loops = plan_loops(graph)
    nodes = {node_id: _node_plan(resolved, loops, node, active) for node_id, node in active.items()}
    return Plan(resolved=resolved, loops=loops, nodes=nodes)


def leaves_error(edge: Edge) -> bool:
    """Return whether ``edge`` is followed by a routed failure and by nothing else (ERR-10)."""
    return edge.kind == "error" or edge.source_port == ERROR_PORT


def carries_value(edge: Edge, target_iterates: bool) -> bool:
    """Return whether ``edge`` delivers a value to its target's port (DATA-3, SG-5).

    Trigger and tool edges carry none. A loopback edge into ``loop_back`` is a bare re-entry
    signal, except at a ``for_each``, where it stands in for an absent ``item_result``.
    """
    if edge.kind in ("trigger", "tool") or edge.target_port == TRIGGER_PORT:
        return False
    return edge.kind != "loopback" or edge.target_port != LOOP_BACK_PORT or target_iterates


def branch_name(value: Json) -> str | None:
    """Return a branch name as it is compared, trimmed and lower-case, or None if it is none."""
    return value.strip().lower() or None if isinstance(value, str) else None


def _node_plan(
    resolved: ResolvedGraph, loops: LoopPlan, node: Node, active: Mapping[str, Node]
) -> NodePlan:
    graph = resolved.graph
    outer_first = {loop.key: rank for rank, loop in enumerate(loops.loops)}
    incoming = [e for e in graph.incoming[node.id] if e.source in active and e.kind != "tool"]
    outgoing = [e for e in graph.outgoing[node.id] if e.target in active and e.kind != "tool"]
    forward = [edge for edge in incoming if edge.kind != "loopback"]
    ports: dict[str, tuple[Edge, ...]] = {}
    for edge in forward:
        if edge.kind == "data" and not leaves_error(edge):
            ports[edge.target_port] = (*ports.get(edge.target_port, ()), edge)
    back = [edge for edge in outgoing if edge.kind == "loopback"]
    back.sort(key=lambda edge: outer_first[loops.of_head[edge.target].key])
    carrying = [e for e in outgoing if carries_value(e, active[e.target].type in ITERATING_TYPES)]
    branches = resolved.branch_ports(node.id)
    names = frozenset(name for name in map(branch_name, branches) if name)
    hidden = resolved.hidden_ports(node.id)
    passing = dict.fromkeys(
        edge.source_port
        for edge in carrying
        if branch_name(edge.source_port) in names and edge.source_port not in hidden
    )
    return NodePlan(
        node=node,
        type=resolved.types[node.type],
        loops=loops.of_node.get(node.id, ()),
        ports=tuple(sorted(ports.items())),
        triggers=tuple(e for e in forward if e.kind == "trigger" and not leaves_error(e)),
        errors=tuple(e for e in forward if leaves_error(e)),
        returns=tuple(e for e in incoming if e.kind == "loopback"),
        outgoing=tuple(e for e in outgoing if e.kind != "loopback"),
        loopbacks=tuple(back),
        branches=names,
        passing=tuple(passing),
        routes_errors=any(leaves_error(edge) for edge in outgoing),
        max_rounds=max_rounds(node) if node.id in loops.of_head else None,
        max_retries=max_retries(node, resolved.types[node.type]),
        hidden=hidden,
    )
