"""The workflow ``TurnQueue``: starts the turns that are queued on one thread, in their order.

The log is the truth about what is queued; the workflow only sees to it that somebody looks. It
lives while anything is queued, and whatever becomes of it, the next turn that is queued and the
end of the run that is open have it look again (design, section 4).
"""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

from seeding.errors import CommandRefused, FermataError, InvalidCommand
from seeding.identity import thread_of_queue, workflow_id
from seeding.model import JsonObject, as_object
from seeding.request import RunRequest, parse_request
from seeding.run_endings import SUPERSEDED
from workflows.queue_wire import DrainInput, DrainResult, QueueTurnInput
from workflows.queueing import put_into_queue, reply_of
from workflows.summaries import summary
from workflows.wire import DRAIN_QUEUE, LOOK, TURN_QUEUE

CLOSING_WAIT = timedelta(seconds=1)
FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(minutes=15)
"""How long the queue waits before it looks unasked; twice as long each time, up to the longest.

It waits less at first where what is in its way is about to close.
"""

_DRAIN_TIME = timedelta(seconds=30)
_PATIENT = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=30),
)


@workflow.defn(name=TURN_QUEUE, failure_exception_types=[RuntimeError])
class TurnQueue:
    """The turns queued on one thread.

    What a stranger starts it with and nobody can decode is a ``RuntimeError`` of the SDK: it
    closes then, instead of being in the way of the queue that the next look starts.
    """

    @workflow.init
    def __init__(self, *_ignored: Any) -> None:
        self._looked = False
        self._closing = False
        self._taken = 0
        # A turn that supersedes cancels the open run before the queue can start the turn itself.
        self._one_at_a_time = asyncio.Lock()

    @workflow.run
    async def run(self, *_ignored: Any) -> None:
        """Start what is queued until nothing is; the workflow id names the thread."""
        thread_id = _thread_id()
        wait, looked = FIRST_WAIT, True
        while True:
            drained = await self._drain(thread_id, again=not looked)
            if drained.kind == "empty" and await self._is_over():
                return
            if looked or drained.kind == "started":
                wait = CLOSING_WAIT if drained.closing else FIRST_WAIT
            if workflow.info().is_continue_as_new_suggested() and await self._is_quiet():
                workflow.continue_as_new()
            looked = await self._looks_within(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    @workflow.signal(name=LOOK, description="Look whether a turn can start")
    def look(self, *args: Any) -> None:
        """Have the queue look at once; ``{"closing": true}`` waits for the open run to close."""
        given = as_object(args[0]) if args else None
        self._closing = self._closing or (given or {}).get("closing") is True
        self._looked = True

    @workflow.update(name="turn", description="Queue a start request as a turn")
    async def turn(self, *args: Any) -> Any:
        """Put a start request at the end of the queue (contract 2, ``config.onBusy``)."""
        thread_id = _thread_id()
        try:
            request = _request_of(args, thread_id)
            self._taken += 1
            asked = QueueTurnInput(
                thread_id=thread_id,
                sender=workflow.info().run_id,
                number=self._taken,
                request=as_object(args[0]) or {},
                namespace=workflow.info().namespace,
            )
            async with self._one_at_a_time:
                receipt = await put_into_queue(asked)
                if request.config.on_busy == "supersede" and not receipt.duplicate:
                    await _cancel_open_run(thread_id)
        except FermataError as refusal:
            raise _as_application_error(refusal) from refusal
        self._looked = True
        return reply_of(receipt).to_json()

    @turn.validator
    def check_turn(self, *args: Any) -> None:
        """Refuse what cannot be a turn, leaving no event."""
        try:
            _request_of(args, _thread_id())
        except FermataError as refusal:
            raise _as_application_error(refusal) from refusal

    async def _drain(self, thread_id: str, *, again: bool) -> DrainResult:
        async with self._one_at_a_time:
            closing, self._looked, self._closing = self._closing, False, False
            return await workflow.execute_activity(
                DRAIN_QUEUE,
                DrainInput(
                    thread_id=thread_id,
                    namespace=workflow.info().namespace,
                    closing=closing,
                    again=again,
                ),
                result_type=DrainResult,
                start_to_close_timeout=_DRAIN_TIME,
                retry_policy=_PATIENT,
                summary=summary(f"may the next turn of {thread_id} start?"),
            )

    async def _is_over(self) -> bool:
        """Return whether nothing was asked of the queue meanwhile; then it may close."""
        await workflow.wait_condition(workflow.all_handlers_finished)
        return not self._looked

    async def _is_quiet(self) -> bool:
        await workflow.wait_condition(workflow.all_handlers_finished)
        return True

    async def _looks_within(self, wait: timedelta) -> bool:
        try:
            await workflow.wait_condition(lambda: self._looked, timeout=wait)
        except TimeoutError:
            return False
        return True


def _thread_id() -> str:
    try:
        return thread_of_queue(workflow.info().workflow_id)
    except FermataError as refusal:
        raise _as_application_error(refusal) from refusal


def _request_of(args: tuple[Any, ...], thread_id: str) -> RunRequest:
    if len(args) != 1:
        raise InvalidCommand(f"turn takes one argument, a start request, not {len(args)}")
    request = parse_request(args[0], workflow_id(thread_id))
    if request.config.on_busy == "reject":
        raise InvalidCommand(
            "turn: config.onBusy is 'reject', and a turn is queued; say queue or supersede"
        )
    return request


async def _cancel_open_run(thread_id: str) -> None:
    handle = workflow.get_external_workflow_handle(workflow_id(thread_id))
    reason: JsonObject = {"reason": SUPERSEDED}
    try:
        await handle.signal("cancel", reason)
    except ApplicationError:
        workflow.logger.info("no run of %s is open any more", thread_id)


def _as_application_error(refusal: FermataError) -> ApplicationError:
    details = refusal.details if isinstance(refusal, CommandRefused) else dict(refusal.details)
    return ApplicationError(refusal.message, details, type=refusal.code, non_retryable=True)
