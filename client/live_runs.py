"""The live runs of threads, as the server and their workers tell: read and waited for."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from shlex import quote

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.exceptions import FailureError, TerminatedError
from temporalio.service import RPCError

from client.calls import call_server, call_worker
from client.errors_of_temporal import error_of_rpc, result_of_failure
from client.looking import Look, read_look
from client.settings import DEFAULT_TASK_QUEUE
from client.thread_models import Standing, WaitingTicket
from seeding.errors import ClientError, FermataError, NoWorker, StillOpen
from seeding.identity import workflow_id
from seeding.model import Json, JsonObject, as_list, as_object
from workflows.wire import SEED_RUN

DEFAULT_SECONDS = 10.0
"""How long a call may take."""

LAST_LOOK_SECONDS = 2.0
"""How long a run that is over has to show once more what it came to."""

FIRST_INTERVAL = 0.02
LONGEST_INTERVAL = 0.5
"""Seconds between two looks at a run that is waited for; each is half as long again."""

_WAITING = ("awaiting", "paused")

Warnings = tuple[JsonObject, ...]
"""What a start warned of, ``{"code", "message"}`` each."""


class LiveRuns:
    """The runs of threads on one Temporal server, read and waited for.

    Args:
        client: A connected Temporal client, such as ``client.connection.connect`` returns.
        task_queue: Where runs are started.
    """

    def __init__(self, client: Client, task_queue: str = DEFAULT_TASK_QUEUE) -> None:
        self._client = client
        self._task_queue = task_queue

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

    async def why_waiting(self, thread_id: str, *, within: float = DEFAULT_SECONDS) -> str | None:
        """Return what holds up the start of the thread's newest run; needs no worker.

        A run is taken up by a worker that serves every node type of its graph and has the log;
        until one comes its start is tried again and again.

        Returns:
            A sentence with what the worker said that tried it last; None where none has tried
            and failed.

        Raises:
            UnknownThread: The server knows no run of the thread.
            ServerUnreachable: The server did not answer.
        """
        described = await self._describe(thread_id, within)
        for pending in described.raw_description.pending_activities:
            if pending.activity_type.name == SEED_RUN and pending.HasField("last_failure"):
                failure = await self._client.data_converter.decode_failure(pending.last_failure)
                said = failure.message if isinstance(failure, FailureError) else str(failure)
                return (
                    "its start waits for a worker that can take it up; the last that tried says: "
                    f"{said}"
                )
        return None

    async def progress(self, thread_id: str, *, within: float = DEFAULT_SECONDS) -> JsonObject:
        """Return ``{nodeId: {status, executions}}``; raises as :meth:`state` does."""
        return as_object(await self._query(thread_id, "progress", within)) or {}

    async def warnings(self, thread_id: str, *, within: float = DEFAULT_SECONDS) -> Warnings:
        """Return what the start of the thread's newest run warned of; raises as :meth:`state`."""
        return _warnings(as_object(await self._query(thread_id, "provenance", within)) or {})

    async def opened(self, thread_id: str, run_id: str, *, within: float) -> str | None:
        """Wait until a started run has opened; its start may be refused instead.

        Args:
            thread_id: The thread.
            run_id: The run that was started.
            within: Seconds to wait.

        Returns:
            The id of the run, which is an older one's where the start took that over; None where
            no worker has taken the start up in time: the server keeps it for one.

        Raises:
            StartRefused: The start was refused, by the class of its code.
            RunLost: The run's workflow was terminated.
            ServerUnreachable: The server did not answer.
        """
        until = _now() + within
        while (left := until - _now()) > 0:
            if not await self._is_going(thread_id, run_id):
                ended = await self.result(thread_id, run_id, within=DEFAULT_SECONDS)
                return str(ended["runId"])
            try:
                state = await self.state(thread_id, within=left)
            except NoWorker:
                return None
            run = as_object(state.get("run")) or {}
            if run.get("phase") not in ("starting", "refused"):
                return str(run["runId"])
            await asyncio.sleep(FIRST_INTERVAL)
        return None

    async def wait(
        self,
        thread_id: str,
        run_id: str | None = None,
        *,
        within: float | None,
        answered: Sequence[str] = (),
        on_look: Callable[[Look], None] | None = None,
    ) -> Standing:
        """Wait until a run waits for somebody or is over.

        Args:
            thread_id: The thread.
            run_id: The run; by default the thread's newest.
            within: Seconds to wait; None is as long as it takes.
            answered: Tickets with an accepted answer that the run may still have to commit; a
                run that shows no other ticket is not waiting for anybody.
            on_look: Called with how the run stands each time it is looked at.

        Raises:
            StillOpen: It goes on and neither waits nor ended in time.
            StartRefused: The start was refused, by the class of its code.
            RunLost: The run's workflow was terminated.
            NoWorker: No worker answers for the run.
            UnknownThread: The server knows no run of the thread.
            ServerUnreachable: The server did not answer.
        """
        until = None if within is None else _now() + within
        named = run_id or await self._newest(thread_id)
        own, interval, looked = named, FIRST_INTERVAL, False
        warned: Warnings | None = None
        while True:
            if not await self._is_going(thread_id, named):
                return await self._ended(thread_id, named, own, warned, on_look)
            left = DEFAULT_SECONDS if until is None else until - _now()
            if left <= 0:
                held_up = await self._held_up(thread_id)
                raise StillOpen(
                    f"run {own} of thread {thread_id!r} neither waits nor ended within "
                    f"{within:g} s; {held_up or 'it goes on'}"
                )
            try:
                seconds = min(left, DEFAULT_SECONDS)
                state, warned = await self._looked(thread_id, own, seconds, warned, on_look)
            except NoWorker:
                # A look that the end of the caller's time cut short tells nothing of workers.
                if looked and until is not None and until <= _now():
                    continue
                raise
            looked = True
            own = _run_id(state) or own
            standing = _standing(thread_id, own, state)
            if standing is not None and any(
                item.ticket not in answered for item in standing.tickets
            ):
                return standing.model_copy(update={"warnings": warned or ()})
            await asyncio.sleep(min(interval, LONGEST_INTERVAL))
            interval *= 1.5

    async def _ended(
        self,
        thread_id: str,
        chain: str,
        run_id: str,
        warned: Warnings | None,
        on_look: Callable[[Look], None] | None,
    ) -> Standing:
        result = await self.result(thread_id, chain, within=DEFAULT_SECONDS)
        if result["runId"] == chain:  # So says a cancelled run's that no worker tells more of.
            result = {**result, "runId": run_id}
        if on_look is not None:
            # Without a worker what is over cannot be looked at; its result is known all the same.
            with suppress(ClientError):
                if await self._newest(thread_id) == chain:
                    _, warned = await self._looked(
                        thread_id, chain, LAST_LOOK_SECONDS, warned, on_look
                    )
        return Standing(
            run_id=result["runId"],
            thread_id=thread_id,
            phase="ended",
            warnings=_warnings(result) if "warnings" in result else warned or (),
            result=result,
        )

    async def _looked(
        self,
        thread_id: str,
        run_id: str,
        seconds: float,
        warned: Warnings | None,
        on_look: Callable[[Look], None] | None,
    ) -> tuple[JsonObject, Warnings | None]:
        """Return the state, and what the start warned of; None before the run has opened."""
        state = await self.state(thread_id, within=seconds)
        if warned is None and _run_id(state) is not None:
            warned = await self.warnings(thread_id, within=seconds)
        if on_look is not None:
            progress = await self.progress(thread_id, within=seconds)
            look = read_look(state, progress, warned or ())
            if look is None and (held_up := await self._held_up(thread_id)) is not None:
                look = Look(run_id=run_id, phase="starting", held_up=held_up)
            if look is not None:
                on_look(look)
        return state, warned

    async def _held_up(self, thread_id: str) -> str | None:
        """Return what holds up a start; None also where that cannot be told."""
        try:
            return await self.why_waiting(thread_id, within=DEFAULT_SECONDS)
        except FermataError:
            return None

    async def _is_going(self, thread_id: str, run_id: str) -> bool:
        described = await self._describe(thread_id, DEFAULT_SECONDS)
        return described.raw_info.first_run_id == run_id and _is_open(described)

    async def _newest(self, thread_id: str) -> str:
        return (await self._describe(thread_id, DEFAULT_SECONDS)).raw_info.first_run_id

    async def _query(
        self, thread_id: str, name: str, within: float, run_id: str | None = None
    ) -> Json:
        handle = self._handle(thread_id, run_id)
        call = handle.query(name, rpc_timeout=timedelta(seconds=within))
        doing = f"`fermata state {quote(thread_id)}` reads the log and needs none"
        return await call_worker(self._client, thread_id, call, seconds=within, doing=doing)

    async def _describe(self, thread_id: str, within: float) -> WorkflowExecutionDescription:
        call = self._handle(thread_id).describe(rpc_timeout=timedelta(seconds=within))
        return await call_server(thread_id, call, seconds=within)

    def _handle(
        self, thread_id: str, run_id: str | None = None
    ) -> WorkflowHandle[JsonObject, JsonObject]:
        name = workflow_id(thread_id)
        return self._client.get_workflow_handle(name, run_id=run_id)

    async def result(
        self, thread_id: str, run_id: str | None = None, *, within: float
    ) -> JsonObject:
        """Wait for the end of a run and return its result (contract 3).

        A run that failed returns its result too, with ``status`` ``failed``. Of a cancelled
        run Temporal keeps no result: what is returned has ids and status only; the log has
        the rest. Where no worker answers, the run id of a cancelled run is that of the
        execution, also where that took an older run over.

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
        named = run_id or await self._newest(thread_id)
        try:
            async with asyncio.timeout(within):
                return await self._result_of(thread_id, named)
        except TimeoutError as error:
            raise StillOpen(
                f"run {named} of thread {thread_id!r} did not end within {within:g} s; see what "
                f"it does with `fermata state {quote(thread_id)}`"
            ) from error
        except RPCError as error:
            raise error_of_rpc(error, thread_id) from error
        except WorkflowFailureError as failure:
            result = result_of_failure(failure, thread_id, named)
            if result["status"] == "cancelled":
                return {**result, "runId": await self._run_of(thread_id, named)}
            return result

    async def _result_of(self, thread_id: str, chain: str) -> JsonObject:
        """Return the result of a chain; one that was reset goes on in another execution of it."""
        current = chain
        while True:
            try:
                return await self._handle(thread_id, current).result()
            except WorkflowFailureError as failure:
                newest = await self._describe(thread_id, DEFAULT_SECONDS)
                goes_on = newest.raw_info.first_run_id == chain and newest.run_id != current
                if not isinstance(failure.cause, TerminatedError) or not goes_on:
                    raise
                current = newest.run_id

    async def _run_of(self, thread_id: str, chain: str) -> str:
        """Return the run that a closed chain opened or took over; its own where nobody tells."""
        with suppress(ClientError):
            state = await self._query(thread_id, "state", LAST_LOOK_SECONDS, chain)
            return _run_id(as_object(state) or {}) or chain
        return chain


def _run_id(state: JsonObject) -> str | None:
    """Return the run that a state is of; None before it has opened."""
    named = (as_object(state.get("run")) or {}).get("runId")
    return named if isinstance(named, str) else None


def _warnings(told: JsonObject) -> Warnings:
    listed = map(as_object, as_list(told.get("warnings")) or [])
    return tuple(item for item in listed if item is not None)


def _standing(thread_id: str, run_id: str, state: JsonObject) -> Standing | None:
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


def _now() -> float:
    return asyncio.get_running_loop().time()


def _is_open(described: WorkflowExecutionDescription) -> bool:
    # Between two executions of one chain the older one is what is described for a moment.
    return described.status in (
        WorkflowExecutionStatus.RUNNING,
        WorkflowExecutionStatus.CONTINUED_AS_NEW,
    )
