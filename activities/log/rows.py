"""Reading a run's position and its own rows: outputs, loop items, loop results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, tuple_

from activities.log.cells import read_places
from activities.log.encoding import (
    ROW_CHECKED,
    load,
    load_or_none,
    verify_checksum,
    verify_commit_row,
)
from activities.log.facts import MANY
from activities.log.floors import check_kept
from activities.log.run_points import NEWEST, own_places, read_run_points
from activities.log.tables import commits, run_rows, runs
from seeding.commits import PositionHead, RunRow
from seeding.counting import counted
from seeding.errors import CorruptLog, UnknownCheckpoint
from seeding.identity import checkpoint_id
from seeding.model import Json, JsonObject

_COMMIT = select(commits).where(
    commits.c.run_id == bindparam("run"), commits.c.ordinal == bindparam("ordinal")
)
_LAST = select(runs.c.last_ordinal).where(runs.c.run_id == bindparam("run"))
_READ = (
    run_rows.c.kind,
    run_rows.c.node_id,
    run_rows.c.occurrence,
    run_rows.c.idx,
    run_rows.c.body,
    run_rows.c.checksum,
)
_ROWS = (
    select(*_READ)
    .where(
        run_rows.c.run_id == bindparam("run"),
        run_rows.c.kind == bindparam("kind"),
        run_rows.c.node_id == bindparam("node"),
        run_rows.c.occurrence == bindparam("occurrence"),
        run_rows.c.idx < bindparam("count"),
        run_rows.c.version <= bindparam("version"),
    )
    .order_by(run_rows.c.idx, run_rows.c.version, run_rows.c.place)
)
_OUTPUTS = (
    select(*_READ)
    .where(
        run_rows.c.run_id == bindparam("run"),
        run_rows.c.kind == "output",
        run_rows.c.version <= bindparam("version"),
        tuple_(run_rows.c.node_id, run_rows.c.occurrence).in_(bindparam("pairs", expanding=True)),
    )
    .order_by(run_rows.c.version, run_rows.c.place)
)
_ALL_OUTPUTS = (
    select(*_READ)
    .where(
        run_rows.c.run_id == bindparam("run"),
        run_rows.c.kind == "output",
        run_rows.c.version <= bindparam("version"),
    )
    .order_by(run_rows.c.version, run_rows.c.place)
)

_COMPLETED = select(func.count()).where(
    commits.c.run_id == bindparam("run"),
    commits.c.thread_version <= bindparam("version"),
    commits.c.checkpoint == "node",
)


def read_commit_row(
    connection: Connection, run_id: str, ordinal: int | None = None
) -> Mapping[Any, Any] | None:
    """Return a commit row after comparing it with its hash; the run's last one by default.

    Raises:
        CorruptLog: The row changed since it was accepted, or the run's last one is missing.
    """
    asked = ordinal
    if asked is None:
        asked = connection.execute(_LAST, {"run": run_id}).scalar()
        if asked is None:
            return None
    row = connection.execute(_COMMIT, {"run": run_id, "ordinal": asked}).mappings().first()
    if row is not None:
        verify_commit_row(row)
    elif ordinal is None:
        raise CorruptLog(f"commit {asked} of run {run_id}, its last one, is missing")
    return row


def head_of(row: Mapping[Any, Any]) -> PositionHead:
    """Return the small position that a commit row holds."""
    where = f"the position of commit {row['ordinal']} of run {row['run_id']}"
    return PositionHead.model_validate(load_or_none(row["position"], where) or {})


def read_position(
    connection: Connection, run_id: str, ordinal: int | None = None
) -> tuple[PositionHead, JsonObject]:
    """Return the position right after a commit: its head and the run's own cells.

    Raises:
        UnknownCheckpoint: The run or its commit does not exist, or was pruned.
        CorruptLog: The commit is not what was accepted.
    """
    row = read_commit_row(connection, run_id, ordinal)
    if row is None:
        named = "" if ordinal is None else f", or no commit {ordinal}"
        raise UnknownCheckpoint(f"the log has no run {run_id!r}{named}")
    check_kept(connection, checkpoint_id(run_id, row["ordinal"]))
    points = read_run_points(connection, run_id, row["thread_version"])
    return head_of(row), read_places(connection, own_places(points))


def read_outputs(
    connection: Connection,
    run_id: str,
    pairs: Sequence[tuple[str, int]],
    *,
    version: int = NEWEST,
) -> dict[tuple[str, int], Json]:
    """Return the output rows of executions by node and occurrence; missing ones are left out.

    Those of the runs that ``run_id`` goes on with count as its own.
    """
    found: dict[tuple[str, int], Json] = {}
    for point in read_run_points(connection, run_id, version):
        for first in range(0, len(pairs), MANY):
            asked = [tuple(pair) for pair in pairs[first : first + MANY]]
            parameters = {"run": point.run_id, "version": point.up_to, "pairs": asked}
            for row in _intact(connection.execute(_OUTPUTS, parameters).mappings(), point.run_id):
                found[row.node_id, row.occurrence] = row.value
    return found


def read_all_outputs(connection: Connection, run_id: str) -> list[RunRow]:
    """Return all output rows of a run in the order in which the executions completed."""
    return list(_output_rows(connection, run_id))


def read_completed_outputs(connection: Connection, run_id: str) -> list[RunRow]:
    """Return all output rows of a run, of which every completion of a node leaves one.

    Raises:
        CorruptLog: The commits tell of more completions, or of fewer.
    """
    found = read_all_outputs(connection, run_id)
    completed = sum(
        connection.execute(_COMPLETED, {"run": point.run_id, "version": point.up_to}).scalar_one()
        for point in read_run_points(connection, run_id)
    )
    if len(found) != completed:
        raise CorruptLog(
            f"run {run_id} has {counted(len(found), 'output')} of {completed}; fermata verify says "
            "which are missing"
        )
    return found


def read_values(
    connection: Connection,
    run_id: str,
    kind: str,
    node_id: str,
    occurrence: int,
    up_to_count: int,
    *,
    version: int = NEWEST,
) -> list[Json]:
    """Return the first ``up_to_count`` item or result values of a loop, in index order.

    Raises:
        CorruptLog: One of them is missing.
    """
    where = f"{kind} rows of {node_id}:{occurrence} of run {run_id}"
    values: dict[int, Json] = {}
    for point in read_run_points(connection, run_id, version):
        parameters = {
            "run": point.run_id,
            "kind": kind,
            "node": node_id,
            "occurrence": occurrence,
            "count": up_to_count,
            "version": point.up_to,
        }
        stored = _intact(connection.execute(_ROWS, parameters).mappings(), point.run_id)
        values.update({row.index: row.value for row in stored})
    for index in range(up_to_count):
        if index not in values:
            raise CorruptLog(f"the {where} have no index {index}, {up_to_count} are expected")
    return [values[index] for index in range(up_to_count)]


def _output_rows(connection: Connection, run_id: str) -> Iterator[RunRow]:
    for point in read_run_points(connection, run_id):
        parameters = {"run": point.run_id, "version": point.up_to}
        stored = connection.execute(_ALL_OUTPUTS, parameters).mappings()
        yield from _intact(stored, point.run_id)


def _intact(stored: Iterable[Mapping[Any, Any]], run_id: str) -> Iterator[RunRow]:
    """Yield rows that are what was written."""
    for row in stored:
        where = f"{row['kind']} {row['node_id']}:{row['occurrence']}:{row['idx']} of run {run_id}"
        verify_checksum(row, ROW_CHECKED, where)
        yield RunRow(
            kind=row["kind"],
            node_id=row["node_id"],
            occurrence=row["occurrence"],
            index=row["idx"],
            value=load(row["body"], where),
        )
