"""The typed client: starts, answers, reads and waits for the runs of threads.

Every call has a deadline, in seconds, and raises one error per cause.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from temporalio.client import WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from activities.start_call import details_of_start, payload_of, summary_of
from client.calls import call_server, call_worker
from client.live_runs import DEFAULT_SECONDS, LiveRuns
from client.thread_models import NOT_GIVEN, NotGiven, StartedRun, TakenUp
from seeding.errors import FermataError, NoActivePause, NothingToAnswer, ThreadBusy
from seeding.identity import queue_id, workflow_id
from seeding.model import Json, JsonObject, as_object
from seeding.request import RunRequest, parse_request
from workflows.commands import parse_command
from workflows.inbox_model import Reply
from workflows.wire import RUN, TURN_QUEUE

BUSY_SECONDS = 2.0
"""How long a busy thread's run has to name its tickets."""


class Threads(LiveRuns):
    """The runs of threads on one Temporal server: started, answered, read and waited for.

    Args:
        client: A connected Temporal client, such as ``client.connection.connect`` returns.
        task_queue: Where runs are started.
    """

    async def start(
        self,
        thread_id: str,
        request: RunRequest | Mapping[str, Json],
        *,
        within: float = DEFAULT_SECONDS,
    ) -> StartedRun:
        """Start a run on a thread (contract 2).

        What only the world can tell (is the graph known, does the checkpoint exist) is decided
        by the run itself; :meth:`result` and :meth:`wait` raise such a refusal.

        Args:
            thread_id: The thread.
            request: The request; only ``graph`` is required.
            within: Seconds the server has to answer.

        Raises:
            InvalidRequest: The request is not of the documented shape; nothing was started.
            ThreadBusy: A run of the thread is open; ``details`` name its ``runId`` and, where
                a worker answered in time, its open ``tickets``.
            ServerUnreachable: The server did not answer.
            CallRefused: The server refused the start.
        """
        payload = payload_of(request)
        checked = parse_request(payload, workflow_id(thread_id))
        call = self._client.start_workflow(
            RUN,
            payload,
            id=workflow_id(thread_id),
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            static_summary=summary_of(checked),
            static_details=details_of_start(checked),
            rpc_timeout=timedelta(seconds=within),
        )
        try:
            handle = await call_server(thread_id, call, seconds=within)
        except WorkflowAlreadyStartedError as error:
            raise await self._busy(thread_id, error.first_run_id or error.run_id) from error
        return StartedRun(
            run_id=handle.first_execution_run_id or "",
            thread_id=thread_id,
            workflow_id=handle.id,
        )

    async def submit(
        self,
        thread_id: str,
        request: RunRequest | Mapping[str, Json],
        *,
        within: float = DEFAULT_SECONDS,
    ) -> Reply:
        """Queue a turn, whatever the thread is doing; on an idle one it starts at once.

        It is in the log when this returns, and starts when the turns before it are over. A
        request whose ``config.onBusy`` is ``supersede`` has the open run cancelled; one that
        does not say ``queue`` or ``supersede`` is queued.

        Args:
            thread_id: The thread.
            request: The request; its ``idempotencyKey`` makes a repetition the same turn.
            within: Seconds the queue has to answer.

        Raises:
            StartRefused: The request was refused, by the class of its code; nothing was queued.
            NoWorker: No worker answered; the turn may still be queued when one comes.
            ServerUnreachable: The server did not answer.
        """
        payload = _queueing(payload_of(request))
        parse_request(payload, workflow_id(thread_id))
        queue: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
            TURN_QUEUE,
            id=queue_id(thread_id),
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            static_summary=f"turns queued on {thread_id}",
        )
        # The SDK leaves the type of one of its overloads open.
        call = self._client.execute_update_with_start_workflow(  # pyright: ignore[reportUnknownMemberType]
            "turn",
            payload,
            start_workflow_operation=queue,
            rpc_timeout=timedelta(seconds=within),
        )
        doing = "the turn may still be queued when one comes"
        answer = await call_worker(self._client, thread_id, call, seconds=within, doing=doing)
        return Reply.model_validate(answer)

    async def start_or_queue(
        self, thread_id: str, request: RunRequest, *, within: float, open_within: float
    ) -> TakenUp | Reply:
        """Start a run; on a busy thread do what ``config.onBusy`` says (contract 2).

        A thread is busy while a run of it is open, and while turns are queued on it.

        Args:
            thread_id: The thread.
            request: The request.
            within: Seconds a call may take.
            open_within: Seconds a worker has to take the run up.

        Returns:
            The run, and under which id it goes on once a worker has taken it up; or what the
            queue answered.

        Raises:
            StartRefused: The start was refused, by the class of its code.
            FermataError: As :meth:`start`, ``opened`` and :meth:`submit`.
        """
        try:
            started = await self.start(thread_id, request, within=within)
            opened = await self.opened(thread_id, started.run_id, within=open_within)
        except ThreadBusy:
            if request.config.on_busy == "reject":
                raise
            return await self.submit(thread_id, request, within=within)
        return TakenUp(started=started, run_id=opened)

    async def _busy(self, thread_id: str, run_id: str | None) -> ThreadBusy:
        try:
            open_now = await self.tickets(thread_id, within=BUSY_SECONDS)
            held_up = None if open_now else await self.why_waiting(thread_id, within=BUSY_SECONDS)
        except FermataError:
            return _busy(thread_id, run_id, None)
        return _busy(thread_id, run_id, [item.ticket for item in open_now], held_up)

    # --- doors ----------------------------------------------------------------------------------

    async def resume(
        self,
        thread_id: str,
        *,
        ticket: str | None = None,
        decision: str | None = None,
        value: Json | NotGiven = NOT_GIVEN,
        actor: str | None = None,
        command_id: str | None = None,
        within: float = DEFAULT_SECONDS,
    ) -> Reply:
        """Answer a ticket; without a decision and a value, lift a pause (contract 5).

        Args:
            thread_id: The thread.
            ticket: The ticket to answer; without one, the only one that is open.
            decision: The decision, such as ``approve``.
            value: The value; None is given as null.
            actor: Who answers, as it is recorded.
            command_id: Repeating a command under its id gets the first answer again.
            within: Seconds the run has to answer.

        Raises:
            CommandRefused: The run refused it, by the class of its code.
            NoWorker: No worker answered; the command may still be taken when one comes.
            UnknownThread: The server knows no run of the thread.
            ServerUnreachable: The server did not answer.
        """
        given: JsonObject = {
            "ticket": ticket,
            "decision": decision,
            "actor": actor,
            "commandId": command_id,
        }
        payload = {name: item for name, item in given.items() if item is not None}
        if not isinstance(value, NotGiven):
            payload["value"] = value
        return await self._command(thread_id, "resume", payload, within)

    async def pause(
        self, thread_id: str, *, reason: str | None = None, within: float = DEFAULT_SECONDS
    ) -> Reply:
        """Hold a run until the pause is lifted; raises as :meth:`resume` does."""
        return await self._command(thread_id, "pause", _reason(reason), within)

    async def cancel(
        self, thread_id: str, *, reason: str | None = None, within: float = DEFAULT_SECONDS
    ) -> Reply:
        """Cancel a run; raises as :meth:`resume` does."""
        return await self._command(thread_id, "cancel", _reason(reason), within)

    async def message(
        self,
        thread_id: str,
        message: str | JsonObject,
        *,
        graph: str | JsonObject | None = None,
        on_busy: str | None = None,
        idempotency_key: str | None = None,
        within: float = DEFAULT_SECONDS,
    ) -> Reply:
        """Offer a message to the thread's open run; raises as :meth:`resume` does."""
        given: JsonObject = {
            "message": message,
            "graph": graph,
            "onBusy": on_busy,
            "idempotencyKey": idempotency_key,
        }
        payload = {name: item for name, item in given.items() if item is not None}
        return await self._command(thread_id, "message", payload, within)

    async def _command(
        self, thread_id: str, name: str, payload: JsonObject, within: float
    ) -> Reply:
        parse_command(name, [payload])
        # The SDK leaves the type of one of its overloads open.
        call = self._handle(thread_id).execute_update(  # pyright: ignore[reportUnknownMemberType]
            name, payload, rpc_timeout=timedelta(seconds=within)
        )
        doing = f"the {name} may still be taken when one comes"
        try:
            answer = await call_worker(self._client, thread_id, call, seconds=within, doing=doing)
        except (NothingToAnswer, NoActivePause) as refusal:
            held_up = await self._held_up(thread_id)
            if held_up is None:
                raise
            raise type(refusal)(f"{refusal.message}; {held_up}", **refusal.details) from refusal
        return Reply.model_validate(answer)


def _busy(
    thread_id: str, run_id: str | None, tickets: list[str] | None, held_up: str | None = None
) -> ThreadBusy:
    doing = "is open"
    if held_up is not None:
        return ThreadBusy(
            f"run {run_id} of thread {thread_id!r} has not begun: {held_up}",
            runId=run_id,
            tickets=tickets or [],
        )
    if tickets:
        doing = f"waits for an answer to {', '.join(tickets)}"
    elif tickets is not None:
        doing = "is running"
    return ThreadBusy(
        f"run {run_id} of thread {thread_id!r} {doing}; answer it, wait for its end or cancel it "
        "before the next turn",
        runId=run_id,
        tickets=tickets or [],
    )


def _queueing(payload: JsonObject) -> JsonObject:
    """Return a request that is queued where it does not say otherwise."""
    config = as_object(payload.get("config", {}))
    if config is None or config.get("onBusy", "reject") != "reject":
        return payload
    return {**payload, "config": {**config, "onBusy": "queue"}}


def _reason(reason: str | None) -> JsonObject:
    return {} if reason is None else {"reason": reason}
