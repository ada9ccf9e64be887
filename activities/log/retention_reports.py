"""What pruning and deleting say they took from the log, or would take."""

from seeding.model import Model


class BranchPruning(Model):
    """What goes of one branch of a thread.

    Attributes:
        whole: Whether the branch itself goes, with its messages and cells.
        floor: The thread version up to which it is pruned.
        runs: How many runs are left with their beginning and end only.
        commits: How many commits go.
        checkpoints: How many checkpoints are no longer listed and can no longer be named.
        messages: How many messages go; none but those of a branch that goes whole.
        bytes: The bytes of the texts that go.
    """

    thread_id: str
    branch: str
    whole: bool
    floor: int
    runs: int
    commits: int
    checkpoints: int
    messages: int
    bytes: int


class PruneReport(Model):
    """What a pruning took, or would take.

    Attributes:
        applied: Whether it was carried out; False is a dry run, which writes nothing.
        branches: Every branch of which something goes, by thread.
    """

    applied: bool
    branches: tuple[BranchPruning, ...] = ()


class DeleteReport(Model):
    """What deleting a thread took from the log.

    Attributes:
        threads: The thread, and the threads of its child runs.
        rows: How many rows went, by table; tables without any are left out.
        graphs: How many graph documents went because no run is left that has pinned them.
        overwritten: Whether the bytes are gone from the log's file as well. False where other
            readers held the file, or the database is a server with rules of its own.
    """

    threads: tuple[str, ...]
    rows: dict[str, int]
    graphs: int
    overwritten: bool
