"""What a writing transaction has to read before it may judge an operation."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, bindparam, select

from activities.log.checks import RunFacts
from activities.log.dialect import lock_name
from activities.log.tables import commits, messages, runs, threads, tickets
from seeding.commits import CommitOperation

MANY = 400
"""How many values one statement compares with at most."""

_THREAD = (
    select(threads.c.version, threads.c.head_run_id)
    .where(threads.c.thread_id == bindparam("thread"))
    .with_for_update()
)
_RUN = select(
    runs.c.run_id,
    runs.c.thread_id,
    runs.c.branch,
    runs.c.owner_epoch,
    runs.c.phase,
    runs.c.last_ordinal,
    runs.c.last_version,
    runs.c.message_count,
).where(runs.c.run_id == bindparam("run"))
_NOT_ENDED = (
    select(runs.c.run_id)
    .where(runs.c.thread_id == bindparam("thread"), runs.c.phase.in_(["running", "awaiting"]))
    .order_by(runs.c.opened_version)
)
_OPEN_TICKETS = (
    select(tickets.c.ticket)
    .where(tickets.c.run_id == bindparam("run"), tickets.c.closed_version.is_(None))
    .order_by(tickets.c.opened_version, tickets.c.place)
)
_KNOWN_TICKETS = select(tickets.c.ticket).where(
    tickets.c.ticket.in_(bindparam("tickets", expanding=True))
)
_ACCEPTED = select(
    commits.c.ordinal, commits.c.thread_version, commits.c.payload_hash, commits.c.created_at
).where(
    commits.c.run_id == bindparam("run"),
    commits.c.ordinal.in_(bindparam("ordinals", expanding=True)),
)
_MESSAGES = select(
    messages.c.message_id, messages.c.thread_id, messages.c.branch, messages.c.version
).where(messages.c.message_id.in_(bindparam("ids", expanding=True)))

_T = TypeVar("_T")


class ThreadHead(NamedTuple):
    """The row a writer locks."""

    version: int
    head_run_id: str


class Accepted(NamedTuple):
    """What the log keeps of an accepted operation; its receipt is made of it."""

    thread_version: int
    payload_hash: str
    created_at: str


class MessagePlace(NamedTuple):
    """Where a message id is used."""

    thread_id: str
    branch: str
    version: int


def read_thread_head(connection: Connection, thread_id: str) -> ThreadHead | None:
    """Return and lock the head of a thread; one that has none yet is locked by its name."""
    row = connection.execute(_THREAD, {"thread": thread_id}).first()
    if row is None:
        lock_name(connection, f"thread {thread_id}")
        row = connection.execute(_THREAD, {"thread": thread_id}).first()
    return ThreadHead(*row) if row else None


def threads_of(operations: Sequence[CommitOperation]) -> list[str]:
    """Return the threads that ``operations`` change or stand on, in the order of locking.

    The order is one for all writers, so that none waits for another that waits for it. What an
    opening stands on is locked as well, so that it is not removed meanwhile.
    """
    names: dict[str, None] = {}
    for operation in operations:
        names[operation.commit.thread_id] = None
        opening = operation.commit.opening
        if opening is not None:
            names.update((point.thread_id, None) for point in opening.lineage or ())
            names.update((point.thread_id, None) for point in opening.continues)
    return sorted(names)


def read_run_facts(connection: Connection, run_id: str) -> RunFacts | None:
    """Return what the checks need to know of a run."""
    row = connection.execute(_RUN, {"run": run_id}).first()
    return RunFacts(*row) if row else None


def read_runs_not_ended(connection: Connection, thread_id: str) -> list[str]:
    """Return the runs of a thread that have not ended."""
    return list(connection.execute(_NOT_ENDED, {"thread": thread_id}).scalars())


def read_open_tickets(connection: Connection, run_id: str) -> list[str]:
    """Return the ids of a run's open tickets in the order in which they were opened."""
    return list(connection.execute(_OPEN_TICKETS, {"run": run_id}).scalars())


def read_known_tickets(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Return those of ``ids`` that any commit has opened before."""
    found: list[str] = []
    for part in _parts(ids):
        found.extend(connection.execute(_KNOWN_TICKETS, {"tickets": part}).scalars())
    return found


def read_accepted(
    connection: Connection, operations: Sequence[CommitOperation]
) -> dict[tuple[str, int], Accepted]:
    """Return those of ``operations`` that were accepted before, by run and ordinal."""
    ordinals: dict[str, list[int]] = {}
    for operation in operations:
        ordinals.setdefault(operation.run_id, []).append(operation.ordinal)
    found: dict[tuple[str, int], Accepted] = {}
    for run_id, asked in ordinals.items():
        for part in _parts(asked):
            rows = connection.execute(_ACCEPTED, {"run": run_id, "ordinals": part})
            found.update({(run_id, row[0]): Accepted(row[1], row[2], row[3]) for row in rows})
    return found


def read_message_places(
    connection: Connection, operations: Sequence[CommitOperation]
) -> dict[str, list[MessagePlace]]:
    """Return where the message ids of ``operations`` are used already, in any thread."""
    ids = [
        identity
        for operation in operations
        for message in operation.commit.messages
        if isinstance(identity := message.get("id"), str)
    ]
    found: dict[str, list[MessagePlace]] = {}
    for part in _parts(ids):
        for row in connection.execute(_MESSAGES, {"ids": part}):
            found.setdefault(row[0], []).append(MessagePlace(row[1], row[2], row[3]))
    return found


def _parts(values: Sequence[_T]) -> Iterator[list[_T]]:
    for first in range(0, len(values), MANY):
        yield list(values[first : first + MANY])
