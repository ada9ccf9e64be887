"""A thread's queue of turns: a turn is put at its end, and the first one is started in time."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from temporalio import activity
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ApplicationError,
    ApplicationErrorCategory,
    WorkflowAlreadyStartedError,
)
from temporalio.service import RPCError, RPCStatusCode

from activities.log_failures import log_failures
from activities.named_graphs import graph_of
from activities.resources import Resources
from activities.start_call import details_of_start, summary_of
from seeding.errors import (
    CorruptLog,
    IdempotencyKeyReuse,
    InvalidRequest,
    StartRefused,
    ThreadBusy,
)
from seeding.identity import queue_id, workflow_id
from seeding.model import JsonObject
from seeding.queued_turns import (
    STARTS_ELSEWHERE,
    NewTurn,
    QueuedTurn,
    QueueReceipt,
    operation_of,
)
from seeding.request import RunRequest, parse_request
from workflows.graph.resolution import check_inputs
from workflows.queue_wire import DrainInput, DrainResult, QueueTurnInput, WakeInput
from workflows.wire import DRAIN_QUEUE, LOOK, QUEUE_TURN, RUN, TURN_QUEUE, WAKE_QUEUE

CLOSING_SECONDS = 5.0
"""How long a run that says it is about to close is waited for."""

MAX_LOOKS = 3
"""How often one drain looks at the thread while starts that come to nothing get in its way."""

MEMO = "queuedTurn"
"""The memo of an execution that was started for a queued turn: the turn's number."""

_CALL_TIME = timedelta(seconds=5)
_NOT_FINAL = (ThreadBusy.code, CorruptLog.code)
"""Refusals of a start that may be none later: the turn stays in the queue."""


class _Refusal(NamedTuple):
    code: str
    message: str


