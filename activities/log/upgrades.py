"""How an older log becomes a newer one, one numbered step each; a step is never changed again."""

from sqlalchemy import Connection, text

from activities.log.dialect import byte_order
from activities.log.encoding import checksum

_MANY = 500
_COLUMNS_2 = (
    ("run_owners", "last_ordinal BIGINT NOT NULL DEFAULT -1"),
    ("run_owners", "start TEXT"),
    ("run_owners", "warnings TEXT"),
    ("runs", "continues TEXT"),
    ("commits", "checksum BIGINT NOT NULL DEFAULT 0"),
    ("run_owners", "checksum BIGINT NOT NULL DEFAULT 0"),
    ("branches", "checksum BIGINT NOT NULL DEFAULT 0"),
    ("graphs", "checksum BIGINT NOT NULL DEFAULT 0"),
)
_CHECKED_2 = (
    (
        "commits",
        ("thread_id", "thread_version"),
        (
            "thread_id",
            "thread_version",
            "run_id",
            "ordinal",
            "owner_epoch",
            "branch",
            "kind",
            "node_id",
            "checkpoint",
            "message_count",
            "created_at",
        ),
    ),
    (
        "run_owners",
        ("run_id", "owner_epoch"),
        (
            "run_id",
            "owner_epoch",
            "chain_id",
            "execution_run_id",
            "namespace",
            "at",
            "last_ordinal",
            "start",
            "warnings",
        ),
    ),
    ("branches", ("thread_id", "name"), ("thread_id", "name", "lineage", "opened_version")),
    ("graphs", ("digest", "graph_id"), ("digest", "graph_id", "body", "created_at")),
)
_TABLES_2 = (
    """CREATE TABLE effects (
        effect_key TEXT NOT NULL PRIMARY KEY, thread_id TEXT NOT NULL, run_id TEXT NOT NULL,
        node_id TEXT NOT NULL, occurrence BIGINT NOT NULL, ask BIGINT NOT NULL,
        node_type TEXT NOT NULL, arguments_hash TEXT NOT NULL, status TEXT NOT NULL, code TEXT,
        outcome TEXT, attempts BIGINT NOT NULL, owner_epoch BIGINT NOT NULL,
        begun_at TEXT NOT NULL, finished_at TEXT, checksum BIGINT NOT NULL)""",
    "CREATE INDEX effects_of_run ON effects (run_id)",
    "CREATE INDEX effects_of_thread ON effects (thread_id, begun_at)",
    """CREATE TABLE floors (
        thread_id TEXT NOT NULL, branch TEXT NOT NULL, version BIGINT NOT NULL,
        at TEXT NOT NULL, PRIMARY KEY (thread_id, branch))""",
)
_MADE_AGAIN_2 = (
    (
        "messages",
        """CREATE TABLE messages (
            thread_id TEXT NOT NULL, branch TEXT NOT NULL, place BIGINT NOT NULL,
            version BIGINT NOT NULL, message_id TEXT NOT NULL, body TEXT NOT NULL,
            checksum BIGINT NOT NULL, PRIMARY KEY (thread_id, branch, place))""",
        "CREATE INDEX messages_by_id ON messages (message_id, thread_id)",
        ("place", "message_id", "body"),
    ),
    (
        "cells",
        """CREATE TABLE cells (
            thread_id TEXT NOT NULL, branch TEXT NOT NULL, scope TEXT NOT NULL,
            owner TEXT NOT NULL, cell TEXT NOT NULL, "key" TEXT NOT NULL,
            version BIGINT NOT NULL, place BIGINT NOT NULL, value TEXT, policy TEXT NOT NULL,
            stamp TEXT, given TEXT, checksum BIGINT NOT NULL,
            PRIMARY KEY (thread_id, branch, scope, owner, cell, "key", version, place))
            WITHOUT ROWID""",
        None,
        ("key", "value"),
    ),
    (
        "run_rows",
        """CREATE TABLE run_rows (
            run_id TEXT NOT NULL, kind TEXT NOT NULL, node_id TEXT NOT NULL,
            occurrence BIGINT NOT NULL, idx BIGINT NOT NULL, version BIGINT NOT NULL,
            place BIGINT NOT NULL, thread_id TEXT NOT NULL, body TEXT NOT NULL,
            checksum BIGINT NOT NULL,
            PRIMARY KEY (run_id, kind, node_id, occurrence, idx, version, place))
            WITHOUT ROWID""",
        "CREATE INDEX run_rows_by_completion ON run_rows (run_id, kind, version, place)",
        ("node_id", "occurrence", "idx", "body"),
    ),
)


