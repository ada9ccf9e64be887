"""What a run tells of its nodes: result keys, progress, and what it skipped."""

from seeding.model import JsonObject
from workflows.control.stop import is_stopped
from workflows.plan import Plan
from workflows.position import Position, is_finished

_SHOWN = {"running": "running", "completed": "completed", "routed": "failed", "failed": "failed"}
_UNFINISHED = ("interrupted", "running")


def result_key(node_id: str, occurrence: int) -> str:
    """Return the key of an execution's outputs in a run's ``results`` (SG-8)."""
    return node_id if occurrence == 0 else f"{node_id}:{occurrence}"


def report(plan: Plan, position: Position, stopped: bool = False) -> JsonObject:
    """Return ``nodes_skipped`` and ``skipped_node_ids`` of an ended run (BR-7).

    Nodes that never started count as skipped, in order of their ids, except after a stop
    (ERR-5), which the position knows of. Both keys are always there.
    """
    stopped = stopped or is_stopped(position)
    skipped = [] if stopped else [node for node in plan.nodes if node not in position.nodes]
    return {"nodes_skipped": len(skipped), "skipped_node_ids": sorted(skipped)}


def progress(plan: Plan, position: Position, *, ended: bool = False) -> JsonObject:
    """Return ``{"status", "executions"}`` of each node by id (PIPE-4).

    The status is the newest execution's: ``idle``, ``running``, ``interrupted`` while it waits
    for an answer, ``completed``, ``failed`` (also where the failure was routed), and ``skipped``
    for a node that never started once nothing is left to do. Then ``reason`` says why (BR-7):
    ``branch_not_active``, or ``run_ended`` where the run failed first. After a stop it stays
    ``idle`` (ERR-5). Once the run has ended, what it left behind unfinished is ``cancelled``: a
    question that was retired, a call that was taken back or whose outcome nobody waits for.

    Args:
        plan: The plan.
        position: The position.
        ended: Whether the run's end is committed.
    """
    skipped = _skipped(position)
    shown: JsonObject = {}
    for node_id in plan.nodes:
        record = position.nodes.get(node_id)
        if record is None:
            shown[node_id] = skipped
            continue
        execution = position.executions.get(node_id)
        asks = execution is not None and execution.status == "waiting"
        status = "interrupted" if asks else _SHOWN[record.status]
        if ended and status in _UNFINISHED:
            status = "cancelled"
        shown[node_id] = {"status": status, "executions": record.executions}
    return shown


def _skipped(position: Position) -> JsonObject:
    """Return how a node is shown that never started."""
    if not is_finished(position) or is_stopped(position):
        return {"status": "idle", "executions": 0}
    reason = "branch_not_active" if position.verdict is None else "run_ended"
    return {"status": "skipped", "executions": 0, "reason": reason}
