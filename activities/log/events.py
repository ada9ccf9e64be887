"""Paging through the events of a thread, derived from its commits (AW-65).

The cursor is the thread version, exclusive: one sequence per thread, in the order of which
commits become visible, so that none turns up behind a reader. The events of a commit are never
split over pages: a page that has reached its limit is filled up to the end of its last commit.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select

from activities.log.commit_rows import operation_of
from activities.log.encoding import load, verify_commit_row
from activities.log.feed import CommitKind, EventRow, events_of
from activities.log.floors import read_floors
from activities.log.history import check_dense
from activities.log.row_types import shown_value
from activities.log.runs import read_run, read_thread_version
from activities.log.tables import cells, commits, runs
from seeding.errors import CorruptLog, InvalidRequest, UnknownRun, UnknownThread
from seeding.model import as_object
from seeding.request import EPHEMERAL

MAX_VERSION = 2**63 - 1
"""The largest version a database can hold."""

_AT_ONCE = 200

_Row = Mapping[Any, Any]

_PAGE: Select[Any] = (
    select(commits)
    .where(
        commits.c.thread_id == bindparam("thread"),
        commits.c.thread_version > bindparam("after"),
    )
    .order_by(commits.c.thread_version)
    .limit(_AT_ONCE)
)
_OF_RUN = _PAGE.where(commits.c.run_id == bindparam("run"))
_KIND = select(commits.c.kind).where(
    commits.c.run_id == bindparam("run"), commits.c.ordinal == bindparam("ordinal")
)
_CHANGED = (
    select(cells.c.version, cells.c.cell, cells.c.key)
    .where(
        cells.c.thread_id == bindparam("thread"),
        cells.c.branch.in_(bindparam("branches", expanding=True)),
        cells.c.scope == "thread",
        cells.c.owner == "",
        cells.c.version >= bindparam("first"),
        cells.c.version <= bindparam("last"),
    )
    .order_by(cells.c.version, cells.c.place)
)
_CONFIGS = select(runs.c.run_id, runs.c.config).where(
    runs.c.run_id.in_(bindparam("runs", expanding=True))
)


def read_events(
    connection: Connection, thread_id: str, *, after: int, limit: int, run_id: str | None
) -> list[EventRow]:
    """Return the events of a thread behind a version, oldest first.

    Args:
        connection: An open transaction.
        thread_id: The thread.
        after: The version to go on behind; 0 is the start.
        limit: How many events a page has; the last commit's are given whole beyond it.
        run_id: The run whose events alone are asked for. Those of an ephemeral run are given
            only so: it leaves nothing, and the versions it took are given again.

    Raises:
        InvalidRequest: ``after`` is no version there can be.
        UnknownThread: No run was ever opened on the thread.
        UnknownRun: The thread has no such run.
        CorruptLog: A commit is missing, or is not what was accepted.
    """
    if not 0 <= after <= MAX_VERSION:
        raise InvalidRequest(f"version {after} is none: they go from 0 to {MAX_VERSION}")
    end = _last_version(connection, thread_id, run_id)
    floors = read_floors(connection, thread_id)
    found: list[EventRow] = []
    while len(found) < limit:
        rows = _page(connection, thread_id, after, run_id)
        versions = [row["thread_version"] for row in rows]
        if run_id is None:
            check_dense(thread_id, after, versions, floors)
        if not rows and after < end:
            raise CorruptLog(f"commit {end} of thread {thread_id} is missing")
        for events in _events(connection, rows, floors, whole=run_id is not None):
            found.extend(events)
            if len(found) >= limit:
                break
        if not rows:
            break
        after = versions[-1]
    return found


def _last_version(connection: Connection, thread_id: str, run_id: str | None) -> int:
    """Return the version of the last commit there is to read."""
    version = read_thread_version(connection, thread_id)
    if version == 0:
        raise UnknownThread(f"the log has no run of thread {thread_id!r}")
    if run_id is None:
        return version
    run = read_run(connection, run_id)
    if run is None or run.thread_id != thread_id:
        whose = f"; it is one of thread {run.thread_id!r}" if run else ""
        raise UnknownRun(f"thread {thread_id!r} has no run {run_id!r}{whose}")
    return run.last_version


def _page(connection: Connection, thread_id: str, after: int, run_id: str | None) -> Sequence[_Row]:
    parameters = {"thread": thread_id, "after": after, "run": run_id}
    if run_id is None:
        del parameters["run"]
    statement = _PAGE if run_id is None else _OF_RUN
    return connection.execute(statement, parameters).mappings().all()


def _events(
    connection: Connection, rows: Sequence[_Row], floors: Mapping[str, int], *, whole: bool
) -> Iterator[list[EventRow]]:
    """Yield the events of each commit of a page."""
    changed = _changed_cells(connection, rows)
    ephemeral = () if whole else _ephemeral_runs(connection, rows)
    kinds: dict[tuple[str, int], CommitKind] = {}
    for row in rows:
        verify_commit_row(row)
        run_id: str = row["run_id"]
        before = kinds.get((run_id, row["ordinal"] - 1))
        if before is None:
            before = _kind_before(connection, row, floors)
        kinds[run_id, row["ordinal"]] = row["kind"]
        if run_id not in ephemeral:
            yield events_of(
                operation_of(row),
                at=row["created_at"],
                before=before,
                changed=changed.get(row["thread_version"], ()),
            )


def _kind_before(connection: Connection, row: _Row, floors: Mapping[str, int]) -> CommitKind | None:
    ordinal: int = row["ordinal"]
    if ordinal == 0:
        return None
    found = connection.execute(_KIND, {"run": row["run_id"], "ordinal": ordinal - 1}).scalar()
    if found is None and row["thread_version"] > floors.get(row["branch"], 0):
        raise CorruptLog(f"commit {ordinal - 1} of run {row['run_id']} is missing")
    return found


def _changed_cells(
    connection: Connection, rows: Sequence[_Row]
) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {}
    changing = [row for row in rows if '"state"' in row["listed"]]
    if changing:
        parameters = {
            "thread": changing[0]["thread_id"],
            "branches": sorted({row["branch"] for row in changing}),
            "first": changing[0]["thread_version"],
            "last": changing[-1]["thread_version"],
        }
        for version, cell, key in connection.execute(_CHANGED, parameters):
            if not isinstance(key, str):
                raise CorruptLog(
                    f"a cell of thread {parameters['thread']} at version {version} holds "
                    f"{shown_value(key)} as its key, which is a text"
                )
            found.setdefault(version, []).append((cell, key))
    return found


def _ephemeral_runs(connection: Connection, rows: Sequence[_Row]) -> list[str]:
    named = sorted({row["run_id"] for row in rows})
    if not named:
        return []
    return [
        run_id
        for run_id, config in connection.execute(_CONFIGS, {"runs": named})
        if (as_object(load(config, f"the config of run {run_id}")) or {}).get("checkpointStore")
        == EPHEMERAL
    ]
