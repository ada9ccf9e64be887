"""What Temporal raises, as errors of this project: one class per cause."""

from collections.abc import Iterator
from shlex import quote
from typing import cast

from temporalio.client import (
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.service import RPCError, RPCStatusCode

from client.reconcile_line import reconcile_line
from seeding.errors import (
    CallRefused,
    CommandRefused,
    FermataError,
    NoWorker,
    PipelineTerminal,
    RunLost,
    ServerUnreachable,
    StartRefused,
    UnknownThread,
)
from seeding.model import Json, JsonObject, as_object
from workflows.outcome import FAILURE_CAUSES

OUT_OF_TIME = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)
"""How a call ends that nobody answered in time."""

ENDED_MEANWHILE = "AcceptedUpdateCompletedWorkflow"
"""Type of the failure of an update whose run closed before its answer was recorded."""


def error_of_code(
    code: str,
    message: str,
    details: Json = None,
    *,
    family: type[FermataError] = FermataError,
) -> FermataError:
    """Return the error that a published code names.

    Args:
        code: The ``type`` of an ``ApplicationError``, such as ``ThreadBusy``.
        message: What the sender said.
        details: Facts a program may read, as the sender gave them.
        family: Where one code names several classes, the one below this class is meant.

    Returns:
        An instance of the class of that code; ``CallRefused`` for a code the tree lacks.
    """
    for kind in (*_below(family), *_below(FermataError)):
        if kind.code == code:
            return _with_details(kind(message), details)
    return _with_details(CallRefused(f"{code}: {message}" if code else message), details)


def _below(kind: type[FermataError]) -> Iterator[type[FermataError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def _with_details(error: FermataError, details: Json) -> FermataError:
    given: JsonObject = as_object(details) or {}
    inner = as_object(given.get("details")) or {}
    rest = {name: value for name, value in given.items() if name not in ("code", "details")}
    error.details = {**rest, **inner}
    error.details.pop("message", None)
    return error


def details_of(error: ApplicationError) -> Json:
    """Return the first of an error's details, None where it has none."""
    details = cast(tuple[Json, ...], error.details)
    return details[0] if details else None


def error_of_update(error: WorkflowUpdateFailedError, thread_id: str) -> FermataError:
    """Return why a run refused a command (contract 5)."""
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return CallRefused(f"the run of thread {thread_id!r} did not take the command: {cause}")
    if cause.type == ENDED_MEANWHILE:
        return PipelineTerminal(f"the run of thread {thread_id!r} ended meanwhile")
    return error_of_code(cause.type or "", cause.message, details_of(cause), family=CommandRefused)


def result_of_failure(failure: WorkflowFailureError, thread_id: str, run_id: str) -> JsonObject:
    """Return the result of a run whose workflow did not complete (contract 3).

    A failed run carries its result, to which why it failed is added as ``error``; of a
    cancelled one Temporal keeps none.

    Raises:
        StartRefused: The start was refused, by the class of its code.
        RunLost: The workflow was terminated or timed out.
        CallRefused: It failed with a code that the tree lacks.
    """
    cause = failure.cause
    if isinstance(cause, CancelledError):
        return {"runId": run_id, "threadId": thread_id, "status": "cancelled"}
    if not isinstance(cause, ApplicationError):
        raise RunLost(
            f"the workflow of run {run_id} of thread {thread_id!r} is gone: {cause}; "
            f"`fermata state {quote(thread_id)}` shows what the log has of it"
        ) from failure
    details = details_of(cause)
    result = as_object(details)
    if cause.type in FAILURE_CAUSES and result is not None and "status" in result:
        return {**result, "error": cause.message}
    raise error_of_code(cause.type or "", cause.message, details, family=StartRefused) from failure


def error_of_query(error: WorkflowQueryFailedError, thread_id: str) -> FermataError:
    """Return why a run did not answer a query that reached it."""
    return CallRefused(f"the run of thread {thread_id!r} cannot answer: {error.message}")


def error_of_rpc(error: RPCError, thread_id: str) -> FermataError:
    """Return what a failed call to the server means for a thread.

    A call that was not answered in time is no business of this function: whether the server
    or only a worker is missing has to be asked.
    """
    said = error.message
    if error.status == RPCStatusCode.NOT_FOUND:
        if any("NamespaceNotFound" in detail.type_url for detail in error.grpc_status.details):
            return CallRefused(f"the server says: {said}; set TEMPORAL_NAMESPACE to one it has")
        if "already completed" in said:
            return nothing_open(thread_id)
        return UnknownThread(
            f"the Temporal server knows no run of thread {thread_id!r}; start one, or look "
            "whether TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE name the right server"
        )
    if error.status == RPCStatusCode.UNAVAILABLE:
        return ServerUnreachable(f"the Temporal server does not answer: {said}")
    if error.status == RPCStatusCode.FAILED_PRECONDITION and "closed before" in said:
        # Terminated before a worker saw it: there is nothing to replay that could answer.
        return nothing_open(thread_id)
    if error.status == RPCStatusCode.FAILED_PRECONDITION and "poller" in said:
        return NoWorker(f"nobody serves the run of thread {thread_id!r}: {said}; start a worker")
    return CallRefused(f"the Temporal server refused the call ({error.status.name}): {said}")


def nothing_open(thread_id: str) -> PipelineTerminal:
    """Return what a command to a thread comes to on which the server has nothing open."""
    return PipelineTerminal(
        f"no run of thread {thread_id!r} is open: start the next turn on the thread, or, where "
        f"its workflow was lost while it waited, take it over: "
        f"{reconcile_line(thread_id, repair=True)}"
    )
