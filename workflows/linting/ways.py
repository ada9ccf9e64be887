"""What has to be chosen on the way to a node: the branches that lie between it and the entries.

A node *requires* a branch of a node above it where no way leads to it but through that branch.
Triggers and error edges are alternatives, ports have to be filled all, several wires into one
port are alternatives (DATA-4). Edges that go back are left out: they begin another round.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workflows.graph.branch_lists import BRANCHING_TYPES
from workflows.graph.model import ERROR_PORT, Edge
from workflows.loops import ITERATING_TYPES
from workflows.plan import CLOSING_PORTS, NodePlan, Plan, branch_name, leaves_error

Required = frozenset[tuple[str, str]]
"""Pairs of a node and the branch of it that has to be followed."""

CHOOSING_TYPES = (*BRANCHING_TYPES, *ITERATING_TYPES, "gate")
"""Types that follow one of their branches at a time."""

SUCCESS = "no error"
"""What a wire that leaves no branch requires of a node whose failure would go another way."""

NOTHING: Required = frozenset()


@dataclass(frozen=True)
class Ways:
    """The requirements of every node and of every wire.

    Attributes:
        of_node: What has to be chosen for a node to run.
        of_edge: What has to be chosen for a wire to be followed, its own branch included.
    """

    of_node: Mapping[str, Required]
    of_edge: Mapping[Edge, Required]


def find_ways(plan: Plan) -> Ways:
    """Return the requirements of all nodes of a plan."""
    of_node: dict[str, Required] = {}
    of_edge: dict[Edge, Required] = {}
    for node in in_order(plan):
        for edge in incoming(node):
            of_edge[edge] = of_node[edge.source] | own_choice(plan, edge)
        of_node[node.node.id] = _required(node, of_edge)
    for node in plan.nodes.values():
        for edge in node.returns:
            of_edge[edge] = of_node[edge.source] | own_choice(plan, edge)
    return Ways(of_node=of_node, of_edge=of_edge)


def own_choice(plan: Plan, edge: Edge) -> Required:
    """Return the branch of its source that ``edge`` itself leaves by, if it leaves by one."""
    source = plan.nodes[edge.source]
    if leaves_error(edge):
        return frozenset(((edge.source, ERROR_PORT),))
    name = branch_name(edge.source_port)
    if name is None or name not in source.branches:
        return frozenset(((edge.source, SUCCESS),)) if source.routes_errors else NOTHING
    if source.iterates:
        name = "closing" if name in CLOSING_PORTS else "round"
    return frozenset(((edge.source, name),))


def contradiction(plan: Plan, required: Required) -> tuple[str, str, str] | None:
    """Return a node and two branches of it that exclude each other, both of them required."""
    chosen: dict[str, str] = {}
    for node_id, name in sorted(required):
        known = chosen.setdefault(node_id, name)
        if known != name and excludes(plan, node_id, known, name):
            return node_id, known, name
    return None


def excludes(plan: Plan, node_id: str, one: str, other: str) -> bool:
    """Return whether two branches of a node are never followed by the same execution."""
    if one == other:
        return False
    return ERROR_PORT in (one, other) or plan.nodes[node_id].node.type in CHOOSING_TYPES


def incoming(node: NodePlan) -> tuple[Edge, ...]:
    """Return every edge that may make a node run, those that go back left out."""
    return (*(edge for _, edges in node.ports for edge in edges), *node.triggers, *node.errors)


def in_order(plan: Plan) -> list[NodePlan]:
    """Return the nodes so that each comes after all above it, of several the first by id."""
    left = {node_id: _sources(node) for node_id, node in plan.nodes.items()}
    below: dict[str, list[str]] = {node_id: [] for node_id in left}
    for node_id, sources in left.items():
        for source in sources:
            below[source].append(node_id)
    count = {node_id: len(sources) for node_id, sources in left.items()}
    ready = [node_id for node_id, number in count.items() if number == 0]
    ordered: list[NodePlan] = []
    while ready:
        node_id = ready.pop(0)
        ordered.append(plan.nodes[node_id])
        for following in below[node_id]:
            count[following] -= 1
            if count[following] == 0:
                ready.append(following)
    return ordered


def shared(required: Iterable[Required]) -> Required:
    """Return what all of several alternatives require; nothing where there are none."""
    found: Required | None = None
    for one in required:
        found = one if found is None else found & one
    return found or NOTHING


def _sources(node: NodePlan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(edge.source for edge in incoming(node)))


def _required(node: NodePlan, of_edge: Mapping[Edge, Required]) -> Required:
    alternatives = [of_edge[edge] for edge in (*node.triggers, *node.errors)]
    if node.ports and not node.triggers:
        filled = NOTHING
        for _, edges in node.ports:
            filled = filled | shared(of_edge[edge] for edge in edges)
        alternatives.append(filled)
    return shared(alternatives)
