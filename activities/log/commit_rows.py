"""A commit's rows read back as what was accepted: pure, no database."""

from collections.abc import Mapping
from typing import Any

from activities.log.encoding import PART_COLUMNS, TEXT_COLUMNS, load, load_or_none
from seeding.commits import CommitOperation, ThreadCommit
from seeding.model import Json, JsonObject


def operation_of(
    row: Mapping[Any, Any], listed: Mapping[str, Json] | None = None
) -> CommitOperation:
    """Return the operation that a commit row tells of.

    Args:
        row: The whole row of the commit.
        listed: Its messages, state commands and rows, which are in tables of their own; None
            leaves them out.

    Raises:
        CorruptLog: A column holds no readable JSON.
        ValidationError: A column holds JSON of another shape.
    """
    where = f"commit {row['thread_version']} of thread {row['thread_id']}"
    said: JsonObject = {"threadId": row["thread_id"], "runId": row["run_id"], **(listed or {})}
    for name, column in (*PART_COLUMNS.items(), *TEXT_COLUMNS.items()):
        if row[column] is not None:
            said[name] = load(row[column], where) if name in PART_COLUMNS else row[column]
    return CommitOperation(
        run_id=row["run_id"],
        ordinal=row["ordinal"],
        owner_epoch=row["owner_epoch"],
        expected_thread_version=row["thread_version"] - 1,
        payload_hash=row["payload_hash"],
        commit=ThreadCommit.model_validate(said),
    )


def message_body(row: Mapping[Any, Any]) -> Json:
    """Return the message of a row of ``messages``."""
    return load(row["body"], f"message {row['place']} of thread {row['thread_id']}")


def state_body(row: Mapping[Any, Any]) -> JsonObject:
    """Return the state command of a row of ``cells``."""
    text = row["given"] if row["given"] is not None else row["value"]
    where = f"cell {row['cell']}.{row['key']} at version {row['version']}"
    return {
        "op": "remove" if row["value"] is None else "set",
        "scope": row["scope"],
        "cell": row["cell"],
        "key": row["key"],
        "value": load_or_none(text, f"{where} of thread {row['thread_id']}"),
        "policy": row["policy"],
        "runId": row["stamp"],
    }


def run_row_body(row: Mapping[Any, Any]) -> JsonObject:
    """Return the row of a run that a row of ``run_rows`` holds."""
    where = f"{row['kind']} {row['node_id']}:{row['occurrence']}:{row['idx']}"
    return {
        "kind": row["kind"],
        "nodeId": row["node_id"],
        "occurrence": row["occurrence"],
        "index": row["idx"],
        "value": load(row["body"], f"{where} of run {row['run_id']}"),
    }
