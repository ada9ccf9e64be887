"""Reading runs, threads and tickets."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select

from activities.log.encoding import load, load_or_none
from activities.log.floors import above_floor
from activities.log.stored import StoredRun, StoredThread
from activities.log.tables import run_owners, runs, threads, tickets
from activities.log.whole_lists import (
    check_all_runs,
    check_awaited,
    check_new_run,
    check_new_thread,
)
from seeding.commits import EndCause, RunPoint
from seeding.model import JsonObject
from seeding.tickets import OpenTicket, Ticket, TicketClosing

_RUNS: Select[Any] = select(
    runs,
    threads.c.version.label("thread_version"),
    above_floor(runs, runs.c.last_version).label("kept"),
).join_from(runs, threads, threads.c.thread_id == runs.c.thread_id)
_RUN = _RUNS.where(runs.c.run_id == bindparam("run"))
# No run is opened before the one before it has ended, so the last commit is the latest run's.
_LATEST_RUNS = _RUNS.where(
    runs.c.run_id == threads.c.head_run_id, runs.c.last_version == threads.c.version
)
_LATEST = _LATEST_RUNS.where(threads.c.thread_id == bindparam("thread"))
_HEADS = _LATEST_RUNS.order_by(threads.c.thread_id)
_OF_THREAD = _RUNS.where(runs.c.thread_id == bindparam("thread")).order_by(runs.c.opened_version)
_OF_KEY = _OF_THREAD.where(runs.c.idempotency_key == bindparam("key")).limit(1)
_OF_CHAIN = (
    select(run_owners.c.run_id)
    .where(run_owners.c.chain_id == bindparam("chain"))
    .order_by(run_owners.c.at.desc(), run_owners.c.owner_epoch.desc())
    .limit(1)
)
# Each run gets an epoch above all before it, so the run opened last has the highest.
_EPOCH = (
    select(runs.c.run_epoch)
    .where(runs.c.thread_id == bindparam("thread"))
    .order_by(runs.c.opened_version.desc())
    .limit(1)
)
_VERSION = select(threads.c.version).where(threads.c.thread_id == bindparam("thread"))
_TICKETS = select(
    tickets.c.ticket, tickets.c.body, tickets.c.created_at, tickets.c.deadline
).order_by(tickets.c.opened_version, tickets.c.place)
_OPEN = _TICKETS.where(tickets.c.run_id == bindparam("run"), tickets.c.closed_version.is_(None))
_OPEN_AT = _TICKETS.where(
    tickets.c.run_id == bindparam("run"),
    tickets.c.opened_version <= bindparam("version"),
    tickets.c.closed_version.is_(None) | (tickets.c.closed_version > bindparam("version")),
)
_ALL_OPEN = _TICKETS.where(tickets.c.closed_version.is_(None))
_CLOSED = (
    select(tickets.c.ticket, tickets.c.closing)
    .where(tickets.c.run_id == bindparam("run"), tickets.c.closed_version.is_not(None))
    .order_by(
        tickets.c.closed_version.desc(), tickets.c.opened_version.desc(), tickets.c.place.desc()
    )
    .limit(bindparam("limit"))
)


def read_run(connection: Connection, run_id: str) -> StoredRun | None:
    """Return a run by its id.

    Raises:
        CorruptLog: The run has commits, and is not in the lists that are made of them.
    """
    found = _one(connection, _RUN, {"run": run_id})
    if found is None:
        check_new_run(connection, run_id)
    return found


def read_latest_run(connection: Connection, thread_id: str) -> StoredRun | None:
    """Return the run opened last on a thread.

    Raises:
        CorruptLog: The thread has commits, and the lists do not lead to its latest run.
    """
    found = _one(connection, _LATEST, {"thread": thread_id})
    if found is None:
        check_new_thread(connection, thread_id)
    return found


def read_run_of_key(connection: Connection, thread_id: str, key: str) -> StoredRun | None:
    """Return the run of a thread that was opened with an idempotency key."""
    return _one(connection, _OF_KEY, {"thread": thread_id, "key": key})


def read_run_of_chain(connection: Connection, chain_id: str) -> StoredRun | None:
    """Return the run that an execution chain opened or took over."""
    run_id = connection.execute(_OF_CHAIN, {"chain": chain_id}).scalar()
    return read_run(connection, run_id) if run_id is not None else None


def read_runs(connection: Connection, thread_id: str) -> list[StoredRun]:
    """Return the runs of a thread, oldest first.

    Raises:
        CorruptLog: The thread has commits of a run that is not there.
    """
    rows = connection.execute(_OF_THREAD, {"thread": thread_id}).mappings().all()
    if not rows:
        check_new_thread(connection, thread_id)
    check_all_runs(thread_id, rows)
    return [_run(connection, row) for row in rows]


def read_threads(connection: Connection) -> list[StoredThread]:
    """Return every thread with the run opened last on it, in the order of their ids."""
    found: list[StoredThread] = []
    for row in connection.execute(_HEADS).mappings().all():
        run = _run(connection, row)
        found.append(StoredThread(thread_id=run.thread_id, version=run.thread_version, run=run))
    return found


def read_highest_epoch(connection: Connection, thread_id: str) -> int:
    """Return the highest run epoch of a thread, 0 where it has no run."""
    return connection.execute(_EPOCH, {"thread": thread_id}).scalar() or 0


def read_thread_version(connection: Connection, thread_id: str) -> int:
    """Return a thread's version, 0 where it has no commit.

    Raises:
        CorruptLog: The thread has commits, and its head is not there.
    """
    version = connection.execute(_VERSION, {"thread": thread_id}).scalar()
    if version is None:
        check_new_thread(connection, thread_id)
    return version or 0


def read_open_tickets(connection: Connection, run_id: str) -> tuple[OpenTicket, ...]:
    """Return a run's open tickets in the order in which they were opened."""
    return _tickets(connection, _OPEN, {"run": run_id})


