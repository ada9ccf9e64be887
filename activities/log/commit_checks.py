"""Whether what was stored beside a commit is what its hash was made of: pure, no database.

A check returns what is wrong, in words; nothing is raised, so that one look finds everything.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from activities.log.commit_rows import message_body, run_row_body, state_body
from activities.log.encoding import (
    CELL_CHECKED,
    LISTED,
    MESSAGE_CHECKED,
    ROW_CHECKED,
    load,
    verify_checksum,
)
from seeding.canonical import canonical_hash
from seeding.commits import RunRow, StateCommand
from seeding.errors import FermataError
from seeding.model import Json, Model, as_list, as_object

StoredRow = Mapping[Any, Any]


class Bodies(NamedTuple):
    """The rows of one version in the tables beside ``commits``, in the order of their places."""

    messages: Sequence[StoredRow]
    cells: Sequence[StoredRow]
    rows: Sequence[StoredRow]


class _Part(NamedTuple):
    """How the rows of one table are compared with one part of a commit."""

    name: str
    checked: Sequence[str]
    content: Callable[[StoredRow], Json]


def _state_content(row: StoredRow) -> Json:
    return _said(StateCommand.model_validate(state_body(row)))


def _row_content(row: StoredRow) -> Json:
    return _said(RunRow.model_validate(run_row_body(row)))


def _said(body: Model) -> Json:
    return body.model_dump(mode="json", by_alias=True, exclude_defaults=True)


_PARTS = (
    _Part("message", MESSAGE_CHECKED, message_body),
    _Part("state command", CELL_CHECKED, _state_content),
    _Part("row", ROW_CHECKED, _row_content),
)


def check_bodies(commit: StoredRow, bodies: Bodies, *, pruned: bool) -> Iterator[str]:
    """Yield what is wrong with the rows beside a commit.

    Args:
        commit: The whole row of the commit, which was compared with its hash.
        bodies: The rows of its version.
        pruned: Whether its run was pruned; state commands and rows may be gone then.
    """
    listed = as_object(load(commit["listed"], "what a commit lists")) or {}
    for part, name, rows in zip(_PARTS, LISTED, bodies, strict=True):
        hashes = as_list(listed.get(name)) or []
        places = [row["place"] for row in rows]
        if name == "messages":
            first = commit["message_count"] - len(hashes)
            places = [place - first for place in places]
        missing = [place for place in range(len(hashes)) if place not in places]
        if missing and not (pruned and name != "messages"):
            yield f"{part.name} {missing[0]} of {len(hashes)} is missing"
        for place, row in zip(places, rows, strict=True):
            yield from _check_row(part, row, hashes, place)
            yield from _check_owner(commit, row, part.name, place)


def check_checksum(row: StoredRow, name: str) -> Iterator[str]:
    """Yield what is wrong with a row of ``messages`` or ``cells`` whose commit was pruned."""
    part = _PARTS[LISTED.index(name)]
    try:
        verify_checksum(row, part.checked, f"{part.name} {row['place']}")
    except FermataError as error:
        yield error.message


def _check_row(part: _Part, row: StoredRow, hashes: Sequence[Json], place: int) -> Iterator[str]:
    where = f"{part.name} {place}"
    if not 0 <= place < len(hashes):
        yield f"{where} is none of the {len(hashes)} that were accepted"
        return
    try:
        verify_checksum(row, part.checked, where)
        content = part.content(row)
        if canonical_hash(content) != hashes[place]:
            yield f"{where} is not what was accepted"
        elif part.name == "message" and row["message_id"] != (as_object(content) or {}).get("id"):
            yield f"{where} is stored under another id than its own"
    except FermataError as error:
        yield error.message
    except ValueError as error:
        yield f"{where} cannot be read: {' '.join(str(error).split())}"


def _check_owner(commit: StoredRow, row: StoredRow, name: str, place: int) -> Iterator[str]:
    wrong = [
        column
        for column in ("thread_id", "branch", "run_id")
        if column in row and row[column] != commit[column]
    ]
    if "owner" in row and row["owner"] != (commit["run_id"] if row["scope"] == "run" else ""):
        wrong.append("owner")
    for column in wrong:
        yield f"{name} {place} is stored under the {column} {row[column]!r}"
