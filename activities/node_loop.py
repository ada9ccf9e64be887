"""Where node functions run: on threads that are not the worker's own, with a guard around each.

The worker's event loop heartbeats, commits and answers queries. A node that blocks, exits or
cancels must not hold it up or end it, so an ``async def`` node runs on a second event loop, and
what a node raises travels as a value.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from seeding.model import Json

STOPPING_SECONDS = 2.0
"""How long a cancelled node may take to clean up before its worker no longer waits for it."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What a node function came to.

    Attributes:
        returned: What it returned, if it raised nothing.
        error: What it raised, be it an exit, or None.
    """

    returned: Json = None
    error: BaseException | None = None


def call_plain(work: Callable[[], Json]) -> Outcome:
    """Call a plain function and return what it came to; nothing it raises comes out."""
    try:
        return Outcome(returned=work())
    except BaseException as error:
        return Outcome(error=error)


class _Call:
    """One node on its way, which can be cancelled from another thread at any time."""

    def __init__(self, work: Callable[[], Awaitable[Json]]) -> None:
        self._work = work
        self._task: asyncio.Task[Outcome] | None = None
        self._cancelled = False

    async def outcome(self) -> Outcome:
        """Return what the node came to; an exit would end the loop if it came out of here."""
        self._task = asyncio.current_task()
        try:
            if self._cancelled:
                raise asyncio.CancelledError
            return Outcome(returned=await self._work())
        except BaseException as error:
            return Outcome(error=error)

    def cancel(self) -> None:
        """Cancel the node, also one that has not begun; called on its own loop."""
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()


class NodeLoop:
    """One event loop on a thread of its own, started when the first node needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def run(self, work: Callable[[], Awaitable[Json]]) -> Outcome:
        """Run ``work`` on the node loop, in the caller's context, and return its outcome.

        A cancellation of the caller is passed on to ``work``, which has ``STOPPING_SECONDS`` to
        clean up; an outcome it still comes to is returned.

        Raises:
            asyncio.CancelledError: The caller was cancelled, and ``work`` with it.
            RuntimeError: The loop was closed.
        """
        loop, call = self._started(), _Call(work)
        ended = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call.outcome(), loop))
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError as cancelled:
            loop.call_soon_threadsafe(call.cancel)
            try:
                outcome = await asyncio.wait_for(ended, STOPPING_SECONDS)
            except TimeoutError:
                raise cancelled from None
            if isinstance(outcome.error, asyncio.CancelledError):
                raise
            return outcome

    def close(self) -> None:
        """Cancel what still runs and end the thread; a thread that is blocked is left behind."""
        with self._lock:
            self._closing = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        with suppress(RuntimeError):  # The thread was faster and has closed its loop.
            loop.call_soon_threadsafe(loop.stop)
        thread.join(2 * STOPPING_SECONDS)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closing:
                raise RuntimeError("the loop of the nodes is closed; its worker has stopped")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A blocked node must not keep the process from ending.
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name="node-loop", daemon=True
                )
                self._thread.start()
            return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while not self._closing:
            try:
                loop.run_forever()
            except BaseException:
                # A task that a node started beside itself raised an exit.
                _LOG.warning("the loop of the nodes goes on after", exc_info=True)
        with suppress(BaseException):
            loop.run_until_complete(_cancel_all())
        loop.close()


async def _cancel_all() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), STOPPING_SECONDS)
