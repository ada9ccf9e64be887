"""Which nodes one completion dispatches: its edges are followed, its loops go round."""

from workflows.completion import Ending, Limits
from workflows.draft import Draft
from workflows.loop_turns import reenter
from workflows.plan import NodePlan
from workflows.position import Execution
from workflows.readiness import is_followed, is_ready
from workflows.settling import budget_spent


def follow(draft: Draft, node: NodePlan, execution: Execution, limits: Limits) -> Ending | None:
    """Follow the edges of a completed execution; the ending where a re-entry is past the budget."""
    record = draft.nodes[execution.node_id]
    targets: dict[str, None] = {}
    for edge in (*node.outgoing, *node.loopbacks):
        if edge.condition is not None:
            message = f"edge {edge} has a condition, which is kept and gates nothing"
            draft.warnings.append({"code": "edge_condition", "message": message})
        if edge.kind != "loopback" and is_followed(draft.plan, edge, record):
            targets[edge.target] = None
    for target in sorted(targets):
        _look_at(draft, draft.plan.nodes[target])
    if execution.reached:
        _look_at(draft, node)
    for edge in node.loopbacks:
        refused = reenter(draft, edge, execution, limits.max_iterations)
        if refused is not None:
            return budget_spent(limits, refused, edge.target)
    return None


def _look_at(draft: Draft, node: NodePlan) -> None:
    """Dispatch a node that is ready, unless it runs or ran in this round already.

    One that still runs in an older round is looked at again when that execution completes.
    """
    node_id = node.node.id
    stamp = draft.stamp(node)
    running = draft.executions.get(node_id)
    if running is not None:
        if running.stamp != stamp and not running.reached:
            draft.set_execution(running.model_copy(update={"reached": True}))
        return
    record = draft.nodes.get(node_id)
    if record is not None and record.stamp == stamp:
        return
    if is_ready(draft.plan, draft.nodes, node, stamp):
        draft.request(node_id, stamp, reentry=False)
