"""Reading what a pruning plan is made of, measuring what it takes, and carrying it out.

Of a pruned run the opening and the last commit stay, so that the run table can be made again
and still shows how the run began and ended. Messages stay: pruning shortens no conversation.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Table, and_, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from activities.log.facts import MANY
from activities.log.floors import above_floor, read_floors
from activities.log.pruning_plan import (
    BranchPlan,
    Continuation,
    PrunableRun,
    PruneRule,
    PruningFacts,
    Support,
    plan_pruning,
)
from activities.log.retention_reports import BranchPruning
from activities.log.stored_bytes import StoredBytes
from activities.log.supports import read_continuing, read_standing
from activities.log.tables import (
    branches,
    cells,
    commits,
    effects,
    floors,
    messages,
    run_rows,
    runs,
    threads,
    tickets,
)
from seeding.errors import UnknownThread

_THREADS = select(threads.c.thread_id).order_by(threads.c.thread_id)
_HEAD = select(threads.c.head_run_id).where(threads.c.thread_id == bindparam("thread"))
_RUNS = (
    select(runs.c.run_id, runs.c.branch, runs.c.last_version, runs.c.phase, runs.c.ended_at)
    .where(runs.c.thread_id == bindparam("thread"))
    .order_by(runs.c.opened_version)
)
_BRANCHES = (
    select(branches.c.name)
    .where(branches.c.thread_id == bindparam("thread"))
    .order_by(branches.c.opened_version, branches.c.name)
)
_NEWER = cells.alias("newer")


class _Going(NamedTuple):
    """Rows of one table that go, and what is counted of them."""

    table: Table
    condition: ColumnElement[bool]


def read_threads(connection: Connection, thread_id: str | None = None) -> list[str]:
    """Return the ids of all threads that have a run, or the given one alone.

    Raises:
        UnknownThread: The log has no such thread.
    """
    if thread_id is None:
        return list(connection.execute(_THREADS).scalars())
    if connection.execute(_HEAD, {"thread": thread_id}).scalar() is None:
        raise UnknownThread(f"the log has no run of thread {thread_id!r}")
    return [thread_id]


def plan_thread(connection: Connection, thread_id: str, rule: PruneRule) -> tuple[BranchPlan, ...]:
    """Return what goes of a thread by ``rule``; nothing for one that has no run."""
    head_run_id = connection.execute(_HEAD, {"thread": thread_id}).scalar()
    if head_run_id is None:
        return ()
    return plan_pruning(_read_facts(connection, thread_id, head_run_id), rule)


def measure(connection: Connection, thread_id: str, plan: BranchPlan) -> BranchPruning:
    """Return what carrying a plan out takes from the log."""
    taken = {"commits": 0, "checkpoints": 0, "messages": 0, "bytes": 0}
    for going in _going(thread_id, plan):
        taken["bytes"] += _bytes(connection, going)
        if going.table in (commits, messages):
            taken[going.table.name] += _count(connection, going)
    taken["checkpoints"] = _count(connection, _checkpoints(thread_id, plan))
    return BranchPruning(
        thread_id=thread_id,
        branch=plan.branch,
        whole=plan.whole,
        floor=plan.floor,
        runs=len(plan.runs),
        **taken,
    )


def carry_out(connection: Connection, thread_id: str, plan: BranchPlan, at: str) -> None:
    """Remove what a plan names and raise the branch's floor, which says so to every reader."""
    _raise_floor(connection, thread_id, plan, at)
    for table, condition in _going(thread_id, plan):
        connection.execute(delete(table).where(condition))
    if plan.whole:
        connection.execute(
            delete(branches).where(
                branches.c.thread_id == thread_id, branches.c.name == plan.branch
            )
        )


