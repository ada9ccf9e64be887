"""How an older log becomes a newer one, one numbered step each; a step is never changed again."""

from sqlalchemy import Connection, text

from activities.log.encoding import checksum

_COLUMNS_2 = (
    ("messages", "checksum BIGINT NOT NULL DEFAULT 0"),
    ("cells", "checksum BIGINT NOT NULL DEFAULT 0"),
    ("run_rows", "checksum BIGINT NOT NULL DEFAULT 0"),
    ("run_owners", "last_ordinal BIGINT NOT NULL DEFAULT -1"),
    ("run_owners", "start TEXT"),
    ("run_owners", "warnings TEXT"),
    ("runs", "continues TEXT"),
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
_CHECKED_2 = (
    ("messages", ("thread_id", "branch", "place"), ("place", "message_id", "body")),
    (
        "cells",
        ("thread_id", "branch", "scope", "owner", "cell", "key", "version", "place"),
        ("key", "value"),
    ),
    (
        "run_rows",
        ("run_id", "kind", "node_id", "occurrence", "idx", "version", "place"),
        ("node_id", "occurrence", "idx", "body"),
    ),
)


def from_version_1(connection: Connection) -> None:
    """Add the effect ledger, floors, checksums, and how runs were taken over or continued.

    Only SQLite files are of version 1.
    """
    for table, column in _COLUMNS_2:
        connection.execute(text(f"ALTER TABLE {table} ADD COLUMN {column}"))
    for statement in _TABLES_2:
        connection.execute(text(statement))
    for table, keys, checked in _CHECKED_2:
        _add_checksums(connection, table, keys, checked)


def _add_checksums(
    connection: Connection, table: str, keys: tuple[str, ...], checked: tuple[str, ...]
) -> None:
    rows = connection.execute(
        text(f"SELECT {', '.join(dict.fromkeys(keys + checked))} FROM {table}")
    )
    where = " AND ".join(f"{key} = :{key}" for key in keys)
    change = text(f"UPDATE {table} SET checksum = :checksum WHERE {where}")
    changes = [
        {
            "checksum": checksum(*(row[name] for name in checked)),
            **{key: row[key] for key in keys},
        }
        for row in rows.mappings()
    ]
    if changes:
        connection.execute(change, changes)
