"""Everything that can be read of the log, each call one consistent prefix of it."""

from collections.abc import Sequence
from datetime import datetime

from activities.log import (
    answers,
    checkpoints,
    effect_rows,
    floors,
    graphs,
    history,
    lineage,
    ownership,
    pruning,
    rows,
    runs,
    states,
    turn_rows,
    whole_lists,
)
from activities.log.effect_rows import StoredEffect
from activities.log.examining import Examining
from activities.log.pruning_plan import PruneRule
from activities.log.retention_reports import BranchPruning, PruneReport
from activities.log.run_points import NEWEST
from activities.log.stored import (
    CheckpointRow,
    StateView,
    StoredBranch,
    StoredCheckpoint,
    StoredCommit,
    StoredGraph,
    StoredOwner,
    StoredRun,
    StoredThread,
)
from seeding.commits import AuditDraft, BranchPoint, PositionHead, RunRow
from seeding.errors import UnknownThread
from seeding.model import Json, JsonObject
from seeding.queued_turns import QueuedTurn
from seeding.tickets import OpenTicket, TicketClosing


class LogReader(Examining):
    """The reading half of the log.

    Every method opens one reading transaction and never waits for a writer. All raise
    ``CommitUnavailable`` where the database does not answer and ``CorruptLog`` where what they
    read is damaged.
    """

    # --- runs, threads, tickets ---------------------------------------------------------------

    def run(self, run_id: str) -> StoredRun | None:
        """Return a run by its id."""
        with self._reading(f"run {run_id}") as connection:
            return runs.read_run(connection, run_id)

    def latest_run(self, thread_id: str) -> StoredRun | None:
        """Return the run opened last on a thread."""
        with self._reading(f"thread {thread_id}") as connection:
            return runs.read_latest_run(connection, thread_id)

    def run_of_chain(self, chain_id: str) -> StoredRun | None:
        """Return the run that an execution chain opened or took over."""
        with self._reading(f"chain {chain_id}") as connection:
            return runs.read_run_of_chain(connection, chain_id)

    def run_of_key(self, thread_id: str, idempotency_key: str) -> StoredRun | None:
        """Return the run of a thread that was opened with an idempotency key."""
        with self._reading(f"thread {thread_id}") as connection:
            return runs.read_run_of_key(connection, thread_id, idempotency_key)

    def queued_turn(self, thread_id: str, number: int) -> QueuedTurn | None:
        """Return a turn of a thread's queue by its number, whatever became of it."""
        with self._reading(f"thread {thread_id}") as connection:
            return turn_rows.read_turn(connection, thread_id, number)

    def queued_turn_of_key(self, thread_id: str, idempotency_key: str) -> QueuedTurn | None:
        """Return the turn that came under an idempotency key and is queued or has started."""
        with self._reading(f"thread {thread_id}") as connection:
            return turn_rows.read_turn_of_key(connection, thread_id, idempotency_key)

    def first_queued(self, thread_id: str) -> QueuedTurn | None:
        """Return the turn that a thread's queue starts next."""
        with self._reading(f"thread {thread_id}") as connection:
            return turn_rows.read_first_queued(connection, thread_id)

    def queued_turns(self, thread_id: str) -> list[QueuedTurn]:
        """Return what is kept of a thread's queued turns, in their order."""
        with self._reading(f"thread {thread_id}") as connection:
            return turn_rows.read_turns(connection, thread_id)

    def count_queued(self, thread_id: str) -> int:
        """Return how many turns of a thread are queued."""
        with self._reading(f"thread {thread_id}") as connection:
            return turn_rows.count_queued(connection, thread_id)

    def count_ahead(self, thread_id: str, sender: str, moment: datetime) -> int:
        """Return how many queued turns come before a start of the chain ``sender`` at ``moment``.

        What came later, or by the start's own door, comes behind it.
        """
        with self._reading(f"thread {thread_id}") as connection:
            return turn_rows.count_ahead(connection, thread_id, sender, moment)

    def threads_with_queue(self) -> list[str]:
        """Return the threads that have queued turns, in the order of their ids."""
        with self._reading("the queued turns") as connection:
            return turn_rows.read_threads_with_queue(connection)

    def runs(self, thread_id: str) -> list[StoredRun]:
        """Return the runs of a thread, oldest first."""
        with self._reading(f"thread {thread_id}") as connection:
            return runs.read_runs(connection, thread_id)

    def threads(self) -> list[StoredThread]:
        """Return every thread with the run opened last on it, in the order of their ids."""
        with self._reading("the threads") as connection:
            return runs.read_threads(connection)

    def highest_epoch(self, thread_id: str) -> int:
        """Return the highest run epoch of a thread, 0 where it has no run."""
        with self._reading(f"thread {thread_id}") as connection:
            return runs.read_highest_epoch(connection, thread_id)

    def thread_version(self, thread_id: str) -> int:
        """Return a thread's version, the value its next commit expects; 0 for a new thread."""
        with self._reading(f"thread {thread_id}") as connection:
            return runs.read_thread_version(connection, thread_id)

    def open_tickets(self, thread_id: str | None = None) -> tuple[OpenTicket, ...]:
        """Return the open tickets of one thread, or of all threads."""
        with self._reading("the open tickets") as connection:
            return runs.read_all_open_tickets(connection, thread_id)

    def closed_tickets(self, run_id: str, limit: int) -> list[TicketClosing]:
        """Return how the newest ``limit`` closed tickets of a run ended, in order of closing."""
        with self._reading(f"run {run_id}") as connection:
            return runs.read_closed_tickets(connection, run_id, limit)

    def answers(
        self, run_id: str, node_id: str, occurrence: int, count: int
    ) -> list[TicketClosing]:
        """Return how the first ``count`` questions of an execution were answered, in order."""
        with self._reading(f"run {run_id}") as connection:
            return answers.read_answers(connection, run_id, node_id, occurrence, count)

    def owners(self, run_id: str) -> list[StoredOwner]:
        """Return who opened a run and who took it over, in order."""
        with self._reading(f"run {run_id}") as connection:
            return ownership.read_owners(connection, run_id)

    # --- branches and messages ----------------------------------------------------------------

    def branches(self, thread_id: str) -> list[StoredBranch]:
        """Return a thread's branches in the order in which they were opened."""
        with self._reading(f"thread {thread_id}") as connection:
            return lineage.read_branches(connection, thread_id)

    def branch_count(self, thread_id: str) -> int:
        """Return how many branches a thread ever had, those that were pruned whole included."""
        with self._reading(f"thread {thread_id}") as connection:
            return floors.count_branches(connection, thread_id)

    def without_run(self, thread_id: str) -> UnknownThread:
        """Return what is raised for a thread without a run: forked, or known to nobody."""
        with self._reading(f"thread {thread_id}") as connection:
            return lineage.without_run(connection, thread_id)

    def threads_without_head(self) -> list[str]:
        """Return the threads whose rows do not lead to their latest run, by their ids."""
        with self._reading("the threads") as connection:
            return whole_lists.read_threads_without_head(connection)

    def forks(self) -> list[StoredBranch]:
        """Return the branches of threads that no run was opened on yet, by thread."""
        with self._reading("the forks") as connection:
            return lineage.read_forks(connection)

    def lineage(self, thread_id: str, branch: str, up_to: int) -> tuple[BranchPoint, ...]:
        """Return what a point of a branch consists of, outermost first, the branch itself last.

        Raises:
            UnknownThread: The thread has no such branch.
        """
        with self._reading(f"thread {thread_id}") as connection:
            return lineage.read_lineage(connection, thread_id, branch, up_to)

    def messages(
        self,
        thread_id: str,
        checkpoint_id: str | None = None,
        *,
        after: int = 0,
        limit: int | None = None,
    ) -> list[JsonObject]:
        """Return the messages of a thread at a checkpoint, oldest first.

        Args:
            thread_id: The thread.
            checkpoint_id: Any of its checkpoints; None is its latest state.
            after: How many messages to pass over.
            limit: How many to return at most; None is all.

        Raises:
            UnknownThread: No run was ever opened on the thread.
            UnknownCheckpoint: The checkpoint does not exist on this thread.
        """
        with self._reading(f"thread {thread_id}") as connection:
            row, _ = states.resolve_commit(connection, thread_id, checkpoint_id)
            along = states.lineage_of(connection, row)
            return lineage.read_messages(connection, along, after=after, limit=limit)

    def commits(self, thread_id: str, *, after: int = 0, limit: int = 500) -> list[StoredCommit]:
        """Return a thread's commits whole, oldest first; the cursor is its version.

        Args:
            thread_id: The thread.
            after: The version to go on after; 0 is the start.
            limit: How many to return at most.
        """
        with self._reading(f"thread {thread_id}") as connection:
            return history.read_commits(connection, thread_id, after=after, limit=limit)

    def opening_events(self, run_id: str) -> tuple[AuditDraft, ...]:
        """Return what the opening of a run recorded beside its state, warnings among them."""
        with self._reading(f"run {run_id}") as connection:
            return history.read_opening_events(connection, run_id)

    # --- states and checkpoints ---------------------------------------------------------------

    def state(
        self, thread_id: str, checkpoint_id: str | None = None, *, messages: bool = True
    ) -> StateView:
        """Return the state of a thread at a checkpoint, by default its latest.

        Args:
            thread_id: The thread.
            checkpoint_id: Any of its checkpoints, or ``workflow_end`` for the latest run's end.
            messages: Whether to read the messages themselves; their count is always there.

        Raises:
            UnknownThread: No run was ever opened on the thread.
            UnknownCheckpoint: The checkpoint does not exist on this thread.
        """
        with self._reading(f"thread {thread_id}") as connection:
            return states.read_state(connection, thread_id, checkpoint_id, messages=messages)

    def checkpoints(self, thread_id: str) -> list[CheckpointRow]:
        """Return a thread's checkpoints, oldest first.

        Raises:
            UnknownThread: No run was ever opened on the thread.
        """
        with self._reading(f"thread {thread_id}") as connection:
            return checkpoints.read_checkpoints(connection, thread_id)

    def checkpoint(self, checkpoint_id: str) -> StoredCheckpoint | None:
        """Return the commit a checkpoint id names, of any thread, or None."""
        with self._reading(f"checkpoint {checkpoint_id}") as connection:
            return checkpoints.read_checkpoint(connection, checkpoint_id)

    def is_pruned(self, checkpoint_id: str) -> bool:
        """Return whether a checkpoint, of any thread, was there and pruning took it."""
        with self._reading(f"checkpoint {checkpoint_id}") as connection:
            return floors.is_pruned(connection, checkpoint_id)

    def checkpoint_at(self, thread_id: str, version: int) -> str | None:
        """Return the checkpoint id of a thread's commit with a version, or None."""
        with self._reading(f"thread {thread_id}") as connection:
            return checkpoints.read_checkpoint_at(connection, thread_id, version)

    # --- what a run owns ----------------------------------------------------------------------

    def position(self, run_id: str, ordinal: int | None = None) -> tuple[PositionHead, JsonObject]:
        """Return a run's position right after a commit, by default its last: head and cells.

        Raises:
            UnknownCheckpoint: The run or its commit does not exist.
        """
        with self._reading(f"run {run_id}") as connection:
            return rows.read_position(connection, run_id, ordinal)

    def outputs(
        self, run_id: str, pairs: Sequence[tuple[str, int]], *, version: int = NEWEST
    ) -> dict[tuple[str, int], Json]:
        """Return output rows by (node id, occurrence); those that do not exist are left out.

        Rows above the thread version ``version`` do not count.
        """
        with self._reading(f"run {run_id}") as connection:
            return rows.read_outputs(connection, run_id, pairs, version=version)

    def all_outputs(self, run_id: str) -> list[RunRow]:
        """Return all output rows of a run in the order in which the executions completed."""
        with self._reading(f"run {run_id}") as connection:
            return rows.read_all_outputs(connection, run_id)

    def completed_outputs(self, run_id: str) -> list[RunRow]:
        """Return what :meth:`all_outputs` returns, one for each completion of a node.

        Raises:
            CorruptLog: They are more or fewer than the completions that the commits tell of.
        """
        with self._reading(f"run {run_id}") as connection:
            return rows.read_completed_outputs(connection, run_id)

    def rows(
        self, run_id: str, kind: str, node_id: str, occurrence: int, up_to_count: int
    ) -> list[Json]:
        """Return the first ``up_to_count`` ``item`` or ``result`` values of a loop, in order.

        Raises:
            CorruptLog: One of them is missing.
        """
        with self._reading(f"run {run_id}") as connection:
            return rows.read_values(connection, run_id, kind, node_id, occurrence, up_to_count)

    def effects(self, thread_id: str, run_id: str | None = None) -> list[StoredEffect]:
        """Return the effects of a thread, or of one of its runs, oldest first."""
        with self._reading(f"thread {thread_id}") as connection:
            return effect_rows.read_effects(connection, thread_id, run_id)

    # --- graphs -------------------------------------------------------------------------------

    def graph(self, digest: str, graph_id: str | None = None) -> StoredGraph | None:
        """Return the graph of a digest; with ``graph_id`` the document kept under that id."""
        with self._reading(f"graph {digest}") as connection:
            return graphs.read_graph(connection, digest, graph_id)

    def graphs_named(self, graph_id: str) -> list[StoredGraph]:
        """Return every version of a graph, oldest first."""
        with self._reading(f"graph {graph_id}") as connection:
            return graphs.read_graphs_named(connection, graph_id)

    # --- pruning ------------------------------------------------------------------------------

    def prunable_threads(self, thread_id: str | None = None) -> list[str]:
        """Return the ids of all threads that have a run, or the given one alone.

        Raises:
            UnknownThread: The log has no such thread.
        """
        with self._reading("the threads") as connection:
            return pruning.read_threads(connection, thread_id)

    def prunable(self, rule: PruneRule, thread_id: str | None = None) -> PruneReport:
        """Return what pruning by a rule would take of one thread, or of all.

        Raises:
            UnknownThread: The log has no such thread.
        """
        found: list[BranchPruning] = []
        for name in self.prunable_threads(thread_id):
            with self._reading(f"thread {name}") as connection:
                for plan in pruning.plan_thread(connection, name, rule):
                    found.append(pruning.measure(connection, name, plan))
        return PruneReport(applied=False, branches=tuple(found))
