"""Reading a run's position and its own rows: outputs, loop items, loop results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select, tuple_

from activities.log.cells import position_of, read_cells
from activities.log.encoding import load, load_or_none, verify_commit_row
from activities.log.facts import MANY
from activities.log.tables import commits, run_rows, runs
from seeding.commits import BranchPoint, PositionHead, RunRow
from seeding.errors import CorruptLog, UnknownCheckpoint
from seeding.model import Json, JsonObject

_COMMIT = select(commits).where(
    commits.c.run_id == bindparam("run"), commits.c.ordinal == bindparam("ordinal")
)
_LAST = select(runs.c.last_ordinal).where(runs.c.run_id == bindparam("run"))
_ROWS = (
    select(run_rows.c.idx, run_rows.c.body)
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
    select(run_rows.c.node_id, run_rows.c.occurrence, run_rows.c.body)
    .where(
        run_rows.c.run_id == bindparam("run"),
        run_rows.c.kind == "output",
        tuple_(run_rows.c.node_id, run_rows.c.occurrence).in_(bindparam("pairs", expanding=True)),
    )
    .order_by(run_rows.c.version, run_rows.c.place)
)
_ALL_OUTPUTS = (
    select(run_rows.c.node_id, run_rows.c.occurrence, run_rows.c.idx, run_rows.c.body)
    .where(run_rows.c.run_id == bindparam("run"), run_rows.c.kind == "output")
    .order_by(run_rows.c.version, run_rows.c.place)
)

NEWEST = 2**62
"""A version no thread reaches, for a read without an upper bound."""


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


def own_point(row: Mapping[Any, Any]) -> BranchPoint:
    """Return the point of its own branch at which a commit stands."""
    return BranchPoint(
        thread_id=row["thread_id"], branch=row["branch"], up_to=row["thread_version"]
    )


def read_position(
    connection: Connection, run_id: str, ordinal: int | None = None
) -> tuple[PositionHead, JsonObject]:
    """Return the position right after a commit: its head and the run's own cells.

    Raises:
        UnknownCheckpoint: The run or its commit does not exist.
        CorruptLog: The commit is not what was accepted.
    """
    row = read_commit_row(connection, run_id, ordinal)
    if row is None:
        named = "" if ordinal is None else f", or no commit {ordinal}"
        raise UnknownCheckpoint(f"the log has no run {run_id!r}{named}")
    cells = read_cells(connection, [own_point(row)], position_of(run_id))
    return head_of(row), cells


def read_outputs(
    connection: Connection, run_id: str, pairs: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], Json]:
    """Return the output rows of executions by node and occurrence; missing ones are left out."""
    found: dict[tuple[str, int], Json] = {}
    for first in range(0, len(pairs), MANY):
        asked = [tuple(pair) for pair in pairs[first : first + MANY]]
        for node, occurrence, body in connection.execute(_OUTPUTS, {"run": run_id, "pairs": asked}):
            found[node, occurrence] = load(body, f"output {node}:{occurrence} of run {run_id}")
    return found


def read_all_outputs(connection: Connection, run_id: str) -> list[RunRow]:
    """Return all output rows of a run in the order in which the executions completed."""
    return list(_output_rows(connection, run_id))


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
    parameters = {
        "run": run_id,
        "kind": kind,
        "node": node_id,
        "occurrence": occurrence,
        "count": up_to_count,
        "version": version,
    }
    where = f"{kind} rows of {node_id}:{occurrence} of run {run_id}"
    texts = {index: body for index, body in connection.execute(_ROWS, parameters)}
    for index in range(up_to_count):
        if index not in texts:
            raise CorruptLog(f"the {where} have no index {index}, {up_to_count} are expected")
    return [load(texts[index], where) for index in range(up_to_count)]


def _output_rows(connection: Connection, run_id: str) -> Iterator[RunRow]:
    for node, occurrence, index, body in connection.execute(_ALL_OUTPUTS, {"run": run_id}):
        value = load(body, f"output {node}:{occurrence} of run {run_id}")
        yield RunRow(kind="output", node_id=node, occurrence=occurrence, index=index, value=value)