def read_open_tickets_at(
    connection: Connection, run_id: str, version: int
) -> tuple[OpenTicket, ...]:
    """Return the tickets of a run that were open right after the commit at ``version``."""
    return _tickets(connection, _OPEN_AT, {"run": run_id, "version": version})


def read_all_open_tickets(
    connection: Connection, thread_id: str | None = None
) -> tuple[OpenTicket, ...]:
    """Return the open tickets of one thread, or of all.

    Raises:
        CorruptLog: A run waits for one that is not there.
    """
    of_thread = (
        _ALL_OPEN if thread_id is None else _ALL_OPEN.where(tickets.c.thread_id == thread_id)
    )
    found = _tickets(connection, of_thread, {})
    check_awaited(connection, [item.body.ticket for item in found], thread_id=thread_id)
    return found


def read_closed_tickets(connection: Connection, run_id: str, limit: int) -> list[TicketClosing]:
    """Return how the newest ``limit`` closed tickets of a run ended, in the order of closing."""
    rows = connection.execute(_CLOSED, {"run": run_id, "limit": limit}).all()
    return [
        TicketClosing.model_validate(load(closing, f"the closing of ticket {ticket}"))
        for ticket, closing in reversed(rows)
    ]


def _one(
    connection: Connection, statement: Select[Any], parameters: JsonObject
) -> StoredRun | None:
    row = connection.execute(statement, parameters).mappings().first()
    return _run(connection, row) if row else None


def _run(connection: Connection, row: Mapping[Any, Any]) -> StoredRun:
    run_id: str = row["run_id"]
    where = f"the row of run {run_id}"
    cause = load_or_none(row["cause"], where)
    waiting = row["phase"] == "awaiting"
    open_tickets = read_open_tickets(connection, run_id) if waiting else ()
    if waiting:
        check_awaited(connection, [item.body.ticket for item in open_tickets], run_id=run_id)
    return StoredRun(
        run_id=run_id,
        thread_id=row["thread_id"],
        branch=row["branch"],
        run_epoch=row["run_epoch"],
        chain_id=row["chain_id"],
        graph_id=row["graph_id"],
        graph_digest=row["graph_digest"],
        config=load(row["config"], where),
        phase=row["phase"],
        cause=EndCause.model_validate(cause) if cause else None,
        last_ordinal=row["last_ordinal"],
        last_version=row["last_version"],
        thread_version=row["thread_version"],
        owner_epoch=row["owner_epoch"],
        result=load_or_none(row["result"], where),
        start=load(row["start"], where),
        opened_at=row["opened_at"],
        ended_at=row["ended_at"],
        idempotency_key=row["idempotency_key"],
        request_hash=row["request_hash"],
        continues=tuple(
            RunPoint.model_validate(point) for point in load_or_none(row["continues"], where) or ()
        ),
        pruned=not row["kept"],
        open_tickets=open_tickets,
    )


def _tickets(
    connection: Connection, statement: Select[Any, Any, Any, Any], parameters: JsonObject
) -> tuple[OpenTicket, ...]:
    return tuple(
        OpenTicket(
            body=Ticket.model_validate(load(body, f"the body of ticket {ticket}")),
            created_at=created_at,
            deadline=deadline,
        )
        for ticket, body, created_at, deadline in connection.execute(statement, parameters)
    )