def _read_facts(connection: Connection, thread_id: str, head_run_id: str) -> PruningFacts:
    asked = {"thread": thread_id}
    return PruningFacts(
        thread_id=thread_id,
        head_run_id=head_run_id,
        runs=tuple(
            PrunableRun(
                run_id=run_id,
                branch=branch,
                last_version=version,
                ended_at=ended_at if phase == "ended" else None,
            )
            for run_id, branch, version, phase, ended_at in connection.execute(_RUNS, asked)
        ),
        branches=tuple(connection.execute(_BRANCHES, asked).scalars()),
        supports=tuple(
            Support(
                branch=found.on.branch,
                up_to=found.on.up_to,
                by_branch=found.branch if found.thread_id == thread_id else None,
            )
            for found in read_standing(connection, thread_id)
        ),
        continuations=tuple(
            Continuation(
                run_id=found.on.run_id,
                by_branch=found.branch if found.thread_id == thread_id else None,
                by_version=found.last_version,
            )
            for found in read_continuing(connection, thread_id)
        ),
        floors=read_floors(connection, thread_id),
    )


# --- what goes ------------------------------------------------------------------------------


def _going(thread_id: str, plan: BranchPlan) -> Iterator[_Going]:
    for part in _parts(plan.runs):
        for table in (run_rows, tickets, effects):
            yield _Going(table, table.c.run_id.in_(part))
        if not plan.whole:
            own = and_(_of_branch(cells, thread_id, plan), cells.c.scope == "run")
            yield _Going(cells, and_(own, cells.c.owner.in_(part)))
        yield _Going(commits, _between(part))
    if plan.whole:
        yield _Going(cells, _of_branch(cells, thread_id, plan))
        yield _Going(messages, _of_branch(messages, thread_id, plan))
    else:
        yield _Going(cells, _superseded(thread_id, plan))


def _of_branch(table: Table, thread_id: str, plan: BranchPlan) -> ColumnElement[bool]:
    return and_(table.c.thread_id == thread_id, table.c.branch == plan.branch)


def _between(run_ids: Sequence[str]) -> ColumnElement[bool]:
    """Return the commits of ended runs but their first and their last."""
    last = select(runs.c.last_ordinal).where(runs.c.run_id == commits.c.run_id).scalar_subquery()
    return and_(commits.c.run_id.in_(run_ids), commits.c.ordinal > 0, commits.c.ordinal < last)


def _superseded(thread_id: str, plan: BranchPlan) -> ColumnElement[bool]:
    """Return the thread's cells at or below the floor that a newer one there replaces."""
    same = and_(
        *(
            _NEWER.c[name] == cells.c[name]
            for name in ("thread_id", "branch", "scope", "owner", "cell", "key")
        )
    )
    later = or_(
        _NEWER.c.version > cells.c.version,
        and_(_NEWER.c.version == cells.c.version, _NEWER.c.place > cells.c.place),
    )
    replaced = select(_NEWER.c.key).where(same, later, _NEWER.c.version <= plan.floor).exists()
    return and_(
        _of_branch(cells, thread_id, plan),
        cells.c.scope == "thread",
        cells.c.version <= plan.floor,
        replaced,
    )


def _checkpoints(thread_id: str, plan: BranchPlan) -> _Going:
    """Return the commits that are listed as checkpoints now and are not any more."""
    listed = and_(
        _of_branch(commits, thread_id, plan),
        commits.c.checkpoint.is_not(None),
        commits.c.thread_version <= plan.floor,
        above_floor(commits, commits.c.thread_version),
    )
    return _Going(commits, listed)


def _bytes(connection: Connection, going: _Going) -> int:
    texts = (column for column in going.table.c if column.type.python_type is str)
    sums = [func.sum(func.coalesce(StoredBytes(column), 0)) for column in texts]
    found = connection.execute(select(*sums).where(going.condition)).one()
    return sum(int(part or 0) for part in found)


def _count(connection: Connection, going: _Going) -> int:
    statement = select(func.count()).select_from(going.table).where(going.condition)
    return connection.execute(statement).scalar() or 0


def _raise_floor(connection: Connection, thread_id: str, plan: BranchPlan, at: str) -> None:
    own = and_(floors.c.thread_id == thread_id, floors.c.branch == plan.branch)
    moved = connection.execute(update(floors).where(own).values(version=plan.floor, at=at))
    if moved.rowcount == 0:
        row = {"thread_id": thread_id, "branch": plan.branch, "version": plan.floor, "at": at}
        connection.execute(insert(floors), row)


def _parts(run_ids: Iterable[str]) -> Iterator[list[str]]:
    listed = list(run_ids)
    for first in range(0, len(listed), MANY):
        yield listed[first : first + MANY]
