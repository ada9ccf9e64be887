"""How commits reach the log: local where nothing races, normal where something does.

Completions go as local activities, one list of commits at a time; they leave one event in
history. Decisions that race (an accepted answer, a pause, every end) go as normal activities,
because what they decide on is then in history before they run. When the log does not answer at
once, the same operations go as a normal activity, which waits for the log and leaves the run
answerable; commits stay normal until one has succeeded at once.
"""

from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError

from seeding.commits import CommitOperation
from workflows.graph.model import ResolvedGraph
from workflows.summaries import summary
from workflows.wire import COMMIT, END_RUN, FORGET_RUN, OPEN_RUN, CommitInput, CommitReply

MAX_BATCH_COMMITS = 100
"""The most commits of one batch."""

MAX_BATCH_BYTES = 192 * 1024
"""The most bytes of commits in one batch; leaves room below the 256 KB of a payload."""

LOCAL_BATCHES = 10
"""Local batches in one stretch, before a normal one lets signals in."""

_LOCAL_TIME = timedelta(seconds=1)
_NORMAL_TIME = timedelta(seconds=10)
_PATIENT = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=5),
)


class CommitPath:
    """Sends operations to the log, one list in flight at a time."""

    def __init__(self) -> None:
        self._stretch = 0
        self._log_is_slow = False

    def breathe(self) -> None:
        """Say that the workflow has waited for something else since the last batch."""
        self._stretch = 0

    async def completions(self, operations: Sequence[CommitOperation]) -> CommitReply:
        """Commit completions of nodes; local unless the log is slow or a stretch is long."""
        if self._log_is_slow or self._stretch >= LOCAL_BATCHES:
            return await self._normal(COMMIT, CommitInput(operations=operations))
        self._stretch += 1
        try:
            return await workflow.execute_local_activity(
                COMMIT,
                CommitInput(operations=operations, quick=True),
                result_type=CommitReply,
                start_to_close_timeout=_LOCAL_TIME,
                retry_policy=RetryPolicy(maximum_attempts=1),
            )
        except FailureError:
            self._log_is_slow = True
            return await self._normal(COMMIT, CommitInput(operations=operations))

    async def decision(self, operation: CommitOperation, said: str) -> CommitReply:
        """Commit a decision that races with what may still arrive.

        Args:
            operation: The decision.
            said: What it is, for the Temporal UI.
        """
        return await self._normal(COMMIT, CommitInput(operations=[operation]), said)

    async def opening(
        self, operations: Sequence[CommitOperation], graph: ResolvedGraph
    ) -> CommitReply:
        """Commit the opening of a run, with the end of an old one where there is one."""
        return await self._normal(
            OPEN_RUN,
            CommitInput(operations=operations, whole=True, graph=graph),
            f"opens run {operations[-1].commit.thread_id}",
        )

    async def end(self, operation: CommitOperation) -> CommitReply:
        """Commit the end of a run; the reply holds the whole result."""
        cause = operation.commit.disposition.cause
        return await self._normal(
            END_RUN, CommitInput(operations=[operation]), cause.kind if cause else ""
        )

    async def forget(self, run_id: str) -> None:
        """Have an ephemeral run removed; its result is in this execution's history already."""
        await workflow.execute_activity(
            FORGET_RUN,
            run_id,
            start_to_close_timeout=_NORMAL_TIME,
            retry_policy=_PATIENT,
        )

    async def _normal(self, name: str, commits: CommitInput, said: str = "") -> CommitReply:
        reply = await workflow.execute_activity(
            name,
            commits,
            result_type=CommitReply,
            start_to_close_timeout=_NORMAL_TIME,
            retry_policy=_PATIENT,
            summary=summary(said) or None,
        )
        self._stretch = 0
        self._log_is_slow = not reply.at_once
        return reply
