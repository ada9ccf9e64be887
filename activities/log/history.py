"""Reading commits back whole, as they were accepted."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Table, bindparam, select

from activities.log.commit_rows import message_body, operation_of, run_row_body, state_body
from activities.log.encoding import load_or_none, verify_commit_row
from activities.log.floors import read_floors
from activities.log.rows import read_commit_row
from activities.log.stored import StoredCommit
from activities.log.tables import cells, commits, messages, run_rows
from seeding.commits import AuditDraft, commit_hash
from seeding.errors import CorruptLog
from seeding.model import Json, as_list

_COMMITS = (
    select(commits)
    .where(
        commits.c.thread_id == bindparam("thread"),
        commits.c.thread_version > bindparam("after"),
    )
    .order_by(commits.c.thread_version)
    .limit(bindparam("limit"))
)
_KINDS = ("output", "item", "result")
_BODIES: Mapping[str, Table] = {"messages": messages, "state": cells, "rows": run_rows}
_READ: Mapping[str, Callable[[Mapping[Any, Any]], Json]] = {
    "messages": message_body,
    "state": state_body,
    "rows": run_row_body,
}


def read_commits(
    connection: Connection, thread_id: str, *, after: int, limit: int
) -> list[StoredCommit]:
    """Return a thread's commits with a version above ``after``, oldest first, at most ``limit``.

    Of a commit at or below the floor of its branch only what pruning left is returned.

    Raises:
        CorruptLog: A version is missing, or a commit is not what was accepted.
    """
    rows = (
        connection.execute(_COMMITS, {"thread": thread_id, "after": after, "limit": limit})
        .mappings()
        .all()
    )
    if not rows:
        return []
    floors = read_floors(connection, thread_id)
    check_dense(thread_id, after, [row["thread_version"] for row in rows], floors)
    bodies = _read_bodies(connection, rows)
    return [_stored(row, bodies, floors) for row in rows]


def check_dense(
    thread_id: str, after: int, versions: Sequence[int], floors: Mapping[str, int]
) -> None:
    """Pass versions that follow each other from ``after`` on, but for those that were pruned.

    Pruning leaves gaps at and below the floor of the branch that they were on, so a gap is
    damage only above every floor of the thread.

    Raises:
        CorruptLog: A version is missing.
    """
    highest = max(floors.values(), default=0)
    for before, version in pairwise((after, *versions)):
        if version != before + 1 and version - 1 > highest:
            missing = max(before + 1, highest + 1)
            raise CorruptLog(f"commit {missing} of thread {thread_id} is missing")


def read_opening_events(connection: Connection, run_id: str) -> tuple[AuditDraft, ...]:
    """Return what the opening of a run recorded beside its state; nothing for no such run.

    Raises:
        CorruptLog: The opening is not what was accepted.
    """
    row = read_commit_row(connection, run_id, 0)
    where = f"the events of the opening of run {run_id}"
    drafts = as_list(load_or_none(row["events"], where)) if row is not None else None
    return tuple(AuditDraft.model_validate(draft) for draft in drafts or ())


def _read_bodies(
    connection: Connection, rows: Sequence[Mapping[Any, Any]]
) -> dict[tuple[str, int], list[Json]]:
    first, last = rows[0], rows[-1]
    runs = sorted({row["run_id"] for row in rows})
    found: dict[tuple[str, int], list[Json]] = {}
    for name, table in _BODIES.items():
        statement = (
            select(table)
            .where(
                table.c.thread_id == first["thread_id"],
                table.c.version >= first["thread_version"],
                table.c.version <= last["thread_version"],
            )
            .order_by(table.c.version, table.c.place)
        )
        if table is run_rows:
            statement = statement.where(table.c.run_id.in_(runs), table.c.kind.in_(_KINDS))
        for row in connection.execute(statement).mappings():
            found.setdefault((name, row["version"]), []).append(_READ[name](row))
    return found


def _stored(
    row: Mapping[Any, Any],
    bodies: Mapping[tuple[str, int], Sequence[Json]],
    floors: Mapping[str, int],
) -> StoredCommit:
    verify_commit_row(row)
    version: int = row["thread_version"]
    pruned = version <= floors.get(row["branch"], 0)
    operation = operation_of(row, {name: bodies.get((name, version), ()) for name in _BODIES})
    if not pruned and commit_hash(operation.commit) != row["payload_hash"]:
        raise CorruptLog(
            f"commit {version} of thread {row['thread_id']} lacks a message, a cell or a row it "
            "was accepted with"
        )
    return StoredCommit(
        operation=operation,
        branch=row["branch"],
        thread_version=version,
        created_at=row["created_at"],
        pruned=pruned,
    )
