"""What is kept of threads, and for how long."""

from collections.abc import Collection
from datetime import timedelta
from functools import partial

from sqlalchemy import Connection

from activities.log import pruning
from activities.log.deleting import delete_thread, read_deletable
from activities.log.dialect import reuses_space, storage_errors, write_anew
from activities.log.facts import read_thread_head
from activities.log.log_writer import LogWriter
from activities.log.pruning_plan import PruneRule
from activities.log.retention_reports import BranchPruning, DeleteReport, PruneReport
from activities.log.waiting import submit


class Retention(LogWriter):
    """The part of the log that takes back: pruning what is old, deleting whole threads."""

    def prune(
        self,
        thread_id: str | None = None,
        *,
        older_than: timedelta,
        keep: int,
        apply: bool = False,
    ) -> PruneReport:
        """Remove the inner parts of old runs, and old branches that nothing stands on.

        A run goes where it ended longer ago than ``older_than`` and is not among the newest
        ``keep`` of its branch. What stays whatever the rule says, and what stays of a run that
        goes, is written down in ``pruning_plan`` and ``pruning``.

        Args:
            thread_id: The thread; None is every thread.
            older_than: The age of what goes, counted from a run's end.
            keep: How many of the newest runs of each branch stay, whatever their age; at least
                0.
            apply: Whether to remove anything; without, the report says what would go. Each
                thread is one transaction, which makes its plan anew.

        Raises:
            UnknownThread: The log has no such thread.
        """
        rule = PruneRule.older_than(older_than, self._clock(), keep)
        if not apply:
            return self.prunable(rule, thread_id)
        taken: list[BranchPruning] = []
        for name in self.prunable_threads(thread_id):
            work = partial(_prune, thread_id=name, rule=rule, at=self._now())
            taken.extend(self._write(work, f"pruning thread {name}"))
        return PruneReport(applied=True, branches=tuple(taken))

    def deletable(self, thread_id: str) -> tuple[str, ...]:
        """Return the runs that have to end, or be known as gone, before a thread is deleted.

        Raises:
            UnknownThread: The log has nothing of the thread.
            ThreadStoodOn: Branches of other threads stand on it, so it cannot be deleted.
        """
        with self._reading(f"thread {thread_id}") as connection:
            return read_deletable(connection, thread_id)

    def delete_thread(self, thread_id: str, *, gone: Collection[str] = ()) -> DeleteReport:
        """Remove everything the log holds of a thread and of the threads of its child runs.

        In a file the bytes are overwritten as well: it is written anew afterwards, which takes
        a time that grows with all it holds. The thread can be started afresh; its first run has
        epoch 1 again, under a run id of its own.

        Args:
            thread_id: The thread.
            gone: Runs that have not ended and may go all the same, because it is known that
                nothing executes them any more.

        Raises:
            UnknownThread: The log has nothing of the thread.
            ThreadInUse: Another run has not ended.
            ThreadStoodOn: Branches of other threads stand on it.
        """
        work = partial(delete_thread, thread_id=thread_id, gone=gone)
        report = self._write(work, f"deleting thread {thread_id}")
        return report.model_copy(update={"overwritten": self.write_anew()})

    def write_anew(self) -> bool:
        """Write the log's file anew: as large as what it holds, nothing deleted left in it.

        Returns:
            False where somebody else reads or writes the file for too long, and on a server.
        """
        return submit(self._writer, self._write_anew).result()

    @property
    def reuses_space(self) -> bool:
        """Whether the log is on a server, which uses the space of what went again by itself."""
        return reuses_space(self._engine)

    def _write_anew(self) -> bool:
        with storage_errors("writing the log's file anew"):
            return write_anew(self._engine)


def _prune(
    connection: Connection, *, thread_id: str, rule: PruneRule, at: str
) -> tuple[BranchPruning, ...]:
    read_thread_head(connection, thread_id)
    plans = pruning.plan_thread(connection, thread_id, rule)
    taken: list[BranchPruning] = []
    for plan in plans:
        taken.append(pruning.measure(connection, thread_id, plan))
        pruning.carry_out(connection, thread_id, plan, at)
    return tuple(taken)
