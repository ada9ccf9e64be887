"""Reading commits back whole, as they were accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, select

from activities.log.encoding import (
    PART_COLUMNS,
    TEXT_COLUMNS,
    load,
    load_or_none,
    verify_commit_row,
)
from activities.log.stored import StoredCommit
from activities.log.tables import cells, commits, messages, run_rows
from seeding.commits import CommitOperation, ThreadCommit, commit_hash
from seeding.errors import CorruptLog
from seeding.model import Json, JsonObject

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


def read_commits(
    connection: Connection, thread_id: str, *, after: int, limit: int
) -> list[StoredCommit]:
    """Return a thread's commits with a version above ``after``, oldest first, at most ``limit``.

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
    for due, row in enumerate(rows, start=after + 1):
        if row["thread_version"] != due:
            raise CorruptLog(f"commit {due} of thread {thread_id} is missing")
    bodies = _read_bodies(connection, rows)
    return [_stored(row, bodies) for row in rows]


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
            found.setdefault((name, row["version"]), []).append(_body(name, row))
    return found


def _body(name: str, row: Mapping[Any, Any]) -> Json:
    where = f"{name} of commit {row['version']} of thread {row['thread_id']}"
    if name == "messages":
        return load(row["body"], where)
    if name == "rows":
        return {
            "kind": row["kind"],
            "nodeId": row["node_id"],
            "occurrence": row["occurrence"],
            "index": row["idx"],
            "value": load(row["body"], where),
        }
    text = row["given"] if row["given"] is not None else row["value"]
    return {
        "op": "remove" if row["value"] is None else "set",
        "scope": row["scope"],
        "cell": row["cell"],
        "key": row["key"],
        "value": load_or_none(text, where),
        "policy": row["policy"],
        "runId": row["stamp"],
    }


def _stored(
    row: Mapping[Any, Any], bodies: Mapping[tuple[str, int], Sequence[Json]]
) -> StoredCommit:
    verify_commit_row(row)
    version: int = row["thread_version"]
    where = f"commit {version} of thread {row['thread_id']}"
    said: JsonObject = {"threadId": row["thread_id"], "runId": row["run_id"]}
    for name, column in (*PART_COLUMNS.items(), *TEXT_COLUMNS.items()):
        if row[column] is not None:
            said[name] = load(row[column], where) if name in PART_COLUMNS else row[column]
    for name in _BODIES:
        said[name] = bodies.get((name, version), ())
    commit = ThreadCommit.model_validate(said)
    if commit_hash(commit) != row["payload_hash"]:
        raise CorruptLog(f"{where} lacks a message, a cell or a row it was accepted with")
    return StoredCommit(
        operation=CommitOperation(
            run_id=row["run_id"],
            ordinal=row["ordinal"],
            owner_epoch=row["owner_epoch"],
            expected_thread_version=version - 1,
            payload_hash=row["payload_hash"],
            commit=commit,
        ),
        branch=row["branch"],
        thread_version=version,
        created_at=row["created_at"],
    )
