"""How an acting verb reaches the server: one connection, one call, one event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio.runtime import Runtime, TelemetryConfig

from client.connection import connect
from client.errors_of_temporal import nothing_open
from client.log_opening import open_log
from client.settings import settings
from client.threads import Threads
from seeding.errors import FermataError, UnknownThread

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

    The server forgets runs and the log does not: where the server knows none, the log says
    whether the thread was never there, has no run yet, or lost its workflow.

    Raises:
        UnknownThread: Neither knows a run of the thread; the message says what can be done.
        PipelineTerminal: No run of the thread is open on the server.
    """
    try:
        return act(work)
    except UnknownThread as error:
        raise _explained(thread, error) from error


def _explained(thread: str, error: UnknownThread) -> FermataError:
    try:
        with open_log(settings().log_url) as log:
            if log.latest_run(thread) is not None:
                return nothing_open(thread)
            known_otherwise = any(fork.thread_id == thread for fork in log.forks())
            return log.without_run(thread) if known_otherwise else error
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
