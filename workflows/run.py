"""The workflow ``Run``: the shell around the engine, its doors and its queries.

It is served by a dynamic class, because only a dynamic class, taking raw values, is reached by
every malformed start and can refuse it by name; the same holds for the dynamic signal handler
(prototypes, B10). The engine's body is one task, shielded as a whole: ``run`` alone receives a
native cancel and keeps it as the flag that the ``cancel`` door sets.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from seeding.errors import (
    CommandRefused,
    CorruptLog,
    FermataError,
    InvalidRequest,
    ThreadBusy,
)
from seeding.identity import thread_of_workflow
from seeding.json_values import MAX_PAYLOAD_BYTES
from seeding.model import Json, JsonObject, as_object
from seeding.request import RunRequest, parse_request
from workflows.commands import Undecodable
from workflows.delays import Delays
from workflows.engine import Engine
from workflows.inbox import Inbox
from workflows.message_storing import MessageStoring
from workflows.outcome import CANCEL_CAUSES, FAILURE_CAUSES, Ended, GoesOn, Refused
from workflows.queueing import wake_queue
from workflows.scheduler import progress
from workflows.showing import shown_refused, shown_starting, shown_state
from workflows.wire import REQUEST_CANCEL, RUN, SeedInput, StartProblem

CONTINUED = "fermataContinued"
"""The one key of the argument that an execution hands to the next of its chain."""

_REQUEST_TIME = timedelta(seconds=10)
_NOT_FINAL = (ThreadBusy.code, CorruptLog.code)
_Outcome = TypeVar("_Outcome")


@workflow.defn(dynamic=True)
class Run:
    """One turn on one thread."""

    @workflow.init
    def __init__(self, args: Sequence[RawValue]) -> None:
        self._carry = _carry_of(args)
        carried = self._carry or {}
        inbox, delays = as_object(carried.get("inbox")), as_object(carried.get("delays"))
        self._asked = self._seed_input(args)
        request = self._asked.request
        on_busy = "reject" if request is None else request.config.on_busy
        self._inbox = Inbox(on_busy) if inbox is None else Inbox.from_carry(inbox)
        self._delays = Delays(delays)
        self._engine = Engine(self._inbox, self._delays)
        self._storing = MessageStoring(
            self._inbox, self._asked.thread_id, self._graph, self._open_run
        )

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        """Run a turn; the argument is the request of contract section 2."""
        self._stores = asyncio.create_task(self._storing.run())
        body = asyncio.create_task(self._engine.run(self._asked))
        outcome = await self._shielded(body)
        if isinstance(outcome, GoesOn):
            await workflow.wait_condition(self._may_close)
            # Taken last, so that what an update handler accepted meanwhile goes along.
            workflow.continue_as_new(
                args=[{CONTINUED: {"inbox": self._inbox.carry(), "delays": self._delays.carry()}}]
            )
        await self._before_closing(outcome)
        return await self._close(outcome)

    async def _before_closing(self, outcome: Ended | Refused) -> None:
        """See that all accepted turns are in the log, and that the queue is looked at."""
        waiting = asyncio.create_task(workflow.wait_condition(self._may_close))
        await self._shielded(waiting)
        if self._leaves_turns(outcome):
            await self._shielded(asyncio.create_task(wake_queue(self._asked.thread_id)))

    def _may_close(self) -> bool:
        return self._inbox.line.is_empty and workflow.all_handlers_finished()

    def _leaves_turns(self, outcome: Ended | Refused) -> bool:
        """Whether the thread's queue has to look again once this has closed."""
        was_queued = self._asked.request is not None and self._asked.request.queued_turn is not None
        if isinstance(outcome, Ended):
            return outcome.queued or was_queued or self._inbox.line.stored
        # A turn that was refused as it stands leaves the queue, and the next one may start.
        return outcome.code not in _NOT_FINAL if was_queued else _names_queue(outcome)

    async def _shielded(self, body: "asyncio.Task[_Outcome]") -> _Outcome:
        while True:
            try:
                return await asyncio.shield(body)
            except asyncio.CancelledError:
                # Without a reason this is no cancel but the eviction of the workflow.
                if workflow.cancellation_reason() is None or body.cancelled():
                    raise
                self._inbox.native_cancel(workflow.cancellation_reason() or None)

    async def _close(self, outcome: Ended | Refused) -> Any:
        if isinstance(outcome, Refused):
            await workflow.wait_condition(self._may_close)
            raise ApplicationError(
                outcome.message, outcome.details, type=outcome.code, non_retryable=True
            )
        cause = outcome.cause
        if cause.kind in CANCEL_CAUSES:
            await self._until_cancelled()
            await workflow.wait_condition(self._may_close)
            raise asyncio.CancelledError(cause.message)
        await workflow.wait_condition(self._may_close)
        if cause.kind in FAILURE_CAUSES:
            raise ApplicationError(
                cause.message or cause.kind, outcome.result, type=cause.kind, non_retryable=True
            )
        return outcome.result

    async def _until_cancelled(self) -> None:
        """Have the server record a cancel, so that the run closes Canceled by any door."""
        while workflow.cancellation_reason() is None:
            try:
                await workflow.execute_activity(
                    REQUEST_CANCEL,
                    start_to_close_timeout=_REQUEST_TIME,
                    retry_policy=RetryPolicy(maximum_interval=timedelta(seconds=5)),
                )
                await workflow.wait_condition(lambda: workflow.cancellation_reason() is not None)
            except (asyncio.CancelledError, ActivityError):
                # The cancel that was asked for may arrive before the activity's own answer.
                if workflow.cancellation_reason() is None:
                    raise

    def _seed_input(self, args: Sequence[RawValue]) -> SeedInput:
        info = workflow.info()
        thread_id, request, problem = "", None, None
        try:
            thread_id = thread_of_workflow(info.workflow_id)
            _check_type(info.workflow_type)
            if self._carry is None:
                request = _request_of(args, info.workflow_id)
        except FermataError as error:
            problem = StartProblem(code=error.code, message=error.message)
        return SeedInput(
            thread_id=thread_id,
            chain_id=info.first_execution_run_id,
            execution_id=info.run_id,
            namespace=info.namespace,
            request=request,
            problem=problem,
            started_at=info.workflow_start_time,
        )

    def _graph(self) -> str | JsonObject | None:
        seeded, request = self._engine.seeded, self._asked.request
        if seeded is not None:
            return seeded.graph.name
        return None if request is None else request.graph

    def _open_run(self) -> str | None:
        return None if self._engine.held is None else self._engine.held.facts.run_id

    # --- doors ------------------------------------------------------------------------------

    @workflow.signal(dynamic=True, description="resume, cancel, pause, message")
    def signal(self, name: str, args: Sequence[RawValue]) -> None:
        """Take a signal of any name and shape; what is refused is listed, never raised."""
        self._inbox.receive_signal(name, _decoded(args), workflow.now())

    @workflow.update(name="resume", description="Answer a ticket, or lift a pause with {}")
    async def update_resume(self, *args: Any) -> Any:
        """Answer a ticket (contract 5)."""
        return self._receive("resume", args)

    @update_resume.validator
    def check_resume(self, *args: Any) -> None:
        """Refuse an answer that would change nothing, leaving no event."""
        self._check("resume", args)

    @workflow.update(name="cancel", description="Cancel the run")
    async def update_cancel(self, *args: Any) -> Any:
        """Cancel the run (contract 5)."""
        return self._receive("cancel", args)

    @update_cancel.validator
    def check_cancel(self, *args: Any) -> None:
        """Refuse a cancel that would change nothing, leaving no event."""
        self._check("cancel", args)

    @workflow.update(name="pause", description="Hold the run until it is lifted")
    async def update_pause(self, *args: Any) -> Any:
        """Hold the run (contract 5)."""
        return self._receive("pause", args)

    @update_pause.validator
    def check_pause(self, *args: Any) -> None:
        """Refuse a pause that would change nothing, leaving no event."""
        self._check("pause", args)

    @workflow.update(name="message", description="A message for the thread of this run")
    async def update_message(self, *args: Any) -> Any:
        """Offer a message to the run; one that is queued is in the log when this answers."""
        reply, line = self._receive("message", args), self._inbox.line
        number = line.taken
        await workflow.wait_condition(lambda: line.is_settled(number))
        outcome = line.outcome(number)
        if isinstance(outcome, FermataError):
            raise _as_application_error(outcome) from outcome
        return {**reply, **outcome.to_json()}

    @update_message.validator
    def check_message(self, *args: Any) -> None:
        """Refuse a message that would not be taken, leaving no event."""
        self._check("message", args)

    def _receive(self, name: str, args: Sequence[Any]) -> JsonObject:
        try:
            reply = self._inbox.receive(name, list(args), workflow.now())
        except CommandRefused as refusal:
            raise _as_application_error(refusal) from refusal
        return reply.to_json()

    def _check(self, name: str, args: Sequence[Any]) -> None:
        try:
            self._inbox.check(name, list(args), workflow.now())
        except CommandRefused as refusal:
            raise _as_application_error(refusal) from refusal

    # --- queries ----------------------------------------------------------------------------

    @workflow.query(name="state", description="The thread's state as this run holds it")
    def query_state(self) -> Any:
        """Return the state (contract 4)."""
        engine, thread_id = self._engine, _thread_of(workflow.info().workflow_id)
        if engine.refused is not None:
            return shown_refused(thread_id, _refusal_of(engine.refused))
        if engine.held is None:
            return shown_starting(thread_id)
        held = engine.held
        messages = {"count": held.message_count, "checkpointId": held.checkpoint_id}
        return shown_state(held, messages)

    @workflow.query(name="tickets", description="What the run waits for")
    def query_tickets(self) -> Any:
        """Return the open tickets."""
        held = self._engine.held
        return [] if held is None else [ticket.shown() for ticket in held.open_tickets]

    @workflow.query(name="progress", description="Nodes with status and executions")
    def query_progress(self) -> Any:
        """Return ``{nodeId: {status, executions}}`` (PIPE-4)."""
        engine = self._engine
        if engine.plan is None or engine.held is None:
            return {}
        ended = engine.held.cause is not None
        return progress(engine.plan, engine.held.position, ended=ended)

    @workflow.query(name="provenance", description="Where the starting state came from")
    def query_provenance(self) -> Any:
        """Return the start's source, what it passed over, what it cleared and warned of."""
        seeded, held = self._engine.seeded, self._engine.held
        if seeded is None:
            return None
        # The opening step warns too, such as of an iterator that no loop of the graph takes.
        warnings = seeded.warnings if held is None else list(held.facts.warnings)
        return {
            "runId": seeded.run_id,
            "runEpoch": seeded.run_epoch,
            "start": seeded.start,
            "cleared": seeded.cleared,
            "warnings": warnings,
        }

    @workflow.query(name="refusals", description="Signals that were refused, the last 100")
    def query_refusals(self) -> Any:
        """Return the refused signals."""
        return [entry.to_json() for entry in self._inbox.refusals]


