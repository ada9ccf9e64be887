"""How a commit becomes columns, and how stored columns prove that they are what was hashed."""

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from seeding.canonical import SCHEME, canonical_hash
from seeding.commits import ThreadCommit, commit_body, hash_parts
from seeding.errors import CorruptLog, FermataError
from seeding.model import Json, JsonObject

LISTED = ("messages", "state", "rows")
"""Parts whose bodies are in tables of their own; the commit row keeps their hashes."""

PART_COLUMNS = {
    "disposition": "disposition",
    "opening": "opening",
    "position": "position",
    "opened": "opened",
    "closed": "closed",
    "events": "events",
    "result": "result",
}
"""Parts that are a JSON column of the commit row, by name."""

TEXT_COLUMNS = {"nodeId": "node_id", "checkpoint": "checkpoint"}
"""Parts that are a plain text column of the commit row, by name."""


COMMIT_CHECKED = (
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
)
"""Columns of a commit row under its checksum: what the log itself gave the commit, and what is
listed without reading a commit whole. All else is under the commit's hash."""

OWNER_CHECKED = (
    "run_id",
    "owner_epoch",
    "chain_id",
    "execution_run_id",
    "namespace",
    "at",
    "last_ordinal",
    "start",
    "warnings",
)
BRANCH_CHECKED = ("thread_id", "name", "lineage", "opened_version")
GRAPH_CHECKED = ("digest", "graph_id", "body", "created_at")
TURN_CHECKED = (
    "thread_id",
    "number",
    "state",
    "operation",
    "request",
    "request_hash",
    "idempotency_key",
    "behind",
    "namespace",
    "run_id",
    "refusal",
    "received_at",
    "settled_at",
)
MESSAGE_CHECKED = ("place", "message_id", "body")
CELL_CHECKED = ("key", "value")
ROW_CHECKED = ("node_id", "occurrence", "idx", "body")


class EncodedCommit(NamedTuple):
    """A commit as the log stores it, made once and used for the checks and for writing."""

    payload_hash: str
    columns: dict[str, str | None]
    messages: tuple[str, ...]
    values: tuple[str, ...]
    rows: tuple[str, ...]
    size: int


def dump(value: Json) -> str:
    """Return ``value`` as compact JSON text, its keys in their own order."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def load(text: str, where: str) -> Json:
    """Return the JSON value of ``text``.

    Raises:
        CorruptLog: It is none; ``where`` names the place in the message.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise CorruptLog(f"{where} holds no readable JSON: {error}") from error


def load_or_none(text: str | None, where: str) -> Json:
    """Return the JSON value of ``text``, or None for a column without one."""
    return None if text is None else load(text, where)


def checksum(*parts: str | int | None) -> int:
    """Return the checksum of a row's columns, by which a read knows that none changed.

    It tells damage, not intent: the hashes of the commit prove the content.
    """
    text = "\x1f".join("" if part is None else str(part) for part in parts)
    return zlib.crc32(text.encode())


def verify_checksum(row: Mapping[Any, Any], columns: Sequence[str], where: str) -> None:
    """Compare the columns of a stored row with its checksum.

    Args:
        row: The row, with the columns and its ``checksum``.
        columns: What was summed up, in that order.
        where: Names the row in the message.

    Raises:
        CorruptLog: A column changed since the row was written.
    """
    if checksum(*(row[name] for name in columns)) != row["checksum"]:
        raise CorruptLog(f"{where} is not what was written: its checksum is another")


def encode(commit: ThreadCommit) -> EncodedCommit:
    """Return the stored form of ``commit`` with its payload hash and its size in bytes."""
    body = commit_body(commit)
    parts = hash_parts(body)
    columns: dict[str, str | None] = {
        column: dump(body[name]) if name in body else None for name, column in PART_COLUMNS.items()
    }
    columns["node_id"] = commit.node_id
    columns["checkpoint"] = commit.checkpoint
    columns["listed"] = dump({name: parts[name] for name in LISTED if name in parts})
    bodies = tuple(dump(message) for message in commit.messages)
    values = tuple(dump(command.value) for command in commit.state)
    rows = tuple(dump(row.value) for row in commit.rows)
    texts = [*(text for text in columns.values() if text), *bodies, *values, *rows]
    return EncodedCommit(
        payload_hash=canonical_hash(parts),
        columns=columns,
        messages=bodies,
        values=values,
        rows=rows,
        size=sum(len(text.encode()) for text in texts),
    )


def verify_commit_row(row: Mapping[Any, Any]) -> None:
    """Compare a whole commit row with the hash it was accepted under and with its checksum.

    Raises:
        CorruptLog: A column changed since, or cannot be read.
    """
    where = f"commit {row['thread_version']} of thread {row['thread_id']}"
    try:
        parts: JsonObject = {
            "scheme": SCHEME,
            "threadId": canonical_hash(row["thread_id"]),
            "runId": canonical_hash(row["run_id"]),
        }
        for name, column in PART_COLUMNS.items():
            if row[column] is not None:
                parts[name] = canonical_hash(json.loads(row[column]))
        for name, column in TEXT_COLUMNS.items():
            if row[column] is not None:
                parts[name] = canonical_hash(row[column])
        parts.update(json.loads(row["listed"]))
        found = canonical_hash(parts)
    except (ValueError, TypeError, FermataError) as error:
        raise CorruptLog(f"{where} cannot be read: {error}") from error
    if found != row["payload_hash"]:
        raise CorruptLog(f"{where} is not what was accepted: its hash is {found}")
    verify_checksum(row, COMMIT_CHECKED, where)
