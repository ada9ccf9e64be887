"""What the log hands out: runs, threads, states, checkpoints, graphs."""

from typing import Literal

from seeding.commits import BranchPoint, CommitOperation, EndCause, RunPoint
from seeding.model import JsonObject, Model
from seeding.state import RunState
from seeding.tickets import OpenTicket

RunPhase = Literal["running", "awaiting", "ended"]


class Execution(Model):
    """Temporal's names of the execution that opens or takes over a run."""

    execution_run_id: str | None = None
    namespace: str | None = None


class Takeover(Model):
    """How a run is taken over: where the execution that does so starts from, and its warnings."""

    start: JsonObject = {}
    warnings: tuple[JsonObject, ...] = ()


class StoredOwner(Model):
    """Who owns a run from an owner epoch on.

    Attributes:
        last_ordinal: The run's last commit when it was taken over; -1 for who opened it.
        takeover: How it was taken over; None for who opened it.
    """

    owner_epoch: int
    chain_id: str
    execution: Execution
    at: str
    last_ordinal: int
    takeover: Takeover | None = None


class StoredRun(Model):
    """A run as the log knows it now.

    Attributes:
        phase: What the run's last commit said of it.
        last_version: The thread version of the run's last commit.
        thread_version: The thread's version now, the value the next commit expects.
        result: The report of its end (contract 3), without ``results``, which are rows.
        start: Where its starting state came from (SG-12).
        continues: The runs whose position and rows it goes on with, oldest first.
        pruned: Whether only how it began and ended is left of it.
    """

    run_id: str
    thread_id: str
    branch: str
    run_epoch: int
    chain_id: str
    graph_id: str
    graph_digest: str
    config: JsonObject
    phase: RunPhase
    cause: EndCause | None
    last_ordinal: int
    last_version: int
    thread_version: int
    owner_epoch: int
    result: JsonObject | None
    start: JsonObject
    opened_at: str
    ended_at: str | None
    idempotency_key: str | None = None
    request_hash: str | None = None
    continues: tuple[RunPoint, ...] = ()
    pruned: bool = False
    open_tickets: tuple[OpenTicket, ...] = ()


class StoredThread(Model):
    """A thread, its version and the run opened last on it."""

    thread_id: str
    version: int
    run: StoredRun


class StoredBranch(Model):
    """A branch and what it stands on, outermost first, without itself."""

    thread_id: str
    name: str
    lineage: tuple[BranchPoint, ...]
    opened_version: int


class StoredCheckpoint(Model):
    """A commit that a start may name: whose it is, and whether that run has ended by now."""

    checkpoint_id: str
    run_id: str
    ordinal: int
    thread_id: str
    version: int
    branch: str
    run_ended: bool
    is_last: bool


class CheckpointRow(Model):
    """One row of a thread's checkpoints as people list them (contract 1)."""

    id: str
    name: str | None
    parent: str | None
    run_id: str
    branch: str
    ordinal: int
    node_id: str | None
    kind: str
    created_at: str


class PinnedGraph(Model):
    """A graph document that a run pins when it opens."""

    digest: str
    graph_id: str
    body: JsonObject


class StoredGraph(Model):
    """A graph document kept under its digest."""

    digest: str
    graph_id: str
    body: JsonObject
    created_at: str


class StoredCommit(Model):
    """A commit as it was accepted, with the columns the log gave it.

    Attributes:
        pruned: Its run was pruned, so that state commands and rows of it are gone.
    """

    operation: CommitOperation
    branch: str
    thread_version: int
    created_at: str
    pruned: bool = False


class StateView(Model):
    """The state at one commit, with where it was read.

    Attributes:
        state: The state; ``messages`` is empty where they were not asked for.
        message_count: How many messages the lineage holds at that commit.
        phase: What that commit says of its run; ``run`` says what is true now.
        open_tickets: The tickets that were open right after that commit.
    """

    state: RunState
    message_count: int
    checkpoint_id: str
    ordinal: int
    version: int
    branch: str
    phase: RunPhase
    open_tickets: tuple[OpenTicket, ...]
    run: StoredRun
