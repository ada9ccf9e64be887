"""Putting one turn into a thread's queue, and what its sender is told."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from seeding.errors import FermataError, IdempotencyKeyReuse, InvalidRequest, StartRefused
from seeding.model import as_object
from seeding.queued_turns import QueueReceipt
from workflows.inbox_model import Reply
from workflows.queue_wire import QueueTurnInput, WakeInput
from workflows.summaries import summary
from workflows.wire import QUEUE_TURN, WAKE_QUEUE

_QUEUE_TIME = timedelta(seconds=20)
_WAKE_TIME = timedelta(seconds=10)
_WAKE_TRIES = 5
_PATIENT = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=5),
)


async def put_into_queue(asked: QueueTurnInput) -> QueueReceipt:
    """Put a turn into its thread's queue; waits as long as the log does not answer.

    Raises:
        StartRefused: The turn is refused by name, and was not taken.
    """
    try:
        return await workflow.execute_activity(
            QUEUE_TURN,
            asked,
            result_type=QueueReceipt,
            start_to_close_timeout=_QUEUE_TIME,
            retry_policy=_PATIENT,
            summary=summary(f"a turn for the queue of {asked.thread_id}"),
        )
    except ActivityError as error:
        raise _refusal_of(error) from error


async def wake_queue(thread_id: str) -> None:
    """Have the thread's queue look at once; where that fails, it looks by itself a little later."""
    try:
        await workflow.execute_activity(
            WAKE_QUEUE,
            WakeInput(thread_id=thread_id),
            start_to_close_timeout=_WAKE_TIME,
            retry_policy=RetryPolicy(
                initial_interval=timedelta(milliseconds=200), maximum_attempts=_WAKE_TRIES
            ),
            summary=summary(f"the turns queued on {thread_id} may go on"),
        )
    except ActivityError as error:
        workflow.logger.warning("the queue of %s was not woken: %s", thread_id, error.cause)


def reply_of(receipt: QueueReceipt) -> Reply:
    """Return what the sender of a turn is told; the same for each repetition (KU-39)."""
    return Reply(
        run_id=receipt.run_id if receipt.number is None else receipt.behind,
        duplicate=receipt.duplicate,
        pending=receipt.number is not None,
        queued_turn=receipt.number,
    )


def _refusal_of(error: ActivityError) -> FermataError:
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return InvalidRequest(f"the turn was not queued: {cause or error}")
    details = as_object(cause.details[0]) if cause.details else None
    for kind in (*StartRefused.__subclasses__(), IdempotencyKeyReuse):
        if kind.code == cause.type:
            return kind(cause.message, **(details or {}))
    return InvalidRequest(f"the turn was not queued: {cause.message}")
