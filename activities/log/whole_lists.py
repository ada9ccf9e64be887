"""Whether the lists that are made of the commits have every row that a read counts on.

Counts and names are compared, which costs a read a row or two; ``fermata verify`` compares the
rows themselves, and ``fermata rebuild`` makes again what is missing.
"""

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, select

from activities.log.encoding import load
from activities.log.tables import commits, runs, threads
from seeding.commits import Disposition
from seeding.counting import counted
from seeding.errors import CorruptLog

_OF_THREAD = tuple(
    select(table.c.thread_id).where(table.c.thread_id == bindparam("thread")).limit(1)
    for table in (commits, runs)
)
_THREAD_OF_RUN = select(commits.c.thread_id).where(commits.c.run_id == bindparam("run")).limit(1)
_AWAITED = (
    select(runs.c.run_id, runs.c.thread_id, commits.c.disposition)
    .join_from(
        runs,
        commits,
        and_(commits.c.run_id == runs.c.run_id, commits.c.ordinal == runs.c.last_ordinal),
    )
    .where(runs.c.phase == "awaiting")
    .order_by(runs.c.thread_id, runs.c.run_id)
)
_HEADED = (
    select(threads.c.thread_id)
    .join(
        runs,
        and_(
            runs.c.run_id == threads.c.head_run_id,
            runs.c.thread_id == threads.c.thread_id,
            runs.c.last_version == threads.c.version,
        ),
    )
    .subquery()
)


def _walk_threads() -> Any:
    """Return the ids of threads with commits, found by seeking from one to the next."""
    first = select(func.min(commits.c.thread_id).label("thread_id")).cte("walked", recursive=True)
    following = select(func.min(commits.c.thread_id)).where(commits.c.thread_id > first.c.thread_id)
    walked = first.union_all(
        select(following.scalar_subquery()).where(first.c.thread_id.is_not(None))
    )
    return select(walked.c.thread_id).where(walked.c.thread_id.is_not(None))


_KNOWN = _walk_threads().union(select(runs.c.thread_id)).subquery()
_WITHOUT_HEAD = (
    select(_KNOWN.c.thread_id)
    .where(~select(_HEADED.c.thread_id).where(_HEADED.c.thread_id == _KNOWN.c.thread_id).exists())
    .order_by(_KNOWN.c.thread_id)
)


def read_threads_without_head(connection: Connection) -> list[str]:
    """Return the threads that have commits or runs and are not led to their latest run, by id."""
    return list(connection.execute(_WITHOUT_HEAD).scalars())


def check_new_thread(connection: Connection, thread_id: str) -> None:
    """Pass a thread whose latest run was not found where it has no commit and no run.

    Raises:
        CorruptLog: It has some, so a row of it in a list is missing or wrong.
    """
    for statement in _OF_THREAD:
        if connection.execute(statement, {"thread": thread_id}).first() is not None:
            raise _missing(
                thread_id,
                f"thread {thread_id!r} has commits, and the lists of threads and runs do not lead "
                "to its latest run",
            )


def check_new_run(connection: Connection, run_id: str) -> None:
    """Pass a run without a row that has no commit.

    Raises:
        CorruptLog: It has some, so its row in a list is missing.
    """
    thread_id = connection.execute(_THREAD_OF_RUN, {"run": run_id}).scalar()
    if thread_id is not None:
        raise _missing(
            thread_id, f"run {run_id} has commits and is not in the lists of threads and runs"
        )


def check_all_runs(thread_id: str, rows: Sequence[Mapping[Any, Any]]) -> None:
    """Pass the rows of a thread's runs whose commits are as many as the thread has versions.

    Args:
        thread_id: The thread.
        rows: All there are, each with ``last_ordinal`` and ``thread_version``.

    Raises:
        CorruptLog: They are more or fewer, so a row is missing or wrong.
    """
    found = sum(row["last_ordinal"] + 1 for row in rows)
    if rows and found != rows[0]["thread_version"]:
        raise _missing(
            thread_id,
            f"the runs of thread {thread_id!r} that are listed have {counted(found, 'commit')}, "
            f"and its version is {rows[0]['thread_version']}",
        )


def check_tickets(
    thread_id: str, run_id: str, named: Sequence[str], found: Collection[str]
) -> None:
    """Pass a run of which every ticket that its commit names is in the list.

    Raises:
        CorruptLog: One is missing.
    """
    for ticket in named:
        if ticket not in found:
            raise _missing(
                thread_id,
                f"ticket {ticket}, which run {run_id} waits for, is not in the list of tickets",
            )


def check_awaited(
    connection: Connection,
    found: Collection[str],
    *,
    thread_id: str | None = None,
    run_id: str | None = None,
) -> None:
    """Pass the open tickets of one run, one thread or all that are all their runs wait for.

    A run whose last commit is missing waits for nothing that could be told from here.

    Raises:
        CorruptLog: A run waits for one that is missing.
    """
    statement = _AWAITED
    if thread_id is not None:
        statement = statement.where(runs.c.thread_id == thread_id)
    if run_id is not None:
        statement = statement.where(runs.c.run_id == run_id)
    known = dict.fromkeys(found)
    for run, thread, disposition in connection.execute(statement).all():
        said = Disposition.model_validate(load(disposition, f"the disposition of run {run}"))
        check_tickets(thread, run, [reference.ticket for reference in said.tickets], known)


def _missing(thread_id: str, what: str) -> CorruptLog:
    return CorruptLog(f"{what}; fermata rebuild {shlex.quote(thread_id)} makes it again")
