"""How far branches were pruned, and what that makes unreadable.

A floor is the last version of a run that ended on its branch. What is at or below it can no
longer be read as it was, so a read that names it is refused and never answered in part.
"""

from sqlalchemy import Connection, and_, bindparam, func, select
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause

from activities.log.tables import branches, floors, runs
from seeding.errors import CorruptLog, UnknownCheckpoint
from seeding.identity import CheckpointName, parse_checkpoint_id

_FLOOR = select(floors.c.version).where(
    floors.c.thread_id == bindparam("thread"), floors.c.branch == bindparam("branch")
)
_FLOORS = select(floors.c.branch, floors.c.version).where(floors.c.thread_id == bindparam("thread"))
_OF_RUN = (
    select(runs.c.last_ordinal)
    .join(
        floors,
        and_(floors.c.thread_id == runs.c.thread_id, floors.c.branch == runs.c.branch),
    )
    .where(runs.c.run_id == bindparam("run"), runs.c.last_version <= floors.c.version)
)
_BRANCHES = (
    select(branches.c.name)
    .where(branches.c.thread_id == bindparam("thread"))
    .union(select(floors.c.branch).where(floors.c.thread_id == bindparam("thread")))
    .subquery()
)
_COUNT = select(func.count()).select_from(_BRANCHES)


def read_floor(connection: Connection, thread_id: str, branch: str) -> int:
    """Return the floor of a branch, 0 for one that was never pruned."""
    found = connection.execute(_FLOOR, {"thread": thread_id, "branch": branch}).scalar()
    return found or 0


def read_floors(connection: Connection, thread_id: str) -> dict[str, int]:
    """Return the floors of a thread's branches; those that were removed whole have one too.

    Raises:
        CorruptLog: One is no number.
    """
    found: dict[str, int] = {}
    for name, version in connection.execute(_FLOORS, {"thread": thread_id}):
        if not isinstance(version, int):
            raise CorruptLog(f"the floor of branch {name!r} of thread {thread_id!r} is no number")
        found[name] = version
    return found


def count_branches(connection: Connection, thread_id: str) -> int:
    """Return how many branches a thread ever had, so that no name is given twice."""
    return connection.execute(_COUNT, {"thread": thread_id}).scalar() or 0


def is_pruned(connection: Connection, name: str) -> bool:
    """Return whether a checkpoint was there and pruning took it."""
    named = parse_checkpoint_id(name)
    return named is not None and _is_pruned(connection, named)


def check_kept(connection: Connection, name: str) -> None:
    """Refuse a checkpoint that pruning took.

    Raises:
        UnknownCheckpoint: It was pruned; the message says so.
    """
    named = parse_checkpoint_id(name)
    if named is not None and _is_pruned(connection, named):
        raise UnknownCheckpoint(
            f"checkpoint {name!r} was pruned: only how run {named.run_id} began and ended is "
            "left; `fermata checkpoints THREAD` lists those that are kept",
            checkpointId=name,
            pruned=True,
        )


def above_floor(rows: FromClause, version: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a row's version is above the floor of its branch.

    Args:
        rows: A table with ``thread_id`` and ``branch``.
        version: Its column with the version.
    """
    floor = (
        select(floors.c.version)
        .where(floors.c.thread_id == rows.c.thread_id, floors.c.branch == rows.c.branch)
        .scalar_subquery()
    )
    return version > func.coalesce(floor, 0)


def _is_pruned(connection: Connection, named: CheckpointName) -> bool:
    last = connection.execute(_OF_RUN, {"run": named.run_id}).scalar()
    return last is not None and named.ordinal <= last
