"""Effects in flight: node calls that were started and have not been committed."""

import asyncio
from collections import deque
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    TimeoutError,
    TimeoutType,
)

from seeding.identity import EffectName, effect_key
from seeding.json_values import size_in_bytes
from seeding.model import Json, JsonObject
from workflows.delays import Delays
from workflows.graph.builtin_types import DELAY
from workflows.graph.model import NodeType
from workflows.held import Held
from workflows.scheduler import (
    Execution,
    NodeFailureReport,
    Plan,
    may_retry,
    references,
    resolve_inputs,
)
from workflows.summaries import summary
from workflows.wire import (
    RUN_NODE,
    WORKER_STOPPED,
    NodeCallInput,
    NodeCallResult,
    ValueReference,
)

BY_VALUE_BYTES = 2048
"""A larger input that another node made is passed by reference and read from the log."""

HEARTBEAT = timedelta(seconds=15)
MAX_LOST_WORKERS = 5
"""Times an effect is dispatched again, on the same key, after its worker was lost."""

EffectId = tuple[str, int, int]
"""Node, occurrence and ask of an execution."""


class Finished:
    """A node call that came to an end and waits to be committed."""

    def __init__(
        self,
        execution: Execution,
        result: NodeCallResult,
        failure: NodeFailureReport | None,
        retries: int,
    ) -> None:
        self.execution = execution
        self.result = result
        self.failure = failure
        self.retries = retries


class Effects:
    """Starts node calls as activities and queues what they came to, in order of arrival."""

    def __init__(self, delays: Delays) -> None:
        self._delays = delays
        self._flying: dict[EffectId, asyncio.Task[None]] = {}
        self.finished: deque[Finished] = deque()
        self.broken: Exception | None = None

    @property
    def in_flight(self) -> bool:
        """Whether a call has not come to an end, or has not been committed.

        A delay that is running is no call: nothing waits for it but its own node.
        """
        return bool(self._flying) or bool(self.finished)

    def is_started(self, execution: Execution) -> bool:
        """Whether this very execution is in flight or waits to be committed."""
        key = effect_id(execution)
        return (
            key in self._flying
            or self._delays.is_running(_delay_key(execution))
            or any(effect_id(item.execution) == key for item in self.finished)
        )

    def start(self, plan: Plan, held: Held, execution: Execution) -> None:
        """Start the call, or the delay, of one due execution."""
        node = plan.resolved.graph.by_id[execution.node_id]
        if node.type == DELAY:
            passed = NodeCallResult(outputs=resolve_inputs(plan, held.position, execution))
            done = Finished(execution, passed, None, 0)
            self._delays.start(_delay_key(execution), node, lambda: self.finished.append(done))
            return
        call = node_call(plan, held, execution)
        self._flying[effect_id(execution)] = asyncio.create_task(
            self._call(plan, held, execution, call)
        )

    def raise_broken(self) -> None:
        """Raise a fault of the engine that a call ran into."""
        if self.broken is not None:
            raise self.broken

    def keep_only(self, due: tuple[Execution, ...]) -> None:
        """Forget what is no longer due, after the run was restored from the log."""
        wanted = [effect_id(execution) for execution in due]
        self._delays.keep_only([_delay_key(execution) for execution in due])
        self.finished = deque(item for item in self.finished if effect_id(item.execution) in wanted)
        self._flying = {key: task for key, task in self._flying.items() if key in wanted}

    async def _call(
        self, plan: Plan, held: Held, execution: Execution, call: NodeCallInput
    ) -> None:
        try:
            finished = await _attempts(plan, held, execution, call)
        except Exception as error:
            # A fault of the engine itself: raised in the body, so that the workflow task
            # fails and is tried again, instead of a run that waits for ever.
            self.broken = error
            return
        if effect_id(execution) in self._flying:
            del self._flying[effect_id(execution)]
            self.finished.append(finished)


async def _attempts(plan: Plan, held: Held, execution: Execution, call: NodeCallInput) -> Finished:
    """Call a node until there is something to commit; retries are in place and at once."""
    kind = plan.resolved.type_of(execution.node_id)
    lost, retries = 0, 0
    while True:
        try:
            result = await _run(call, kind)
        except ActivityError as error:
            if _worker_was_lost(error) and lost < MAX_LOST_WORKERS:
                lost += 1
                continue
            return Finished(execution, NodeCallResult(), failure_report(error, call, kind), retries)
        if result.failure is None:
            return Finished(execution, result, None, retries)
        failure = NodeFailureReport(**dict(result.failure))
        if not may_retry(plan, held.position, execution.node_id, failure, retries):
            return Finished(execution, result, failure, retries)
        retries += 1


