"""What cells hold at a point of a lineage (AW-61).

The newest version up to the point, within the newest step of the lineage that has the key, is
the value; a tombstone counts as absent. Keys are walked by seeking from one to the next, so a
read costs by the number of keys, whatever their history.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Text, bindparam, cast, func, select
from sqlalchemy.sql.elements import ColumnElement

from activities.log.encoding import checksum, dump, load
from activities.log.tables import cells
from seeding.commits import BranchPoint, StateCommand
from seeding.errors import CorruptLog
from seeding.model import Json, JsonObject, as_object
from seeding.state import merge_keys

_TOMBSTONE = ""  # no JSON text is empty
_STORED = cast(cells.c.checksum, Text) + func.coalesce(":" + cells.c.value, _TOMBSTONE)
"""A cell with its checksum as one text, because a key is walked to with one value only."""


class CellGroup(NamedTuple):
    """The cells of one name: a thread's ``data`` or ``metadata``, or a run's ``position``."""

    scope: str
    owner: str
    cell: str


THREAD_DATA = CellGroup("thread", "", "data")
THREAD_METADATA = CellGroup("thread", "", "metadata")


def position_of(run_id: str) -> CellGroup:
    """Return the group of a run's own cells."""
    return CellGroup("run", run_id, "position")


def group_of(command: StateCommand, run_id: str) -> CellGroup:
    """Return the group of the cell that a command of a run sets or removes."""
    return CellGroup(command.scope, run_id if command.scope == "run" else "", command.cell)


def text_after(command: StateCommand, given: str, existing: str | None) -> str | None:
    """Return the JSON text a cell holds after ``command``; None is a tombstone (AW-59).

    Args:
        command: The command.
        given: Its own value as JSON text.
        existing: What the cell held, for a commutative set; None is nothing.
    """
    if command.op == "remove":
        return None
    if command.policy != "commutative" or existing is None:
        return given
    before = as_object(load(existing, f"cell {command.cell}.{command.key}"))
    update = as_object(command.value)
    return given if before is None or update is None else dump(merge_keys(before, update))


def _in_group() -> tuple[ColumnElement[bool], ...]:
    return (
        cells.c.thread_id == bindparam("thread"),
        cells.c.branch == bindparam("branch"),
        cells.c.scope == bindparam("scope"),
        cells.c.owner == bindparam("owner"),
        cells.c.cell == bindparam("cell"),
    )


def _walk_keys() -> Select[Any, Any]:
    keys = (
        select(func.min(cells.c.key).label("key")).where(*_in_group()).cte("keys", recursive=True)
    )
    following = select(func.min(cells.c.key)).where(*_in_group(), cells.c.key > keys.c.key)
    walked = keys.union_all(
        select(following.scalar_subquery()).where(keys.c.key.is_not(None)),
    )
    newest = (
        select(_STORED)
        .where(
            *_in_group(),
            cells.c.key == walked.c.key,
            cells.c.version <= bindparam("version"),
        )
        .order_by(cells.c.version.desc(), cells.c.place.desc())
        .limit(1)
    )
    return select(walked.c.key, newest.scalar_subquery()).where(walked.c.key.is_not(None))


_ALL = _walk_keys()
_ONE = (
    select(_STORED)
    .where(
        *_in_group(),
        cells.c.key == bindparam("key"),
        cells.c.version <= bindparam("version"),
    )
    .order_by(cells.c.version.desc(), cells.c.place.desc())
    .limit(1)
)


def read_cells(
    connection: Connection, lineage: Sequence[BranchPoint], group: CellGroup
) -> JsonObject:
    """Return the values of a thread's group along ``lineage``, by key in the order of keys."""
    return read_places(connection, [(point, group) for point in lineage])


def read_places(
    connection: Connection, places: Sequence[tuple[BranchPoint, CellGroup]]
) -> JsonObject:
    """Return the values of groups of one kind, each at its point; a later place wins.

    Values are given by key in the order of the keys; one that a later place removed is absent.
    """
    texts: dict[str, str] = {}
    for point, group in reversed(places):
        for key, stored in connection.execute(_ALL, _parameters(point, group)):
            if stored is not None and key not in texts:
                texts[key] = _intact(point, group, key, stored)
    return {
        key: load(texts[key], f"cell {key}") for key in sorted(texts) if texts[key] != _TOMBSTONE
    }


def read_cell(
    connection: Connection, places: Sequence[tuple[BranchPoint, CellGroup]], key: str
) -> str | None:
    """Return the JSON text one cell holds along its places, or None where it is absent."""
    for point, group in reversed(places):
        stored = connection.execute(_ONE, {**_parameters(point, group), "key": key}).scalar()
        if stored is not None:
            return _intact(point, group, key, stored) or None
    return None


def _intact(point: BranchPoint, group: CellGroup, key: str, stored: str) -> str:
    """Return the text of a cell that is what was written; empty for a tombstone."""
    found, valued, text = stored.partition(":")
    if str(checksum(key, text if valued else None)) != found:
        raise CorruptLog(
            f"cell {group.cell}.{key} of thread {point.thread_id}, branch {point.branch!r}, at or "
            f"before version {point.up_to} is not what was written: its checksum is another"
        )
    return text


def _parameters(point: BranchPoint, group: CellGroup) -> dict[str, Json]:
    return {
        "thread": point.thread_id,
        "branch": point.branch,
        "version": point.up_to,
        **group._asdict(),
    }
