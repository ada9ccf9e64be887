"""Effects in flight: node calls that were started and have not been committed."""

import asyncio
from collections import deque
from dataclasses import replace
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

WITHDRAWS_CALLS = "withdraw-calls"
"""Patch: a cancelled run takes back the calls that no worker has begun."""

_ONCE = RetryPolicy(maximum_attempts=1)

_UNTIL_SERVED = RetryPolicy(
    initial_interval=timedelta(milliseconds=100),
    backoff_coefficient=1.5,
    maximum_interval=timedelta(seconds=30),
    non_retryable_error_types=["TemporalTimeout:StartToClose", "TemporalTimeout:Heartbeat"],
)
"""For a call that a worker gave back because it cannot serve it: the server offers it on.

Workers with and without the node's type may poll side by side, so the first tries are quick.
What a timeout means for a call that had begun is for the run to judge, not for the server.
"""

_UNTIL_SERVED_OR_GIVEN_UP = replace(_UNTIL_SERVED, maximum_attempts=10)
"""For what is called again in a run that is being cancelled: some ten seconds of tries."""

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


class Flight:
    """An execution whose call is on its way.

    Attributes:
        execution: The execution.
        activity: Its call as it was dispatched last.
        given_back: Whether a worker could not serve the call, which then waits for another one.
        withdrawn: Whether the run was cancelled meanwhile: a call that no worker has begun is
            then taken back, and one that has begun still comes to its end.
        task: What waits for the call.
    """

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.activity: workflow.ActivityHandle[NodeCallResult] | None = None
        self.given_back = False
        self.withdrawn = False
        self.task: asyncio.Task[None] | None = None

    @property
    def retry_policy(self) -> RetryPolicy:
        """How often the server may offer the next dispatch; most calls need it only once."""
        if self.withdrawn:
            return _UNTIL_SERVED_OR_GIVEN_UP
        return _UNTIL_SERVED if self.given_back else _ONCE

    def withdraw(self) -> None:
        """Ask the server to take the call back, which it does where nobody has begun it."""
        self.withdrawn = True
        if self.activity is not None:
            self.activity.cancel()


class Effects:
    """Starts node calls as activities and queues what they came to, in order of arrival."""

    def __init__(self, delays: Delays) -> None:
        self._delays = delays
        self._flying: dict[EffectId, Flight] = {}
        self._withdrawn = False
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
        flight = Flight(execution)
        self._flying[effect_id(execution)] = flight
        flight.task = asyncio.create_task(self._call(plan, held, flight, call))

    @property
    def can_withdraw(self) -> bool:
        """Whether calls are on their way and :meth:`withdraw` is still to be called."""
        return bool(self._flying) and not self._withdrawn

    def withdraw(self) -> None:
        """Take back the calls that no worker has begun: the run was cancelled.

        To be called when everything that has arrived has been dealt with, as behind a wait: a
        call that has just come to its end would lose its outcome.
        """
        if not self.can_withdraw:
            return
        self._withdrawn = True
        if workflow.patched(WITHDRAWS_CALLS):
            for flight in self._flying.values():
                flight.withdraw()

    def raise_broken(self) -> None:
        """Raise a fault of the engine that a call ran into."""
        if self.broken is not None:
            raise self.broken

    def keep_only(self, due: tuple[Execution, ...]) -> None:
        """Forget what is no longer due, after the run was restored from the log."""
        wanted = [effect_id(execution) for execution in due]
        self._delays.keep_only([_delay_key(execution) for execution in due])
        self.finished = deque(item for item in self.finished if effect_id(item.execution) in wanted)
        self._flying = {key: flight for key, flight in self._flying.items() if key in wanted}

    async def _call(self, plan: Plan, held: Held, flight: Flight, call: NodeCallInput) -> None:
        try:
            finished = await _attempts(plan, held, flight, call)
        except Exception as error:
            # A fault of the engine itself: raised in the body, so that the workflow task
            # fails and is tried again, instead of a run that waits for ever.
            self.broken = error
            return
        if effect_id(flight.execution) in self._flying:
            del self._flying[effect_id(flight.execution)]
            if finished is not None:
                self.finished.append(finished)


async def _attempts(plan: Plan, held: Held, flight: Flight, call: NodeCallInput) -> Finished | None:
    """Call a node until there is something to commit; retries are in place and at once.

    Returns:
        What it came to; None for a call of a cancelled run that was taken back.
    """
    execution = flight.execution
    kind = plan.resolved.type_of(execution.node_id)
    lost, retries = 0, 0
    while True:
        try:
            result = await _run(call, kind, flight)
        except ActivityError as error:
            if flight.withdrawn and (_was_taken_back(error) or _was_given_back(error, kind)):
                return None
            if _was_given_back(error, kind):
                flight.given_back = True
                continue
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
        hidden=plan.resolved.hidden_ports(node_id),
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


async def _run(call: NodeCallInput, kind: NodeType, flight: Flight) -> NodeCallResult:
    elsewhere = kind.task_queue is not None
    flight.activity = workflow.start_activity(
        kind.name if elsewhere else RUN_NODE,
        call,
        result_type=NodeCallResult,
        task_queue=kind.task_queue,
        start_to_close_timeout=timedelta(seconds=kind.timeout),
        heartbeat_timeout=HEARTBEAT,
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        retry_policy=_ONCE if elsewhere else flight.retry_policy,
        summary=summary(f"{call.node_id}:{call.occurrence}"),
    )
    return await flight.activity


def _was_given_back(error: ActivityError, kind: NodeType) -> bool:
    """Whether a worker could not serve the call, so that its node was not called.

    It lacks the node's type, or it is of another version and cannot read the call. Whatever
    ``run_node`` itself comes to is final.
    """
    cause = error.cause
    if kind.task_queue is not None or not isinstance(cause, ApplicationError):
        return False
    return not cause.non_retryable


def _was_taken_back(error: ActivityError) -> bool:
    """Whether a call that was withdrawn had not begun, or a node elsewhere ended itself for it."""
    return isinstance(error.cause, CancelledError)


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