def effect_id(execution: Execution) -> EffectId:
    """Return what tells one execution's call from another's within a run."""
    return (execution.node_id, execution.occurrence, execution.ask)


def _delay_key(execution: Execution) -> str:
    return f"{execution.node_id}:{execution.occurrence}"


def node_call(plan: Plan, held: Held, execution: Execution) -> NodeCallInput:
    """Return the call of one execution, large inputs by reference."""
    facts, node_id = held.facts, execution.node_id
    kind = plan.resolved.type_of(node_id)
    inputs, by_reference = _split(plan, held, execution)
    name = EffectName(
        thread_id=facts.thread_id,
        run_id=facts.run_id,
        run_epoch=facts.run_epoch,
        graph=f"{plan.resolved.graph.id}@{plan.resolved.digest}",
        node_id=node_id,
        occurrence=execution.occurrence,
        ask=execution.ask,
    )
    return NodeCallInput(
        type=kind.name,
        thread_id=facts.thread_id,
        run_id=facts.run_id,
        node_id=node_id,
        occurrence=execution.occurrence,
        effect_key=effect_key(name),
        ordinal=held.next_ordinal - 1,
        inputs=inputs,
        references=by_reference,
        config=plan.resolved.graph.by_id[node_id].config,
        declares=kind.declares,
        ask=execution.ask,
        owner_epoch=facts.owner_epoch,
    )


def _split(
    plan: Plan, held: Held, execution: Execution
) -> tuple[JsonObject, dict[str, ValueReference]]:
    sources = references(plan, held.position, execution)
    inputs: JsonObject = {}
    by_reference: dict[str, ValueReference] = {}
    for port, value in resolve_inputs(plan, held.position, execution).items():
        source = sources.get(port)
        size = _size(value)
        if source is not None and source.kind == "output" and size > BY_VALUE_BYTES:
            by_reference[port] = ValueReference(
                node_id=source.node_id,
                occurrence=source.occurrence,
                port=source.port,
                bytes=size,
            )
        else:
            inputs[port] = value
    return inputs, by_reference


def _size(value: Json) -> int:
    if value is None or isinstance(value, bool | int | float):
        return 0
    return size_in_bytes(value)


async def _run(call: NodeCallInput, kind: NodeType) -> NodeCallResult:
    elsewhere = kind.task_queue is not None
    return await workflow.execute_activity(
        kind.name if elsewhere else RUN_NODE,
        call,
        result_type=NodeCallResult,
        task_queue=kind.task_queue,
        start_to_close_timeout=timedelta(seconds=kind.timeout),
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RetryPolicy(maximum_attempts=1),
        summary=summary(f"{call.node_id}:{call.occurrence}"),
    )


def _worker_was_lost(error: ActivityError) -> bool:
    cause = error.cause
    if isinstance(cause, TimeoutError):
        return cause.type in (TimeoutType.HEARTBEAT, TimeoutType.SCHEDULE_TO_START)
    if isinstance(cause, ApplicationError):
        return cause.type == WORKER_STOPPED
    # The engine cancels no call, so a cancelled one was cancelled by a worker that stopped.
    return isinstance(cause, CancelledError)


def failure_report(error: ActivityError, call: NodeCallInput, kind: NodeType) -> NodeFailureReport:
    """Return the failure of a node whose call failed as an activity, for good."""
    cause = error.cause
    if isinstance(cause, TimeoutError) and cause.type == TimeoutType.START_TO_CLOSE:
        return NodeFailureReport(
            message=f"node {call.node_id!r} took longer than its timeout of {kind.timeout:g} s",
            code="timeout",
            routable=True,
        )
    if isinstance(cause, TimeoutError) or _worker_was_lost(error):
        return NodeFailureReport(
            message=f"the worker of node {call.node_id!r} was lost {MAX_LOST_WORKERS + 1} times",
            code="worker_lost",
            routable=False,
        )
    if isinstance(cause, ApplicationError):
        text = _with_type(cause)
        return NodeFailureReport(
            message=text, code=cause.type or "Exception", routable=False, cause=text
        )
    return NodeFailureReport(
        message=f"node {call.node_id!r} failed: {cause or error}", code="failed", routable=False
    )


def _with_type(cause: ApplicationError) -> str:
    """Return an exception's type and text, as Python shows it; the type once."""
    text, kind = cause.message, cause.type
    if not kind or text == kind or text.startswith(f"{kind}: "):
        return text
    return f"{kind}: {text}"
