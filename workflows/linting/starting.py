"""Nodes that can never start."""

from collections.abc import Iterator

from workflows.linting.advice import Advice
from workflows.linting.ways import (
    NOTHING,
    Required,
    Ways,
    contradiction,
    in_order,
    own_choice,
    shared,
)
from workflows.plan import NodePlan, Plan

CANNOT_FAIL = ("value", "merge", "delay", "stop", "gate")
"""Built-in types that never fail in a way that an error edge is followed for."""


def starting_advice(plan: Plan, ways: Ways) -> Iterator[Advice]:
    """Yield the nodes that nothing can ever start, each with the reason."""
    never: dict[str, bool] = {}
    for node in in_order(plan):
        reason = _reason(plan, ways, node, never)
        if reason is not None:
            never[node.node.id] = True
            yield Advice(
                code="unreachable_node",
                message=f"node {node.node.id!r} can never run: {reason}",
                node=node.node.id,
            )


def _reason(plan: Plan, ways: Ways, node: NodePlan, never: dict[str, bool]) -> str | None:
    if not node.depends:
        return None
    reasons: list[str] = []
    for edge in (*node.triggers, *node.errors):
        if edge.source in never:
            reasons.append(f"{edge.source!r} never runs")
        elif edge in node.errors and cannot_fail(plan.nodes[edge.source]):
            reasons.append(f"it waits for an error of {edge.source!r}, which has none")
        else:
            return None
    if node.ports and not node.triggers:
        reason = _unfilled(plan, ways, node, never)
        if reason is None:
            return None
        reasons.append(reason)
    return "; ".join(dict.fromkeys(reasons))


def cannot_fail(node: NodePlan) -> bool:
    """Return whether no failure of a node can follow an error edge.

    In a loop any node can: a port of it may turn out to be one that nothing fills (SG-20).
    """
    return node.node.type in CANNOT_FAIL and not node.loops


def _unfilled(plan: Plan, ways: Ways, node: NodePlan, never: dict[str, bool]) -> str | None:
    direct, indirect = NOTHING, NOTHING
    for port, edges in node.ports:
        alive = [edge for edge in edges if edge.source not in never]
        if not alive:
            named = ", ".join(repr(edge.source) for edge in edges)
            return f"its port {port!r} is fed by {named} alone, which never runs"
        direct |= shared(own_choice(plan, edge) for edge in alive)
        indirect |= shared(ways.of_edge[edge] for edge in alive)
    return _excluded(plan, direct) or _excluded(plan, _of_its_rounds(plan, node, indirect))


def _of_its_rounds(plan: Plan, node: NodePlan, required: Required) -> Required:
    """Return what is chosen once in each round of ``node``.

    A choice made in a loop that ``node`` is not in may be another one in the loop's next round,
    and both may have delivered by then.
    """
    return frozenset(
        (gateway, name)
        for gateway, name in required
        if set(plan.nodes[gateway].loops) <= set(node.loops)
    )


def _excluded(plan: Plan, required: Required) -> str | None:
    found = contradiction(plan, required)
    if found is None:
        return None
    gateway, one, other = found
    return (
        f"it needs {one!r} and {other!r} of {gateway!r}, which follows one of them at a time; "
        "let both arms enter one port, or its trigger"
    )
