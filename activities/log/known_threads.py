"""Which threads the log holds anything of, whether or not their projections are there."""

from collections.abc import Sequence

from sqlalchemy import Connection, Table, bindparam, func, select

from activities.log.row_types import shown_value
from activities.log.tables import (
    branches,
    cells,
    commits,
    effects,
    floors,
    messages,
    queued_turns,
    runs,
    threads,
)
from seeding.errors import CorruptLog, UnknownThread

TABLES: Sequence[Table] = (
    commits,
    branches,
    messages,
    cells,
    effects,
    floors,
    queued_turns,
    threads,
    runs,
)
"""All have an index that begins with the thread, so that the next one is found by seeking."""

_NEXT = tuple(
    select(func.min(table.c.thread_id)).where(table.c.thread_id > bindparam("after"))
    for table in TABLES
)
_ANY = tuple(
    select(table.c.thread_id).where(table.c.thread_id == bindparam("thread")).limit(1)
    for table in TABLES
)


def next_thread(connection: Connection, after: str) -> str | None:
    """Return the first thread id behind ``after``, which '' is before; None behind the last.

    Raises:
        CorruptLog: Behind the last one a table holds something that is no text.
    """
    found = [connection.execute(each, {"after": after}).scalar() for each in _NEXT]
    names = [name for name in found if isinstance(name, str)]
    if names:
        return min(names)
    for table, name in zip(TABLES, found, strict=True):
        if name is not None:
            raise CorruptLog(
                f"a row of {table.name} holds {shown_value(name)} as its thread_id, which is a text"
            )
    return None


def check_known(connection: Connection, thread_id: str) -> None:
    """Pass a thread of which the log holds anything.

    Raises:
        UnknownThread: It holds nothing.
    """
    if all(connection.execute(each, {"thread": thread_id}).first() is None for each in _ANY):
        raise UnknownThread(f"the log has no run of thread {thread_id!r}")
