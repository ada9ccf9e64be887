"""The typed client: starts, answers, reads and waits for the runs of threads.

Every call has a deadline, in seconds, and raises one error per cause.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from client.calls import call_server, call_worker
from client.errors_of_temporal import error_of_rpc, result_of_failure
from client.settings import DEFAULT_TASK_QUEUE
from client.start_call import details_of_start, payload_of, summary_of
from client.thread_models import (
    NOT_GIVEN,
    NotGiven,
    Standing,
    StartedRun,
    WaitingTicket,
)
from seeding.errors import (
    FermataError,
    StillOpen,
    ThreadBusy,
)
from seeding.identity import workflow_id
from seeding.model import Json, JsonObject, as_list, as_object
from seeding.request import RunRequest, parse_request
from workflows.commands import parse_command
from workflows.inbox_model import Reply

DEFAULT_SECONDS = 10.0
"""How long a call may take."""

BUSY_SECONDS = 2.0
"""How long a busy thread's run has to name its tickets."""

FIRST_INTERVAL = 0.02
LONGEST_INTERVAL = 0.5
"""Seconds between two looks at a run that is waited for; each is half as long again."""

RUN = "Run"
"""The workflow type."""

_WAITING = ("awaiting", "paused")


class Threads:
    """The runs of threads on one Temporal server.

    Args:
        client: A connected Temporal client, such as ``client.connection.connect`` returns.
        task_queue: Where runs are started.
    """

    def __init__(self, client: Client, task_queue: str = DEFAULT_TASK_QUEUE) -> None:
        self._client = client
        self._task_queue = task_queue

    # --- starting and ending ------------------------------------------------------------------

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

    async def result(
        self, thread_id: str, run_id: str | None = None, *, within: float
    ) -> JsonObject:
        """Wait for the end of a run and return its result (contract 3).

        A run that failed returns its result too, with ``status`` ``failed``. Of a cancelled
        run Temporal keeps no result: what is returned has ids and status only; the log has
        the rest.

        Args:
            thread_id: The thread.
            run_id: The run; by default the thread's newest.
            within: Seconds to wait for the end.

        Raises:
            StartRefused: The start was refused, by the class of its code.
            StillOpen: The run did not end in time.
            RunLost: Its workflow was terminated or timed out.
            UnknownThread: The server knows no such run.
            ServerUnreachable: The server did not answer.
        """
        described = await self._describe(thread_id, DEFAULT_SECONDS)
        named = run_id or described.raw_info.first_run_id
        try:
            async with asyncio.timeout(within):
                return await self._handle(thread_id, named).result()
        except TimeoutError as error:
            raise StillOpen(
                f"run {named} of thread {thread_id!r} did not end within {within:g} s; see what "
                f"it does with `fermata state {thread_id}`"
            ) from error
        except RPCError as error:
            raise error_of_rpc(error, thread_id) from error
        except WorkflowFailureError as failure:
            return result_of_failure(failure, thread_id, named)

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
        answer = await call_worker(
            self._client,
            thread_id,
            call,
            seconds=within,
            doing=f"the {name} may still be taken when one comes",
        )
        return Reply.model_validate(answer)

    # --- reading the live run -------------------------------------------------------------------

    async def state(self, thread_id: str, *, within: float = DEFAULT_SECONDS) -> JsonObject:
        """Return the state as the thread's newest run holds it (contract 4, query ``state``).

        Raises:
            NoWorker: No worker answered.
            UnknownThread: The server knows no run of the thread.
            ServerUnreachable: The server did not answer.
            CallRefused: The run cannot answer.
        """
        return as_object(await self._query(thread_id, "state", within)) or {}

    async def tickets(
        self, thread_id: str, *, within: float = DEFAULT_SECONDS
    ) -> tuple[WaitingTicket, ...]:
        """Return what the thread's newest run waits for; raises as :meth:`state` does."""
        shown = as_list(await self._query(thread_id, "tickets", within)) or []
        return tuple(WaitingTicket.model_validate(item) for item in shown)

    async def open_execution(
        self, thread_id: str, *, within: float = DEFAULT_SECONDS
    ) -> str | None:
        """Return the run id of the execution that is open on a thread; needs no worker.

        Returns:
            The first execution's id, None where nothing is open on the thread.

        Raises:
            UnknownThread: The server knows no run of the thread.
            ServerUnreachable: The server did not answer.
        """
        described = await self._describe(thread_id, within)
        return described.raw_info.first_run_id if _is_open(described) else None

    async def wait(
        self,
        thread_id: str,
        run_id: str | None = None,
        *,
        within: float,
        answered: Sequence[str] = (),
    ) -> Standing:
        """Wait until a run waits for somebody or is over.

        Args:
            thread_id: The thread.
            run_id: The run; by default the thread's newest.
            within: Seconds to wait.
            answered: Tickets with an accepted answer that the run may still have to commit; a
                run that shows no other ticket is not waiting for anybody.

        Raises:
            StillOpen: It goes on and neither waits nor ended in time.
            StartRefused: The start was refused, by the class of its code.
            RunLost: The run's workflow was terminated.
            NoWorker: No worker answers for the run.
            UnknownThread: The server knows no run of the thread.
            ServerUnreachable: The server did not answer.
        """
        until = asyncio.get_running_loop().time() + within
        interval = FIRST_INTERVAL
        while True:
            described = await self._describe(thread_id, DEFAULT_SECONDS)
            newest = described.raw_info.first_run_id
            named = run_id or newest
            if newest != named or not _is_open(described):
                ended = await self.result(thread_id, named, within=DEFAULT_SECONDS)
                return Standing(run_id=named, thread_id=thread_id, phase="ended", result=ended)
            left = until - asyncio.get_running_loop().time()
            if left <= 0:
                raise StillOpen(
                    f"run {named} of thread {thread_id!r} neither waits nor ended within "
                    f"{within:g} s; it goes on"
                )
            standing = await self._standing(thread_id, named, min(left, DEFAULT_SECONDS))
            if standing is not None and any(
                item.ticket not in answered for item in standing.tickets
            ):
                return standing
            await asyncio.sleep(min(interval, LONGEST_INTERVAL))
            interval *= 1.5

    async def _standing(self, thread_id: str, run_id: str, seconds: float) -> Standing | None:
        state = await self.state(thread_id, within=seconds)
        run = as_object(state.get("run")) or {}
        phase = run.get("phase")
        if phase not in _WAITING:
            return None
        waiting = as_list(run.get("waitingFor")) or []
        return Standing(
            run_id=run_id,
            thread_id=thread_id,
            phase=phase,
            tickets=tuple(WaitingTicket.model_validate(item) for item in waiting),
        )

    async def _query(self, thread_id: str, name: str, within: float) -> Json:
        call = self._handle(thread_id).query(name, rpc_timeout=timedelta(seconds=within))
        doing = f"`fermata state {thread_id}` reads the log and needs none"
        return await call_worker(self._client, thread_id, call, seconds=within, doing=doing)

    async def _describe(self, thread_id: str, within: float) -> WorkflowExecutionDescription:
        call = self._handle(thread_id).describe(rpc_timeout=timedelta(seconds=within))
        return await call_server(thread_id, call, seconds=within)

    def _handle(
        self, thread_id: str, run_id: str | None = None
    ) -> WorkflowHandle[JsonObject, JsonObject]:
        name = workflow_id(thread_id)
        return self._client.get_workflow_handle(name, run_id=run_id)

    async def _busy(self, thread_id: str, run_id: str | None) -> ThreadBusy:
        try:
            open_now = await self.tickets(thread_id, within=BUSY_SECONDS)
        except FermataError:
            return _busy(thread_id, run_id, None)
        return _busy(thread_id, run_id, [item.ticket for item in open_now])


def _busy(thread_id: str, run_id: str | None, tickets: list[str] | None) -> ThreadBusy:
    doing = "is open"
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


def _reason(reason: str | None) -> JsonObject:
    return {} if reason is None else {"reason": reason}


def _is_open(described: WorkflowExecutionDescription) -> bool:
    # Between two executions of one chain the older one is what is described for a moment.
    return described.status in (
        WorkflowExecutionStatus.RUNNING,
        WorkflowExecutionStatus.CONTINUED_AS_NEW,
    )