_TABLES_3 = (
    """CREATE TABLE queued_turns (
        thread_id TEXT{0} NOT NULL, number BIGINT NOT NULL, state TEXT{0} NOT NULL,
        operation TEXT{0} NOT NULL, request TEXT{0} NOT NULL, request_hash TEXT{0} NOT NULL,
        idempotency_key TEXT{0}, behind TEXT{0}, namespace TEXT{0} NOT NULL, run_id TEXT{0},
        refusal TEXT{0}, received_at TEXT{0} NOT NULL, settled_at TEXT{0},
        checksum BIGINT NOT NULL, PRIMARY KEY (thread_id, number))""",
    "CREATE INDEX queued_turns_by_state ON queued_turns (thread_id, state, number)",
    "CREATE INDEX queued_turns_by_key ON queued_turns (thread_id, idempotency_key)",
    "CREATE UNIQUE INDEX queued_turns_by_operation ON queued_turns (thread_id, operation)",
)


def from_version_1(connection: Connection) -> None:
    """Add the effect ledger, floors, checksums, and how runs were taken over or continued.

    Messages, cells and rows no longer refer to their commits, which pruning removes.

    Only SQLite files are of version 1.
    """
    for table, column in _COLUMNS_2:
        connection.execute(text(f"ALTER TABLE {table} ADD COLUMN {column}"))
    for statement in _TABLES_2:
        connection.execute(text(statement))
    for table, keys, checked in _CHECKED_2:
        _sum_up(connection, table, keys, checked)
    for table, made, index, checked in _MADE_AGAIN_2:
        _make_again(connection, table, made, checked)
        if index is not None:
            connection.execute(text(index))


def from_version_2(connection: Connection) -> None:
    """Add the table of queued turns; text is compared byte by byte on every database."""
    for statement in _TABLES_3:
        connection.execute(text(statement.format(byte_order(connection))))


def _sum_up(
    connection: Connection, table: str, keys: tuple[str, ...], checked: tuple[str, ...]
) -> None:
    """Give the rows of a table their checksums."""
    where = " AND ".join(f"{key} = :of_{key}" for key in keys)
    change = text(f"UPDATE {table} SET checksum = :made WHERE {where}")
    changes = [
        {
            "made": checksum(*(row[name] for name in checked)),
            **{f"of_{key}": row[key] for key in keys},
        }
        for row in connection.execute(text(f"SELECT {', '.join(checked)} FROM {table}")).mappings()
    ]
    if changes:
        connection.execute(change, changes)


def _make_again(connection: Connection, table: str, made: str, checked: tuple[str, ...]) -> None:
    """Move a table's rows, each with its checksum, into one that refers to no other table.

    SQLite takes a reference away from no table that exists.
    """
    connection.execute(text(f"ALTER TABLE {table} RENAME TO {table}_1"))
    connection.execute(text(made))
    rows = connection.execute(text(f"SELECT * FROM {table}_1")).mappings()
    for part in rows.partitions(_MANY):
        moved = [{**row, "checksum": checksum(*(row[name] for name in checked))} for row in part]
        names = ", ".join(f'"{name}"' for name in moved[0])
        values = ", ".join(f":{name}" for name in moved[0])
        connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), moved)
    connection.execute(text(f"DROP TABLE {table}_1"))
