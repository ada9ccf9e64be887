"""Seeing a node call through to its end, although its run was cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from temporalio import activity

STOPPING_SECONDS = 2.0
"""How long a stopping worker lets a call go on that its run has asked to end."""

_T = TypeVar("_T")


async def seen_through(work: Coroutine[Any, Any, _T]) -> _T:
    """Return what ``work`` comes to; only the worker's stop cancels it, never the run.

    Raises:
        asyncio.CancelledError: The worker stops, and ``work`` was cancelled.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not _is_asked_by_run():
            task.cancel()
        # The SDK tells a call to end only once, so the stop of its worker is to be watched for.
        watching = asyncio.create_task(_cancel_at_stop(task))
        try:
            return await task
        finally:
            watching.cancel()


def is_worker_stopping() -> bool:
    """Whether this call is to end because of its worker, and not because of its run."""
    if activity.is_worker_shutdown():
        return True
    return activity.is_cancelled() and not _is_asked_by_run()


def _is_asked_by_run() -> bool:
    details = activity.cancellation_details()
    return details is not None and details.cancel_requested


async def _cancel_at_stop(task: "asyncio.Task[_T]") -> None:
    await activity.wait_for_worker_shutdown()
    await asyncio.sleep(STOPPING_SECONDS)
    task.cancel()
