"""Which nodes one completion dispatches: its edges are followed, its loops go round."""

from workflows.completion import Ending, Limits
from workflows.draft import Draft
from workflows.loop_turns import begin_first_round, go_round
from workflows.plan import NodePlan
from workflows.position import Execution
from workflows.readiness import is_followed, is_ready
from workflows.settling import budget_spent


def follow(draft: Draft, node: NodePlan, execution: Execution, limits: Limits) -> Ending | None:
    """Follow the edges of a completed execution; the ending where a round is past the budget."""
    record = draft.nodes[execution.node_id]
    targets: dict[str, None] = {}
    for edge in (*node.outgoing, *node.loopbacks):
        if edge.condition is not None:
            message = f"edge {edge} has a condition, which is kept and gates nothing"
            draft.warnings.append({"code": "edge_condition", "message": message})
        if edge.kind != "loopback" and is_followed(draft.plan, edge, record):
            targets[edge.target] = None
    for target in sorted(targets):
        refused = _look_at(draft, draft.plan.nodes[target], limits.max_iterations)
        if refused is not None:
            return budget_spent(limits, refused, target)
    spent = go_round(draft, node, limits.max_iterations)
    return None if spent is None else budget_spent(limits, spent.iterations, spent.head)


def _look_at(draft: Draft, node: NodePlan, max_iterations: int) -> int | None:
    """Dispatch a node that is ready, unless it runs or ran in this round already.

    Returns:
        The iteration count of the loop round that this would begin, where it is past
        ``max_iterations``; else None.
    """
    node_id, stamp = node.node.id, draft.stamp(node)
    record = draft.nodes.get(node_id)
    if record is not None and record.stamp == stamp:
        return None
    if not is_ready(draft.plan, draft.nodes, node, stamp):
        return None
    refused = begin_first_round(draft, node, max_iterations)
    if refused is None:
        draft.request(node_id, stamp, reentry=False)
    return refused
