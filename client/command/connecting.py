"""How an acting verb reaches the server: one connection, one call, one event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio.runtime import Runtime, TelemetryConfig

from client.connection import connect
from client.settings import settings
from client.threads import Threads

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
