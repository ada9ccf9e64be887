"""Branches, the lineages they stand on, and the messages along one."""

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from activities.log.encoding import BRANCH_CHECKED, MESSAGE_CHECKED, load, verify_checksum
from activities.log.stored import StoredBranch
from activities.log.tables import branches, commits, messages, threads
from seeding.commits import BranchPoint
from seeding.errors import CorruptLog, UnknownThread
from seeding.model import Json, JsonObject

_BRANCH = select(branches).where(
    branches.c.thread_id == bindparam("thread"), branches.c.name == bindparam("branch")
)
_BRANCHES = (
    select(branches)
    .where(branches.c.thread_id == bindparam("thread"))
    .order_by(branches.c.opened_version, branches.c.name)
)
_FORKS = (
    select(branches)
    .where(
        *(
            ~select(table.c.thread_id).where(table.c.thread_id == branches.c.thread_id).exists()
            for table in (threads, commits)
        ),
    )
    .order_by(branches.c.thread_id)
)
_COUNT_AT = (
    select(commits.c.message_count)
    .where(
        commits.c.thread_id == bindparam("thread"),
        commits.c.branch == bindparam("branch"),
        commits.c.thread_version <= bindparam("version"),
    )
    .order_by(commits.c.thread_version.desc())
    .limit(1)
)
_MESSAGES = (
    select(messages.c.place, messages.c.message_id, messages.c.body, messages.c.checksum)
    .where(
        messages.c.thread_id == bindparam("thread"),
        messages.c.branch == bindparam("branch"),
        messages.c.place >= bindparam("first"),
        messages.c.place < bindparam("end"),
    )
    .order_by(messages.c.place)
)


class _Stretch(NamedTuple):
    """Places ``first`` to ``end`` of a lineage's messages, which one branch holds."""

    thread_id: str
    branch: str
    first: int
    end: int


def read_branch(connection: Connection, thread_id: str, name: str) -> StoredBranch | None:
    """Return a branch, or None where the thread has none of that name."""
    row = connection.execute(_BRANCH, {"thread": thread_id, "branch": name}).mappings().first()
    return _branch(row) if row else None


def read_branches(connection: Connection, thread_id: str) -> list[StoredBranch]:
    """Return a thread's branches in the order in which they were opened."""
    rows = connection.execute(_BRANCHES, {"thread": thread_id}).mappings()
    return [_branch(row) for row in rows]


def read_forks(connection: Connection) -> list[StoredBranch]:
    """Return the branches of threads that no run was opened on yet, by thread."""
    return [_branch(row) for row in connection.execute(_FORKS).mappings()]


def without_run(connection: Connection, thread_id: str) -> UnknownThread:
    """Return what is raised for a thread without a run: it was forked, or nobody knows it."""
    if read_branches(connection, thread_id):
        return UnknownThread(
            f"thread {thread_id!r} was forked and has no run yet; its first: "
            f"fermata start {shlex.quote(thread_id)} GRAPH"
        )
    return UnknownThread(f"the log has no run of thread {thread_id!r}")


def read_lineage(
    connection: Connection, thread_id: str, branch: str, up_to: int
) -> tuple[BranchPoint, ...]:
    """Return what a point of a branch consists of, outermost first, the branch itself last.

    Raises:
        UnknownThread: The thread has no such branch.
    """
    found = read_branch(connection, thread_id, branch)
    if found is None:
        raise UnknownThread(f"thread {thread_id} has no branch {branch!r}")
    return (*found.lineage, BranchPoint(thread_id=thread_id, branch=branch, up_to=up_to))


def count_messages(connection: Connection, lineage: Sequence[BranchPoint]) -> int:
    """Return how many messages a lineage holds; its length decides nothing of the cost."""
    for point in reversed(lineage):
        count = _count_at(connection, point)
        if count is not None:
            return count
    return 0


def read_messages(
    connection: Connection,
    lineage: Sequence[BranchPoint],
    *,
    after: int = 0,
    limit: int | None = None,
) -> list[JsonObject]:
    """Return the messages along a lineage, oldest first.

    Args:
        connection: An open transaction.
        lineage: As :func:`read_lineage` returns it.
        after: How many messages to pass over.
        limit: How many to return at most; None is all.

    Raises:
        CorruptLog: A message is missing.
    """
    found: list[JsonObject] = []
    for stretch in _stretches(connection, lineage):
        first = max(stretch.first, after + len(found))
        end = stretch.end if limit is None else min(stretch.end, after + limit)
        if first < end:
            found.extend(_read_stretch(connection, stretch._replace(first=first, end=end)))
    return found


def _stretches(connection: Connection, lineage: Sequence[BranchPoint]) -> Iterator[_Stretch]:
    first = 0
    for point in lineage:
        end = _count_at(connection, point)
        if end is None:
            continue
        yield _Stretch(point.thread_id, point.branch, first, end)
        first = max(first, end)


def _read_stretch(connection: Connection, stretch: _Stretch) -> Iterator[JsonObject]:
    parameters = {
        "thread": stretch.thread_id,
        "branch": stretch.branch,
        "first": stretch.first,
        "end": stretch.end,
    }
    place = stretch.first
    for row in connection.execute(_MESSAGES, parameters).mappings():
        if row["place"] != place:
            break
        where = f"message {place} of thread {stretch.thread_id}, branch {stretch.branch!r},"
        verify_checksum(row, MESSAGE_CHECKED, where)
        place += 1
        yield load(row["body"], where)
    if place != stretch.end:
        raise CorruptLog(
            f"message {place} of thread {stretch.thread_id}, branch {stretch.branch!r}, is missing"
        )


def _count_at(connection: Connection, point: BranchPoint) -> int | None:
    return connection.execute(
        _COUNT_AT, {"thread": point.thread_id, "branch": point.branch, "version": point.up_to}
    ).scalar()


def _branch(row: Json) -> StoredBranch:
    where = f"branch {row['name']!r} of thread {row['thread_id']}"
    verify_checksum(row, BRANCH_CHECKED, where)
    points = load(row["lineage"], where)
    return StoredBranch(
        thread_id=row["thread_id"],
        name=row["name"],
        lineage=tuple(BranchPoint.model_validate(point) for point in points),
        opened_version=row["opened_version"],
    )