class QueueActivities:
    """Puts turns into the log's queue and starts them, one at a time and in their order."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._log = resources.log

    @activity.defn(name=QUEUE_TURN)
    async def queue_turn(self, asked: QueueTurnInput) -> QueueReceipt:
        """Put a turn at the end of its thread's queue and have the queue look at it.

        Raises:
            ApplicationError: The turn is refused by name, non-retryable; nothing was written. Or
                the log does not answer, retryable.
        """
        with log_failures():
            try:
                request, given = await self._resources.read(lambda: self._request(asked))
                turn = NewTurn(
                    operation=operation_of(asked.sender, asked.number, request),
                    request=request,
                    graph_given=given,
                    behind=asked.behind or await self._open_run(asked.thread_id),
                    namespace=asked.namespace,
                )
                receipt = await self._log.queue_turn_async(asked.thread_id, turn)
            except StartRefused as refusal:
                raise _as_failure(refusal) from refusal
        if receipt.number is not None and receipt.run_id is None:
            await wake(activity.client(), asked.thread_id, activity.info().task_queue)
        return receipt

    @activity.defn(name=WAKE_QUEUE)
    async def wake_queue(self, asked: WakeInput) -> bool:
        """Have a thread's queue look whether a turn can start; return whether it has any."""
        with log_failures():
            first = await self._log.first_queued_async(asked.thread_id)
        if first is not None:
            queue = activity.info().task_queue
            await wake(activity.client(), asked.thread_id, queue, closing=True)
            return True
        # A queue that has started its last turn waits for this to close.
        with suppress(RPCError):
            handle = activity.client().get_workflow_handle(queue_id(asked.thread_id))
            await handle.signal(LOOK, rpc_timeout=_CALL_TIME)
        return False

    @activity.defn(name=DRAIN_QUEUE)
    async def drain_queue(self, asked: DrainInput) -> DrainResult:
        """Start the first queued turn of a thread where no run is open.

        A turn whose start was refused leaves the queue, with the refusal, and the next one is
        looked at.
        """
        left: list[int] = []
        looks = 0
        with log_failures():
            while True:
                turn = await self._log.first_queued_async(asked.thread_id)
                if turn is None:
                    return DrainResult(kind="empty", left=tuple(left))
                result = await self._look_at(turn, asked)
                looks += 1
                if result is None:
                    left.append(turn.number)
                elif looks >= MAX_LOOKS or not await self._came_between(result, turn.thread_id):
                    return result.model_copy(update={"left": tuple(left)})

    async def _came_between(self, result: DrainResult, thread_id: str) -> bool:
        """Whether another start is in the way that has no run yet: if refused, it closes soon."""
        return result.kind == "busy" and await self._open_run(thread_id) is None

    # --- a turn for the queue -----------------------------------------------------------------

    def _request(self, asked: QueueTurnInput) -> tuple[RunRequest, bool]:
        """Return the start that a turn will be, and whether its sender named the graph.

        Raises:
            StartRefused: It cannot be one, by name.
        """
        given = dict(asked.request)
        named = given.get("graph") is not None
        if not named:
            given["graph"] = asked.graph or self._latest_graph(asked.thread_id)
        request = parse_request(given, workflow_id(asked.thread_id))
        if request.queued_turn is not None:
            raise InvalidRequest("queuedTurn is given by the thread's queue; leave it out")
        elsewhere = [name for name in STARTS_ELSEWHERE if given.get(name) not in (None, False)]
        if elsewhere:
            raise InvalidRequest(
                f"{', '.join(elsewhere)}: a queued turn starts from the thread's latest state; "
                "leave that out, or start when the run is over"
            )
        check_inputs(graph_of(self._resources, request), request.input)
        return request, named

    def _latest_graph(self, thread_id: str) -> str:
        run = self._log.latest_run(thread_id)
        if run is None:
            raise InvalidRequest(
                f"thread {thread_id!r} has no run yet whose graph could be taken; name one"
            )
        return f"{run.graph_id}@{run.graph_digest[:16]}"

    async def _open_run(self, thread_id: str) -> str | None:
        latest = await self._log.latest_run_async(thread_id)
        return None if latest is None or latest.phase == "ended" else latest.run_id

    # --- a turn to start ----------------------------------------------------------------------

    async def _look_at(self, turn: QueuedTurn, asked: DrainInput) -> DrainResult | None:
        """Start a turn, or say why not; None where it has left the queue without a start."""
        if turn.namespace != asked.namespace:
            return DrainResult(kind="held", why=f"turn {turn.number} is of {turn.namespace!r}")
        client = activity.client()
        described = await self._once_closed(client, turn.thread_id, closing=asked.closing)
        if described is not None and _is_open(described):
            return DrainResult(
                kind="busy",
                run_id=described.raw_info.first_run_id,
                closing=await self._open_run(turn.thread_id) is None,
            )
        if await self._has_begun(turn):
            return None
        if described is not None and await described.memo_value(MEMO, None) == turn.number:
            refusal = await _refusal_of(client, described)
            if refusal is not None and refusal.code not in _NOT_FINAL:
                await self._refuse(turn, refusal)
                return None
            if not asked.again:
                why = "its start came to nothing" if refusal is None else refusal.message
                return DrainResult(kind="held", why=f"turn {turn.number}: {why}")
        latest = await self._log.latest_run_async(turn.thread_id)
        if latest is not None and latest.phase == "awaiting":
            return DrainResult(
                kind="held", why=f"run {latest.run_id} awaits an answer and has no workflow"
            )
        return await self._start(client, turn)

    async def _once_closed(
        self, client: Client, thread_id: str, *, closing: bool
    ) -> WorkflowExecutionDescription | None:
        """Return how a thread's execution stands, once it has closed if it is about to.

        One is about to close that says so, and one that has no run in the log to go on with: its
        run has ended, or it was refused, or it is just being taken up.
        """
        described = await _described(client, thread_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                while described is not None and _is_open(described):
                    if not closing and await self._open_run(thread_id) is not None:
                        break
                    await _closed(client, described)
                    described = await _described(client, thread_id)
        return described

    async def _has_begun(self, turn: QueuedTurn) -> bool:
        """Take a turn out of the queue whose key has begun a run meanwhile, by a start."""
        key = turn.idempotency_key
        run = None if key is None else await self._log.run_of_key_async(turn.thread_id, key)
        if run is None:
            return False
        if run.request_hash == turn.request_hash:
            await self._log.started_before_async(turn.thread_id, turn.number, run.run_id)
        else:
            said = f"idempotencyKey {key!r} began run {run.run_id}, by another request"
            await self._refuse(turn, _Refusal(IdempotencyKeyReuse.code, said))
        return True

    async def _refuse(self, turn: QueuedTurn, refusal: _Refusal) -> None:
        told: JsonObject = {"code": refusal.code, "message": refusal.message}
        await self._log.refuse_turn_async(turn.thread_id, turn.number, told)

    async def _start(self, client: Client, turn: QueuedTurn) -> DrainResult:
        payload = turn.start()
        request = parse_request(payload, workflow_id(turn.thread_id))
        try:
            handle = await client.start_workflow(
                RUN,
                payload,
                id=workflow_id(turn.thread_id),
                task_queue=activity.info().task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                memo={MEMO: turn.number},
                static_summary=summary_of(request),
                static_details=details_of_start(request),
                rpc_timeout=_CALL_TIME,
            )
        except WorkflowAlreadyStartedError as error:
            return DrainResult(kind="busy", run_id=error.first_run_id or error.run_id)
        return DrainResult(kind="started", number=turn.number, run_id=handle.first_execution_run_id)


async def wake(client: Client, thread_id: str, task_queue: str, *, closing: bool = False) -> None:
    """Have a thread's queue look whether a turn can start; start the queue where it is not open.

    Args:
        client: A client of the namespace the thread runs in.
        thread_id: The thread.
        task_queue: Where a queue that is not open is served.
        closing: The open run is about to close.
    """
    await client.start_workflow(
        TURN_QUEUE,
        id=queue_id(thread_id),
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        start_signal=LOOK,
        start_signal_args=[{"closing": True}] if closing else [],
        static_summary=f"turns queued on {thread_id}",
        rpc_timeout=_CALL_TIME,
    )


async def _described(client: Client, thread_id: str) -> WorkflowExecutionDescription | None:
    try:
        handle = client.get_workflow_handle(workflow_id(thread_id))
        return await handle.describe(rpc_timeout=_CALL_TIME)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise


async def _closed(client: Client, described: WorkflowExecutionDescription) -> None:
    """Wait for an execution to close, whatever it closes with."""
    handle = client.get_workflow_handle(described.id, run_id=described.run_id)
    with suppress(WorkflowFailureError, RPCError):
        await handle.result()


def _is_open(described: WorkflowExecutionDescription) -> bool:
    return described.status == WorkflowExecutionStatus.RUNNING


async def _refusal_of(client: Client, described: WorkflowExecutionDescription) -> _Refusal | None:
    """Return the start refusal a run closed with; None where it closed with anything else."""
    handle = client.get_workflow_handle(described.id, run_id=described.raw_info.first_run_id)
    try:
        await handle.result(rpc_timeout=_CALL_TIME)
    except WorkflowFailureError as failure:
        cause = failure.cause
        codes = [kind.code for kind in StartRefused.__subclasses__()]
        if isinstance(cause, ApplicationError) and cause.type in (*codes, CorruptLog.code):
            return _Refusal(cause.type or "", cause.message)
    return None


def _as_failure(refusal: StartRefused) -> ApplicationError:
    return ApplicationError(
        refusal.message,
        refusal.details,
        type=refusal.code,
        non_retryable=True,
        category=ApplicationErrorCategory.BENIGN,
    )
