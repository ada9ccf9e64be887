"""The commit log: what threads accumulated and what became of their runs, in SQL.

What lives here: the tables, the checks of the write boundary, one transaction for any list of
commits, the reads that rebuild states, positions and checkpoints, and the versions of the
schema. ``dialect`` alone knows which database it is.

What must not: Temporal, node code, a decision about where a run starts or what it does next.
Whatever can be computed from values alone belongs to ``seeding``.
"""

from activities.log.async_reader import AsyncLogReader
from activities.log.commit_log import CommitLog
from activities.log.effect_rows import EffectIntent, EffectStanding, EffectStatus, StoredEffect
from activities.log.feed import EventRow
from activities.log.pruning_plan import PruneRule
from activities.log.read_only_log import ReadOnlyLog
from activities.log.reader import LogReader
from activities.log.rebuilding import RebuildReport
from activities.log.retention_reports import BranchPruning, DeleteReport, PruneReport
from activities.log.stored import (
    CheckpointRow,
    Execution,
    PinnedGraph,
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
from activities.log.transcripts import TranscriptReference
from activities.log.verification import Finding

__all__ = [
    "AsyncLogReader",
    "BranchPruning",
    "CheckpointRow",
    "CommitLog",
    "DeleteReport",
    "EffectIntent",
    "EffectStanding",
    "EffectStatus",
    "EventRow",
    "Execution",
    "Finding",
    "LogReader",
    "PinnedGraph",
    "PruneReport",
    "PruneRule",
    "ReadOnlyLog",
    "RebuildReport",
    "StateView",
    "StoredBranch",
    "StoredCheckpoint",
    "StoredCommit",
    "StoredEffect",
    "StoredGraph",
    "StoredOwner",
    "StoredRun",
    "StoredThread",
    "Takeover",
    "TranscriptReference",
]
