"""The projections of a thread in the database: made from its commits, read, written again."""

from collections.abc import Iterator, Mapping

from sqlalchemy import (
    Connection,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.types import NULLTYPE

from activities.log.density import Density
from activities.log.encoding import verify_commit_row
from activities.log.facts import MANY
from activities.log.floors import read_floors
from activities.log.projecting import ProjectionFold, Projections, differing_columns
from activities.log.records import Row
from activities.log.tables import (
    cells,
    commits,
    messages,
    run_owners,
    run_rows,
    runs,
    threads,
    tickets,
)
from seeding.errors import CorruptLog

_AT_ONCE = 200
_COMMITS = (
    select(commits)
    .where(commits.c.thread_id == bindparam("thread"))
    .order_by(commits.c.thread_version)
    .execution_options(yield_per=_AT_ONCE)
)
_RUNS_OF_THREAD = select(commits.c.run_id).where(commits.c.thread_id == bindparam("thread"))
_OWNERS = (
    select(run_owners.c.run_id, func.max(run_owners.c.owner_epoch))
    .where(run_owners.c.run_id.in_(_RUNS_OF_THREAD))
    .group_by(run_owners.c.run_id)
)
_HAS_COMMITS = select(commits.c.run_id).where(commits.c.run_id == runs.c.run_id).exists()
_STORED = {
    threads: select(threads).where(threads.c.thread_id == bindparam("thread")),
    runs: select(runs).where(
        or_(
            # One that is listed under this thread and has its commits on another is that one's.
            and_(runs.c.thread_id == bindparam("thread"), ~_HAS_COMMITS),
            runs.c.run_id.in_(_RUNS_OF_THREAD),
        )
    ),
    tickets: select(tickets).where(tickets.c.run_id.in_(_RUNS_OF_THREAD)),
}
_BESIDE = (
    *(
        select(func.max(table.c.version)).where(table.c.thread_id == bindparam("thread"))
        for table in (messages, cells)
    ),
    select(func.max(run_rows.c.version)).where(run_rows.c.run_id.in_(_RUNS_OF_THREAD)),
)
_KEYS: Mapping[Table, str] = {threads: "thread_id", runs: "run_id", tickets: "ticket"}
_STRAY = {table: table.c.run_id.not_in(select(commits.c.run_id)) for table in (tickets, run_owners)}


def new_fold(connection: Connection, thread_id: str) -> ProjectionFold:
    """Return a fold that knows who owns the runs of a thread, and how far it was pruned."""
    owners = {name: epoch for name, epoch in connection.execute(_OWNERS, {"thread": thread_id})}
    return ProjectionFold(owners, read_floors(connection, thread_id))


def make_projections(connection: Connection, thread_id: str) -> Projections:
    """Return the projections that the commits of a thread make; none for one without commits.

    Raises:
        CorruptLog: A commit is not what was accepted, is missing, or does not follow from those
            before it.
    """
    fold = new_fold(connection, thread_id)
    density = Density(read_floors(connection, thread_id), lambda _: None)
    # A server's cursor is closed before its connection, also where a row ends the reading.
    with connection.execute(_COMMITS, {"thread": thread_id}) as found:
        for row in found.mappings():
            _check_dense(density.add_commit(row))
            verify_commit_row(row)
            fold.add(row)
    _check_dense(density.check_end())
    return fold.made


def read_version_beside(connection: Connection, thread_id: str) -> int:
    """Return the highest version of what came with the commits of a thread, 0 for nothing."""
    found = [connection.execute(each, {"thread": thread_id}).scalar() for each in _BESIDE]
    return max((version for version in found if version is not None), default=0)


def read_projections(connection: Connection, thread_id: str) -> Projections:
    """Return the projections of a thread as they are stored."""
    found: list[dict[str, Row]] = []
    for table, statement in _STORED.items():
        rows = connection.execute(statement, {"thread": thread_id}).mappings()
        found.append({row[_KEYS[table]]: dict(row) for row in rows})
    return Projections(*found)


def write_projections(
    connection: Connection, stored: Projections, made: Projections
) -> tuple[int, int, int]:
    """Write the rows that differ and remove those that no commit makes.

    Returns:
        How many heads, runs and tickets that were.
    """
    parts = zip(_STORED, stored, made, strict=True)
    heads, of_runs, of_tickets = (_write(connection, *part) for part in parts)
    return heads, of_runs, of_tickets


def read_stray_rows(connection: Connection, table: Table) -> list[tuple[str, str]]:
    """Return the runs without a commit that a table has rows of, each with one such row's key."""
    key = table.c.ticket if table is tickets else table.c.run_id
    statement = select(table.c.run_id, key).where(_STRAY[table]).order_by(table.c.run_id, key)
    return [(row[0], row[1]) for row in connection.execute(statement)]


def remove_stray_tickets(connection: Connection) -> int:
    """Remove the tickets of runs that have no commit, and return how many there were."""
    return connection.execute(delete(tickets).where(_STRAY[tickets])).rowcount


def _check_dense(gaps: Iterator[str]) -> None:
    for gap in gaps:
        raise CorruptLog(gap)


def _write(
    connection: Connection,
    table: Table,
    stored: Mapping[str, Row],
    made: Mapping[str, Row],
) -> int:
    # A name is what is stored, which in a damaged file may be no text.
    names: list[object] = [
        name for name in {**stored, **made} if differing_columns(stored.get(name), made.get(name))
    ]
    key = table.c[_KEYS[table]]
    texts = [name for name in names if isinstance(name, str)]
    for first in range(0, len(texts), MANY):
        # Also one that is stored under another run or thread than its own.
        connection.execute(delete(table).where(key.in_(texts[first : first + MANY])))
    for name in names:
        if not isinstance(name, str):
            connection.execute(delete(table).where(type_coerce(key, NULLTYPE) == name))
    rows = [row for name, row in made.items() if name in names]
    if rows:
        connection.execute(insert(table), rows)
    return len(names)
