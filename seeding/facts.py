"""What the start activity has read of the log before it decides: plain facts, nothing judged.

Every fact is of one moment, ``ThreadFacts.version``; an opening commit is compared against that
version, so a decision over facts that no longer hold is never written.
"""

from typing import Literal

from seeding.commits import CauseKind
from seeding.decisions import Start
from seeding.identity import checkpoint_id
from seeding.model import JsonObject, Model


def is_elsewhere(owner: str | None, here: str | None) -> bool:
    """Return whether a run may be executed in another namespace than the one that asks.

    The server guarantees one open run a thread within one namespace only, so no other can tell
    that a run is lost. An owner that was recorded without its namespace is taken to be here.

    Args:
        owner: The namespace of the execution that owns the run; None or empty is not known.
        here: The namespace that asks; None or empty is not known.
    """
    return bool(owner) and bool(here) and owner != here


class RunFact(Model):
    """One run as the log knows it.

    Attributes:
        phase: ``running`` and ``awaiting`` are by the run's last commit; whether a workflow
            executes it is not the log's to say. A start on the thread means that none does.
        tickets: Ids of the open tickets, in the order they were opened.
        cause: How the run ended; None while it has not.
        graph: ``id@<first 16 hex of the digest>``, as pinned.
        config: The pinned configuration, as the opening commit recorded it.
        start: Where the run's own starting state came from, as its opening recorded it.
        lost_because: What Temporal says of the execution that left the run; None is unknown.
        namespace: The namespace of the execution that owns the run; None is not known.
        takeovers: How often it was taken over since its last commit.
    """

    run_id: str
    thread_id: str
    branch: str
    run_epoch: int
    phase: Literal["running", "awaiting", "ended"]
    last_ordinal: int
    tickets: tuple[str, ...] = ()
    cause: CauseKind | None = None
    graph: str = ""
    config: JsonObject = {}
    start: Start | None = None
    lost_because: str | None = None
    namespace: str | None = None
    takeovers: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether the log holds the run's end."""
        return self.phase == "ended"

    @property
    def last_checkpoint(self) -> str:
        """The id of the run's last commit."""
        return checkpoint_id(self.run_id, self.last_ordinal)


class CheckpointFact(Model):
    """One checkpoint that exists, with its run as the run is now.

    ``effects_behind`` names the effects that the run has begun or finished and that the
    checkpoint does not know as completed, such as ``pay:0 (done)``.
    """

    checkpoint_id: str
    run: RunFact
    ordinal: int
    thread_id: str
    version: int
    branch: str
    is_last_of_run: bool
    effects_behind: tuple[str, ...] = ()

    @property
    def is_end(self) -> bool:
        """Whether this is the ``workflow_end`` of its run."""
        return self.is_last_of_run and self.run.has_ended


class BranchFact(Model):
    """A branch of a thread that no run was opened on yet, and the checkpoint it stands on."""

    name: str
    point: CheckpointFact


class ThreadFacts(Model):
    """Everything the start table looks at.

    Attributes:
        namespace: The namespace of the execution that starts; None is not known.
        version: The thread's version the facts were read at; 0 for a thread that is not there.
        highest_epoch: The highest run epoch ever given on the thread; 0 for none.
        branch_count: How many branches the thread has.
        latest: The run opened last.
        branch_without_run: The branch a fork has left on a thread that has no run.
        chain_run: The run that this execution's chain has opened or adopted before.
        checkpoint: What ``checkpointId`` resolved to; None where it was not given or is unknown.
        fork: What ``forkFrom`` resolved to; None where it was not given or is unknown.
        pruned: Those of the named checkpoints that were there and that pruning took.
        requested_graph: ``id@<16 hex>`` of the graph the request names; None where it could
            not be resolved, which an adoption does not need.
        queued: How many turns of the thread were queued before the start came.
    """

    thread_id: str
    namespace: str | None = None
    version: int = 0
    highest_epoch: int = 0
    branch_count: int = 0
    latest: RunFact | None = None
    branch_without_run: BranchFact | None = None
    chain_run: RunFact | None = None
    checkpoint: CheckpointFact | None = None
    fork: CheckpointFact | None = None
    pruned: tuple[str, ...] = ()
    requested_graph: str | None = None
    queued: int = 0

    def why_missing(self, named: str) -> str:
        """Return why a checkpoint that was named resolves to nothing, to follow its name."""
        return "was pruned" if named in self.pruned else "does not exist"