def _names_queue(refused: Refused) -> bool:
    """Whether a start was refused because of turns that are queued."""
    details = as_object(refused.details.get("details")) or {}
    return "queued" in details


def _as_application_error(refusal: FermataError) -> ApplicationError:
    return ApplicationError(refusal.message, refusal.details, type=refusal.code, non_retryable=True)


def _decoded(args: Sequence[RawValue]) -> list[Json] | Undecodable:
    converter = workflow.payload_converter()
    try:
        return [converter.from_payload(value.payload) for value in args]
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        return Undecodable(text=f"{type(error).__name__}: {first}"[:200])


def _carry_of(args: Sequence[RawValue]) -> JsonObject | None:
    """Return what the execution before this one handed over; None for a chain's first.

    Only an execution that continues another is asked, so that no caller can hand one over.
    """
    if workflow.info().continued_run_id is None:
        return None
    decoded = _decoded(args)
    if isinstance(decoded, Undecodable) or len(decoded) != 1:
        return None
    return as_object((as_object(decoded[0]) or {}).get(CONTINUED))


def _check_type(workflow_type: str) -> None:
    """Refuse every type but ``Run``: a dynamic class is reached by any."""
    if workflow_type != RUN:
        raise InvalidRequest(
            f"this worker runs workflow type {RUN!r}, not {workflow_type!r}; start it with "
            f"--type {RUN}"
        )


def _request_of(args: Sequence[RawValue], workflow_id: str) -> RunRequest:
    size = sum(len(value.payload.data) for value in args)
    if size > MAX_PAYLOAD_BYTES:
        raise InvalidRequest(
            f"the input is {size} bytes, at most {MAX_PAYLOAD_BYTES} are taken; "
            "put large values where nodes can read them"
        )
    decoded = _decoded(args)
    if isinstance(decoded, Undecodable):
        raise InvalidRequest(f"the argument is no JSON that can be read ({decoded.text})")
    if len(decoded) != 1:
        raise InvalidRequest(
            f"a run takes one JSON object as its argument, {len(decoded)} arguments were given"
        )
    return parse_request(decoded[0], workflow_id)


def _thread_of(workflow_id: str) -> str:
    try:
        return thread_of_workflow(workflow_id)
    except InvalidRequest:
        return ""


def _refusal_of(refused: Refused) -> JsonObject:
    return {
        "code": refused.code,
        "message": refused.message,
        "lastRun": refused.details.get("lastRun"),
    }
