"""Deleting everything that the log holds of a thread."""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import Connection, Table, bindparam, delete, or_, select, union
from sqlalchemy.sql.elements import ColumnElement

from activities.log.dialect import overwrite_deletions
from activities.log.facts import read_runs_not_ended, read_thread_head
from activities.log.retention_reports import DeleteReport
from activities.log.supports import read_continuing, read_standing
from activities.log.tables import (
    branches,
    cells,
    commits,
    effects,
    floors,
    graphs,
    messages,
    queued_turns,
    run_owners,
    run_rows,
    runs,
    threads,
    tickets,
)
from seeding.errors import ThreadInUse, ThreadStoodOn, UnknownThread

_CHILDREN = "/flow/"
_MOST_NAMED = 10
_OF_THREAD = (
    commits,
    messages,
    cells,
    run_rows,
    effects,
    floors,
    queued_turns,
    tickets,
    branches,
    runs,
    threads,
)
_RUNS = select(runs.c.run_id, runs.c.graph_digest).where(runs.c.thread_id == bindparam("thread"))


def read_deletable(connection: Connection, thread_id: str) -> tuple[str, ...]:
    """Return the runs of a thread, and of its child runs' threads, that have not ended.

    Raises:
        UnknownThread: The log has nothing of the thread.
        ThreadStoodOn: Branches of other threads stand on it, so it cannot be deleted.
    """
    family = _family(connection, thread_id)
    _check_not_stood_on(connection, thread_id, family)
    return tuple(run for name in family for run in read_runs_not_ended(connection, name))


def delete_thread(
    connection: Connection, thread_id: str, *, gone: Collection[str] = ()
) -> DeleteReport:
    """Remove every row of a thread and of the threads of its child runs.

    Args:
        connection: A writing transaction.
        thread_id: The thread.
        gone: Runs that have not ended and that nothing executes any more.

    Raises:
        UnknownThread: The log has nothing of the thread.
        ThreadInUse: Another run has not ended.
        ThreadStoodOn: Branches of other threads stand on it.
    """
    family = _family(connection, thread_id)
    for name in family:
        read_thread_head(connection, name)
    _check_not_stood_on(connection, thread_id, family)
    _check_ended(connection, thread_id, family, gone)
    overwrite_deletions(connection)
    rows: dict[str, int] = {}
    digests: dict[str, None] = {}
    for name in family:
        for run_id, digest in connection.execute(_RUNS, {"thread": name}).all():
            digests[digest] = None
            _remove(connection, run_owners, run_owners.c.run_id == run_id, rows)
        for table in _OF_THREAD:
            _remove(connection, table, table.c.thread_id == name, rows)
    return DeleteReport(
        threads=tuple(family),
        rows=rows,
        graphs=_remove_graphs(connection, digests),
        overwritten=False,
    )


def _family(connection: Connection, thread_id: str) -> list[str]:
    """Return the thread and the threads of its child runs, as far as the log has any of them.

    Raises:
        UnknownThread: It has none.
    """
    found = union(
        *(
            select(table.c.thread_id).where(
                or_(
                    table.c.thread_id == thread_id,
                    table.c.thread_id.startswith(thread_id + _CHILDREN, autoescape=True),
                )
            )
            for table in (threads, branches, queued_turns)
        )
    )
    family = sorted(connection.execute(found).scalars())
    if not family:
        raise UnknownThread(f"the log has no run of thread {thread_id!r}")
    return family


def _check_not_stood_on(connection: Connection, thread_id: str, family: Sequence[str]) -> None:
    standing: dict[str, None] = {}
    for name in family:
        for found in read_standing(connection, name):
            if found.thread_id not in family:
                standing[f"branch {found.branch!r} of thread {found.thread_id!r}"] = None
        for run in read_continuing(connection, name):
            if run.thread_id not in family:
                standing[f"branch {run.branch!r} of thread {run.thread_id!r}"] = None
    if not standing:
        return
    named = list(standing)
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    raise ThreadStoodOn(
        f"thread {thread_id!r} is stood on by {', '.join(named[:_MOST_NAMED])}{more}, which "
        "would lose what they begin with; delete those threads first",
        standing=list(named),
    )


def _check_ended(
    connection: Connection, thread_id: str, family: Sequence[str], gone: Collection[str]
) -> None:
    for name in family:
        for run_id in read_runs_not_ended(connection, name):
            if run_id not in gone:
                raise ThreadInUse(
                    f"run {run_id} of thread {name!r} has not ended; cancel it before thread "
                    f"{thread_id!r} is deleted",
                    runId=run_id,
                )


def _remove(
    connection: Connection, table: Table, condition: ColumnElement[bool], rows: dict[str, int]
) -> None:
    count = connection.execute(delete(table).where(condition)).rowcount
    if count:
        rows[table.name] = rows.get(table.name, 0) + count


def _remove_graphs(connection: Connection, digests: Iterable[str]) -> int:
    """Remove the graphs that only runs which are gone had pinned; return how many."""
    removed = 0
    for digest in digests:
        pinned = select(runs.c.run_id).where(runs.c.graph_digest == digest).exists()
        gone = delete(graphs).where(graphs.c.digest == digest, ~pinned)
        removed += connection.execute(gone).rowcount
    return removed
