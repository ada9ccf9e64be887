"""Loops that nothing but the run's own budget ends, and ports that a round may leave behind."""

from collections.abc import Iterator

from workflows.graph.model import ERROR_PORT, Edge
from workflows.linting.advice import Advice
from workflows.linting.ways import SUCCESS, Required, Ways, own_choice, shared
from workflows.loops import Loop
from workflows.plan import NodePlan, Plan


def looping_advice(plan: Plan, ways: Ways) -> Iterator[Advice]:
    """Yield loops without an end of their own, and nodes that may wait for an older round."""
    for said in plan.loops.diagnostics:
        yield Advice(code="loop_shape", message=said)
    for loop in plan.loops.loops:
        for head in loop.heads:
            yield from _without_budget(plan, ways, loop, plan.nodes[head])
    for node in plan.nodes.values():
        if node.loops and not node.triggers and not node.errors and len(node.ports) > 1:
            yield from _may_stay_behind(plan, ways, node)


def _without_budget(plan: Plan, ways: Ways, loop: Loop, head: NodePlan) -> Iterator[Advice]:
    if head.iterates or head.max_rounds is not None:
        return
    back = [edge for edge in head.returns if edge.source in loop.body]
    if not back:
        return
    if any(not _choices(ways.of_edge[edge], loop) for edge in back):
        endless = next(edge for edge in back if not _choices(ways.of_edge[edge], loop))
        yield Advice(
            code="endless_loop",
            message=f"the loop of {head.node.id!r} goes round for ever: '{endless}' is followed "
            "in every round, and the run ends by its maxIterations; let it leave a branch, or "
            f"give {head.node.id!r} config maxRounds",
            node=head.node.id,
            edge=str(endless),
        )
        return
    yield Advice(
        code="loop_without_budget",
        message=f"the loop of {head.node.id!r} has no limit of its own: while its way out is not "
        f"taken it goes on until the run ends by its maxIterations; give {head.node.id!r} config "
        "maxRounds",
        node=head.node.id,
    )


def _choices(required: Required, loop: Loop) -> list[str]:
    """Return the branches on the way back that are chosen inside the loop."""
    return [gateway for gateway, name in sorted(required) if gateway in loop.body and _chosen(name)]


def _may_stay_behind(plan: Plan, ways: Ways, node: NodePlan) -> Iterator[Advice]:
    """SG-20: one port is filled in every round that reaches the node, another only in some."""
    innermost = node.loops[-1]
    everywhere = ways.of_node[node.node.id]
    filled = {port: shared(_in_loop(ways, edges, plan, innermost)) for port, edges in node.ports}
    surely = shared(filled.values())
    for port, edges in node.ports:
        some = sorted(
            (gateway, name)
            for gateway, name in filled[port] - surely
            if innermost in plan.nodes[gateway].loops and _chosen(name)
        )
        inside = [edge for edge in edges if innermost in plan.nodes[edge.source].loops]
        if not some or not inside or len(inside) != len(edges):
            continue
        if node.routes_errors or any(_is_chosen(plan, edge) for edge in inside):
            # Its failure has somewhere to go; or the branch itself skips the node in that round.
            continue
        if not _others_in_loop(plan, node, port, innermost) or not everywhere:
            continue
        gateway, name = some[0]
        yield Advice(
            code="port_may_stay_behind",
            message=f"port {port!r} of node {node.node.id!r} is filled only in rounds that take "
            f"{name!r} of {gateway!r}; in a later round that does not, the node fails with "
            "unfillable_port (SG-20); feed the port on every way, or wire an error edge",
            node=node.node.id,
        )


def _in_loop(ways: Ways, edges: tuple[Edge, ...], plan: Plan, innermost: str) -> Iterator[Required]:
    for edge in edges:
        yield frozenset(
            (gateway, name)
            for gateway, name in ways.of_edge[edge]
            if innermost in plan.nodes[gateway].loops
            and not (plan.nodes[gateway].iterates and name == "round")
        )


def _others_in_loop(plan: Plan, node: NodePlan, port: str, innermost: str) -> bool:
    return any(
        innermost in plan.nodes[edge.source].loops
        for other, edges in node.ports
        if other != port
        for edge in edges
    )


def _is_chosen(plan: Plan, edge: Edge) -> bool:
    return any(_chosen(name) for _, name in own_choice(plan, edge))


def _chosen(name: str) -> bool:
    """Return whether a branch is one that a node chooses, not what a failure makes of it."""
    return name not in (ERROR_PORT, SUCCESS)
