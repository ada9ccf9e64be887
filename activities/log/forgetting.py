"""Forgetting an ephemeral run once it has ended: nothing of it outlives it (SG-11).

While it is open its rows are in the log like any other's, because continue-as-new and a
restart restore from them. It is the last thing on its thread when it ends, so what it leaves is
a suffix of the thread's versions, and without it the thread is as the run found it.
"""

from sqlalchemy import Connection, bindparam, delete, select, update

from activities.log.encoding import load
from activities.log.tables import (
    branches,
    cells,
    commits,
    effects,
    messages,
    run_owners,
    run_rows,
    runs,
    threads,
    tickets,
)
from seeding.errors import InvalidCommit
from seeding.model import as_object
from seeding.request import EPHEMERAL

_RUN = select(runs.c.thread_id, runs.c.opened_version, runs.c.phase, runs.c.config).where(
    runs.c.run_id == bindparam("run")
)
_HEAD = (
    select(threads.c.head_run_id)
    .where(threads.c.thread_id == bindparam("thread"))
    .with_for_update()
)
_BEFORE = (
    select(runs.c.run_id)
    .where(runs.c.thread_id == bindparam("thread"), runs.c.opened_version < bindparam("version"))
    .order_by(runs.c.opened_version.desc())
    .limit(1)
)


def forget_run(connection: Connection, run_id: str) -> None:
    """Remove an ended ephemeral run and all it left; one that is gone already stays gone.

    Raises:
        InvalidCommit: The run is not ephemeral, has not ended, or is not its thread's last.
    """
    found = connection.execute(_RUN, {"run": run_id}).first()
    if found is None:
        return
    thread_id, version, phase, config = found
    head = connection.execute(_HEAD, {"thread": thread_id}).scalar()
    store = (as_object(load(config, f"the config of run {run_id}")) or {}).get("checkpointStore")
    if store != EPHEMERAL or phase != "ended" or head != run_id:
        raise InvalidCommit(
            f"run {run_id} is kept: only an ended ephemeral run that is its thread's last is "
            "forgotten"
        )
    _remove(connection, thread_id, run_id, version)
    _restore_head(connection, thread_id, version)


def _remove(connection: Connection, thread_id: str, run_id: str, version: int) -> None:
    for table in (run_rows, tickets, run_owners):
        connection.execute(delete(table).where(table.c.run_id == run_id))
    for table in (messages, cells):
        connection.execute(
            delete(table).where(table.c.thread_id == thread_id, table.c.version >= version)
        )
    connection.execute(
        delete(branches).where(
            branches.c.thread_id == thread_id, branches.c.opened_version >= version
        )
    )
    connection.execute(delete(runs).where(runs.c.run_id == run_id))
    connection.execute(delete(effects).where(effects.c.run_id == run_id))
    connection.execute(
        delete(commits).where(commits.c.thread_id == thread_id, commits.c.thread_version >= version)
    )


def _restore_head(connection: Connection, thread_id: str, version: int) -> None:
    before = connection.execute(_BEFORE, {"thread": thread_id, "version": version}).scalar()
    row = threads.c.thread_id == thread_id
    if before is None:
        connection.execute(delete(threads).where(row))
    else:
        connection.execute(
            update(threads).where(row).values(version=version - 1, head_run_id=before)
        )
