"""Everything of one thread in the order of its versions, a few rows in memory at a time."""

import heapq
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, select

from activities.log.commit_checks import Bodies
from activities.log.row_types import check_types
from activities.log.tables import cells, commits, messages, run_rows

_AT_ONCE = 200
_RUNS = select(commits.c.run_id).where(commits.c.thread_id == bindparam("thread"))
_TABLES = (commits, messages, cells, run_rows)
_STREAMS: tuple[Select[Any], ...] = tuple(
    statement.execution_options(yield_per=_AT_ONCE)
    for statement in (
        select(commits)
        .where(commits.c.thread_id == bindparam("thread"))
        .order_by(commits.c.thread_version),
        select(messages)
        .where(messages.c.thread_id == bindparam("thread"))
        .order_by(messages.c.version, messages.c.place),
        select(cells)
        .where(cells.c.thread_id == bindparam("thread"))
        .order_by(cells.c.version, cells.c.place),
        select(run_rows)
        .where(run_rows.c.run_id.in_(_RUNS))
        .order_by(run_rows.c.version, run_rows.c.place),
    )
)


class AtVersion(NamedTuple):
    """What a thread holds under one version; a commit that was pruned, or is lost, is None."""

    version: int
    commit: Mapping[Any, Any] | None
    bodies: Bodies


@contextmanager
def versions_of(
    connection: Connection, thread_id: str
) -> Generator[Iterator[AtVersion], None, None]:
    """Give everything of a thread by version, ascending.

    Raises:
        CorruptLog: While it is gone through: a row holds what its column is not for.
    """
    with ExitStack() as opened:
        # A server's cursor is closed before its connection, also where a row ends the reading.
        results = [
            opened.enter_context(connection.execute(statement, {"thread": thread_id}))
            for statement in _STREAMS
        ]
        yield _side_by_side([result.mappings() for result in results])


def _side_by_side(streams: Sequence[Iterable[Mapping[Any, Any]]]) -> Iterator[AtVersion]:
    columns = ("thread_version", "version", "version", "version")
    tagged = [_tagged(rows, index, columns[index]) for index, rows in enumerate(streams)]
    merged = heapq.merge(*tagged, key=itemgetter(0, 1))
    for version, group in groupby(merged, key=itemgetter(0)):
        parts: tuple[list[Mapping[Any, Any]], ...] = ([], [], [], [])
        for _, index, row in group:
            parts[index].append(row)
        yield AtVersion(version, parts[0][0] if parts[0] else None, Bodies(*parts[1:]))


def _tagged(
    rows: Iterable[Mapping[Any, Any]], index: int, column: str
) -> Iterator[tuple[int, int, Mapping[Any, Any]]]:
    for row in rows:
        check_types(_TABLES[index], row)
        yield row[column], index, row
