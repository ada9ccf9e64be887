"""How one execution ends: what is recorded of it, and whether the run can go on."""

from seeding.commits import EndCause
from seeding.model import Json, JsonObject
from seeding.state import StateUpdate
from workflows.completion import Completion, Ending, Limits, NodeFailureReport
from workflows.control.stop import STOP, stop_verdict
from workflows.draft import Draft
from workflows.loop_turns import begins_round
from workflows.plan import NodePlan, branch_name
from workflows.position import Execution, Recorded
from workflows.readiness import read_active_branches
from workflows.state_updates import ACTIVE_BRANCHES, recorded_outputs
from workflows.values import passed_on, read_inputs


def move_count(
    draft: Draft,
    completion: Completion,
    update: StateUpdate | None,
    limits: Limits,
    *,
    failed: bool,
) -> int | None:
    """Move the iteration count; return the count that is strictly past the maximum, if any."""
    if failed:
        return None
    count = draft.iteration_count
    if update is not None and "iteration_count" in update.model_fields_set:
        count = update.iteration_count or 0
        if count > limits.max_iterations:
            return count
    if begins_round(completion.turn):
        count += 1
        if count > limits.max_iterations:
            return count
    draft.iteration_count = count
    return None


def budget_spent(limits: Limits, refused: int, node_id: str) -> Ending:
    """Return the ending of a run whose next iteration is past its maximum (SG-14)."""
    message = (
        f"node {node_id!r}: iteration {refused} is past the maximum of {limits.max_iterations}"
    )
    return Ending(
        cause=EndCause(kind="MaxIterations", message=message),
        report={
            "max_iterations": limits.max_iterations,
            "current_iterations": refused,
            "node_id": node_id,
        },
    )


def record_end(
    draft: Draft,
    node: NodePlan,
    execution: Execution,
    completion: Completion,
    failure: NodeFailureReport | None,
) -> None:
    """Record how an execution ended.

    An unrouted failure leaves a verdict (ERR-3, ERR-7, ERR-8), and so does a ``stop`` (ERR-5);
    the first verdict stays, whatever what was in flight beside it comes to.
    """
    node_id = execution.node_id
    known = draft.nodes[node_id]
    ended: dict[str, Json] = {"retries": known.retries + completion.retries}
    if failure is None:
        active = read_active_branches(completion.outputs.get(ACTIVE_BRANCHES))
        outputs = recorded_outputs(completion.outputs, node.hidden)
        passing = tuple(p for p in node.passing if not active or branch_name(p) in active)
        inputs = read_inputs(draft.before.inputs, draft.outputs, execution) if passing else {}
        draft.record(execution, Recorded(outputs, passed_on(passing, outputs, inputs)))
        ended |= {"status": "completed", "active": active}
        if node.node.type == STOP:
            draft.verdict = draft.verdict or stop_verdict(execution)
    elif failure.routable and node.routes_errors:
        draft.record(execution, Recorded({"error": _error_object(node_id, failure)}, {}))
        ended |= {"status": "routed"}
    else:
        ended |= {"status": "failed"}
        draft.verdict = draft.verdict or _verdict(node_id, execution, failure)
    draft.set_record(node_id, known.model_copy(update=ended))


def _error_object(node_id: str, failure: NodeFailureReport) -> JsonObject:
    error: JsonObject = {
        "message": failure.message,
        "code": failure.code,
        "node_id": node_id,
        "retryable": failure.retryable is True,
    }
    return error if failure.details is None else {**error, "details": failure.details}


def _verdict(node_id: str, execution: Execution, failure: NodeFailureReport) -> JsonObject:
    details: JsonObject = {
        "code": failure.code,
        "node_id": node_id,
        "occurrence": execution.occurrence,
    }
    if failure.details is not None:
        details["details"] = failure.details
    if failure.cause is not None:
        details["cause"] = failure.cause
    return EndCause(kind="Error", message=failure.message, details=details).to_json()
