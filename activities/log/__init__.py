"""The commit log: what threads accumulated and what became of their runs, in SQL.

What lives here: the tables, the checks of the write boundary, one transaction for any list of
commits, the reads that rebuild states, positions and checkpoints, and the versions of the
schema. ``dialect`` alone knows which database it is.

What must not: Temporal, node code, a decision about where a run starts or what it does next.
Whatever can be computed from values alone belongs to ``seeding``.
"""

from activities.log.async_reader import AsyncLogReader
from activities.log.commit_log import CommitLog
from activities.log.read_only_log import ReadOnlyLog
from activities.log.stored import (
    CheckpointRow,
    Execution,
    StateView,
    StoredBranch,
    StoredCheckpoint,
    StoredCommit,
    StoredGraph,
    StoredOwner,
    StoredRun,
    StoredThread,
    Takeover,
)

__all__ = [
    "AsyncLogReader",
    "CheckpointRow",
    "CommitLog",
    "Execution",
    "ReadOnlyLog",
    "StateView",
    "StoredBranch",
    "StoredCheckpoint",
    "StoredCommit",
    "StoredGraph",
    "StoredOwner",
    "StoredRun",
    "StoredThread",
    "Takeover",
]
