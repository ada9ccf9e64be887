"""Checkpoints: what people list, and what a start may name."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from activities.log.floors import above_floor, read_floor
from activities.log.lineage import read_branch, without_run
from activities.log.rows import read_commit_row
from activities.log.runs import read_thread_version
from activities.log.stored import CheckpointRow, StoredCheckpoint
from activities.log.tables import commits, runs
from seeding.commits import BranchPoint
from seeding.counting import counted
from seeding.errors import CorruptLog
from seeding.identity import WORKFLOW_END, checkpoint_id, parse_checkpoint_id

_LISTED = (
    select(
        commits.c.run_id,
        commits.c.ordinal,
        commits.c.branch,
        commits.c.node_id,
        commits.c.checkpoint,
        commits.c.created_at,
    )
    .where(
        commits.c.thread_id == bindparam("thread"),
        commits.c.checkpoint.is_not(None),
        above_floor(commits, commits.c.thread_version),
    )
    .order_by(commits.c.thread_version)
)
_LISTED_AT = (
    select(commits.c.run_id, commits.c.ordinal)
    .where(
        commits.c.thread_id == bindparam("thread"),
        commits.c.branch == bindparam("branch"),
        commits.c.thread_version <= bindparam("version"),
        commits.c.checkpoint.is_not(None),
        above_floor(commits, commits.c.thread_version),
    )
    .order_by(commits.c.thread_version.desc())
    .limit(1)
)
_AT = select(commits.c.run_id, commits.c.ordinal).where(
    commits.c.thread_id == bindparam("thread"), commits.c.thread_version == bindparam("version")
)
_COUNTED = (
    select(runs.c.run_id, runs.c.last_ordinal, func.count(commits.c.ordinal))
    .join_from(runs, commits, commits.c.run_id == runs.c.run_id, isouter=True)
    .where(runs.c.thread_id == bindparam("thread"), above_floor(runs, runs.c.last_version))
    .group_by(runs.c.run_id, runs.c.last_ordinal, runs.c.opened_version)
    .order_by(runs.c.opened_version)
)
_RUN = select(runs.c.phase, runs.c.last_ordinal).where(runs.c.run_id == bindparam("run"))


def read_checkpoints(connection: Connection, thread_id: str) -> list[CheckpointRow]:
    """Return a thread's checkpoints, oldest first, as the contract lists them.

    A checkpoint's parent is the one before it on its branch; for a branch's first that is the
    newest one of what the branch stands on. Those that pruning took are neither.

    Raises:
        UnknownThread: The thread has no commit.
        CorruptLog: A commit is missing.
    """
    if read_thread_version(connection, thread_id) == 0:
        raise without_run(connection, thread_id)
    _check_dense(connection, thread_id)
    newest: dict[str, str | None] = {}
    found: list[CheckpointRow] = []
    for row in connection.execute(_LISTED, {"thread": thread_id}).mappings().all():
        branch: str = row["branch"]
        if branch not in newest:
            newest[branch] = _standing_on(connection, thread_id, branch)
        shown = _shown(row, newest[branch])
        newest[branch] = shown.id
        found.append(shown)
    return found


def _check_dense(connection: Connection, thread_id: str) -> None:
    for run_id, last, found in connection.execute(_COUNTED, {"thread": thread_id}):
        if found != last + 1:
            raise CorruptLog(
                f"run {run_id} of thread {thread_id!r} has {counted(found, 'commit')} of "
                f"{last + 1}; fermata verify says which are missing"
            )


def read_checkpoint(connection: Connection, name: str) -> StoredCheckpoint | None:
    """Return the commit a checkpoint id names, or None where it names none or a pruned one.

    Raises:
        CorruptLog: The commit is not what was accepted.
    """
    parsed = parse_checkpoint_id(name)
    row = read_commit_row(connection, parsed.run_id, parsed.ordinal) if parsed else None
    if row is None:
        return None
    if row["thread_version"] <= read_floor(connection, row["thread_id"], row["branch"]):
        return None
    run = connection.execute(_RUN, {"run": row["run_id"]}).mappings().first()
    if run is None:
        raise CorruptLog(f"run {row['run_id']} has commits but no row")
    return StoredCheckpoint(
        checkpoint_id=name,
        run_id=row["run_id"],
        ordinal=row["ordinal"],
        thread_id=row["thread_id"],
        version=row["thread_version"],
        branch=row["branch"],
        run_ended=run["phase"] == "ended",
        is_last=run["last_ordinal"] == row["ordinal"],
    )


def read_checkpoint_at(connection: Connection, thread_id: str, version: int) -> str | None:
    """Return the checkpoint id of the commit with a version, or None where there is none."""
    row = connection.execute(_AT, {"thread": thread_id, "version": version}).first()
    return checkpoint_id(row[0], row[1]) if row else None


def _standing_on(connection: Connection, thread_id: str, branch: str) -> str | None:
    stored = read_branch(connection, thread_id, branch)
    for point in reversed(stored.lineage if stored else ()):
        found = _newest_at(connection, point)
        if found is not None:
            return found
    return None


def _newest_at(connection: Connection, point: BranchPoint) -> str | None:
    parameters = {"thread": point.thread_id, "branch": point.branch, "version": point.up_to}
    row = connection.execute(_LISTED_AT, parameters).first()
    return checkpoint_id(row[0], row[1]) if row else None


def _shown(row: Mapping[Any, Any], parent: str | None) -> CheckpointRow:
    return CheckpointRow(
        id=checkpoint_id(row["run_id"], row["ordinal"]),
        name=WORKFLOW_END if row["checkpoint"] == "end" else None,
        parent=parent,
        run_id=row["run_id"],
        branch=row["branch"],
        ordinal=row["ordinal"],
        node_id=row["node_id"],
        kind=row["checkpoint"],
        created_at=row["created_at"],
    )
