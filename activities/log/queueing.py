"""Queued turns, as a part of the log: put, started with a run's opening, refused, taken back."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from activities.log.log_writer import LogWriter
from activities.log.turn_rows import Settled, queue_turn, settle_turn, withdraw_turn
from seeding.model import JsonObject
from seeding.queued_turns import NewTurn, QueuedTurn, QueueReceipt


class Queueing(LogWriter):
    """The part of the log that keeps turns until the thread's open run has ended."""

    def queue_turn(self, thread_id: str, turn: NewTurn) -> QueueReceipt:
        """Put a turn at the end of its thread's queue, once however often it is sent.

        Args:
            thread_id: The thread.
            turn: The turn; its operation and its idempotency key tell it from others.

        Returns:
            Its number; for one that came before under the same key what its first sending was
            told, as a duplicate.

        Raises:
            IdempotencyKeyReuse: Its key was used before, for another request.
            ThreadBusy: 1,000 turns of the thread are queued.
            CommitUnavailable: It is not known whether it was written: send the same again.
            CorruptLog: A row it stands on changed since it was written.
        """
        return self._write(*self._putting(thread_id, turn))

    async def queue_turn_async(self, thread_id: str, turn: NewTurn) -> QueueReceipt:
        """Do what :meth:`queue_turn` does, in one hop off the event loop."""
        return await self._write_async(*self._putting(thread_id, turn))

    def _putting(
        self, thread_id: str, turn: NewTurn
    ) -> tuple[Callable[[Connection], QueueReceipt], str]:
        work = partial(queue_turn, thread_id=thread_id, turn=turn, now=self._clock())
        return work, f"queueing a turn of thread {thread_id}"

    async def refuse_turn_async(self, thread_id: str, number: int, refusal: JsonObject) -> bool:
        """Take a turn out of the queue whose start was refused; the same again is False.

        Args:
            thread_id: The thread.
            number: The turn.
            refusal: ``{code, message}``.
        """
        return await self._settle(thread_id, number, Settled("refused", refusal=refusal))

    async def started_before_async(self, thread_id: str, number: int, run_id: str) -> bool:
        """Take a turn out of the queue that an earlier run was, by its idempotency key."""
        return await self._settle(thread_id, number, Settled("started", run_id=run_id))

    async def _settle(self, thread_id: str, number: int, settled: Settled) -> bool:
        work = partial(
            settle_turn, thread_id=thread_id, number=number, settled=settled, at=self._now()
        )
        return await self._write_async(work, f"settling queued turn {number} of {thread_id}")

    def withdraw_turn(self, thread_id: str, number: int) -> QueuedTurn:
        """Take a queued turn back: no run begins with it.

        Raises:
            InvalidRequest: The thread has no such turn, or it has left the queue.
            CommitUnavailable: It is not known whether it was taken back: ask again.
        """
        work = partial(withdraw_turn, thread_id=thread_id, number=number, at=self._now())
        return self._write(work, f"taking queued turn {number} of {thread_id} back")
