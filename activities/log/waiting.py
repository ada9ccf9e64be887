"""How a caller waits for a thread of the log: blocking, or on an event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from seeding.errors import CommitUnavailable

_T = TypeVar("_T")


def submit(executor: ThreadPoolExecutor, work: Callable[[], _T]) -> Future[_T]:
    """Hand ``work`` to ``executor``.

    Raises:
        CommitUnavailable: The log was closed.
    """
    try:
        return executor.submit(work)
    except RuntimeError as error:
        raise CommitUnavailable("the log is closed; open it again") from error


async def in_executor(executor: ThreadPoolExecutor, work: Callable[[], _T]) -> _T:
    """Return what ``work`` returns, run in one hop on ``executor``.

    A caller that is cancelled stops waiting; work that has begun is finished all the same.
    """
    return await asyncio.wrap_future(submit(executor, work))
