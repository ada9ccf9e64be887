"""How an acting verb reaches the server: one connection, one call, one event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio.runtime import Runtime, TelemetryConfig

from client.connection import connect
from client.log_opening import open_log
from client.lost_runs import explained
from client.settings import settings
from client.threads import Threads
from seeding.errors import FermataError, PipelineTerminal, RunLost, UnknownThread

_Answer = TypeVar("_Answer")


def act(work: Callable[[Threads], Awaitable[_Answer]]) -> _Answer:
    """Return what ``work`` does on the configured server.

    Raises:
        InvalidSettings: The address or the profile cannot be read.
        ServerUnreachable: Nothing answers there.
    """
    hush()
    return asyncio.run(_acting(work))


async def _acting(work: Callable[[Threads], Awaitable[_Answer]]) -> _Answer:
    return await work(Threads(await connect(), settings().task_queue))


def act_at(thread: str, work: Callable[[Threads], Awaitable[_Answer]]) -> _Answer:
    """Return what ``work`` does at the run of a thread.

    Where the server has no open run, the log says why (``client.lost_runs``).

    Raises:
        UnknownThread: Neither knows a run of the thread, or it belongs to another namespace; the
            message says what can be done.
        PipelineTerminal: No run of the thread is open on the server.
        RunLost: The run's workflow was terminated.
    """
    hush()
    return asyncio.run(_acting_at(thread, work))


async def _acting_at(thread: str, work: Callable[[Threads], Awaitable[_Answer]]) -> _Answer:
    client = await connect()
    try:
        return await work(Threads(client, settings().task_queue))
    except (UnknownThread, PipelineTerminal, RunLost) as error:
        raise _explained(thread, client.namespace, error) from error


def _explained(
    thread: str, namespace: str, error: UnknownThread | PipelineTerminal | RunLost
) -> FermataError:
    try:
        with open_log(settings().log_url) as log:
            return explained(log, thread, namespace, error)
    except FermataError:
        return error  # Without a log there is nothing to add.


def act_on(work: Callable[[], Awaitable[_Answer]]) -> _Answer:
    """Return what ``work`` does, which connects by itself.

    Raises:
        FermataError: Whatever ``work`` raises.
    """
    hush()
    return asyncio.run(_awaited(work))


async def _awaited(work: Callable[[], Awaitable[_Answer]]) -> _Answer:
    return await work()


def hush() -> None:
    """Keep the SDK's own log lines out of the answer; what they tell is raised as an error."""
    quiet = Runtime(telemetry=TelemetryConfig(logging=None))
    Runtime.set_default(quiet, error_if_already_set=False)
