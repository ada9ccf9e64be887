"""The state at a commit, folded from prefixes along its lineage."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from activities.log.cells import THREAD_DATA, THREAD_METADATA, read_cells, read_places
from activities.log.encoding import load
from activities.log.floors import check_kept
from activities.log.lineage import read_lineage, read_messages, without_run
from activities.log.records import PHASES
from activities.log.rows import head_of, read_commit_row, read_values
from activities.log.run_points import own_places, read_run_points
from activities.log.runs import read_latest_run, read_open_tickets_at, read_run
from activities.log.stored import RunPhase, StateView, StoredRun
from activities.log.whole_lists import check_tickets
from seeding.commits import BranchPoint, Disposition, PositionHead
from seeding.errors import CorruptLog, UnknownCheckpoint, UnknownThread
from seeding.fold import STATE_CELL, outcome_of
from seeding.identity import WORKFLOW_END, checkpoint_id, parse_checkpoint_id
from seeding.model import Json, JsonObject
from seeding.state import RunState


def resolve_commit(
    connection: Connection, thread_id: str, name: str | None
) -> tuple[Mapping[Any, Any], StoredRun]:
    """Return the commit row that a checkpoint of a thread names, and its run.

    Args:
        connection: An open transaction.
        thread_id: The thread.
        name: A checkpoint id, ``workflow_end`` for the end of the latest run, or None for the
            thread's latest state.

    Raises:
        UnknownThread: No run was ever opened on the thread.
        UnknownCheckpoint: The name resolves to nothing, or to another thread's checkpoint.
        CorruptLog: The commit is missing or is not what was accepted.
    """
    latest = read_latest_run(connection, thread_id)
    if latest is None:
        raise without_run(connection, thread_id)
    if name is None or (name == WORKFLOW_END and latest.phase == "ended"):
        row = read_commit_row(connection, latest.run_id)
        if row is None:
            raise CorruptLog(f"run {latest.run_id}, the latest of {thread_id}, has no commit")
        return row, latest
    check_kept(connection, name)
    parsed = parse_checkpoint_id(name)
    row = read_commit_row(connection, parsed.run_id, parsed.ordinal) if parsed else None
    if row is None or row["thread_id"] != thread_id:
        whose = f"; it is one of thread {row['thread_id']!r}" if row else ""
        raise UnknownCheckpoint(f"thread {thread_id!r} has no checkpoint {name!r}{whose}")
    if row["run_id"] == latest.run_id:
        return row, latest
    run = read_run(connection, row["run_id"])
    if run is None:
        raise CorruptLog(f"run {row['run_id']} of thread {thread_id} has commits but no row")
    return row, run


def read_state(
    connection: Connection, thread_id: str, name: str | None, *, messages: bool
) -> StateView:
    """Return the state of a thread at a checkpoint, by default its latest.

    Raises:
        UnknownThread, UnknownCheckpoint, CorruptLog: As :func:`resolve_commit`.
    """
    row, run = resolve_commit(connection, thread_id, name)
    lineage = lineage_of(connection, row)
    said = _disposition(row)
    version: int = row["thread_version"]
    waiting = read_open_tickets_at(connection, run.run_id, version) if said.tickets else ()
    check_tickets(
        thread_id,
        run.run_id,
        [reference.ticket for reference in said.tickets],
        [item.body.ticket for item in waiting],
    )
    return StateView(
        state=_state(connection, row, lineage, said, messages=messages),
        message_count=row["message_count"],
        checkpoint_id=checkpoint_id(run.run_id, row["ordinal"]),
        ordinal=row["ordinal"],
        version=version,
        branch=row["branch"],
        phase=_phase(row),
        open_tickets=waiting,
        run=run,
    )


def lineage_of(connection: Connection, row: Mapping[Any, Any]) -> tuple[BranchPoint, ...]:
    """Return the lineage of the point at which a commit stands.

    Raises:
        CorruptLog: The commit's branch is missing.
    """
    try:
        return read_lineage(connection, row["thread_id"], row["branch"], row["thread_version"])
    except UnknownThread as error:
        raise CorruptLog(f"{error.message}, but commit {row['thread_version']} is on it") from error


def _outcome_fields(said: Disposition) -> JsonObject:
    if said.cause is None:
        return {"status": None, "isComplete": False, "error": None}
    outcome = outcome_of(said.cause)
    return {"status": outcome.status, "isComplete": True, "error": outcome.error}


def _state(
    connection: Connection,
    row: Mapping[Any, Any],
    lineage: tuple[BranchPoint, ...],
    said: Disposition,
    *,
    messages: bool,
) -> RunState:
    head = head_of(row)
    points = read_run_points(connection, row["run_id"], row["thread_version"])
    own = read_places(connection, own_places(points))
    unknown = {
        key.removeprefix(STATE_CELL): value
        for key, value in own.items()
        if key.startswith(STATE_CELL)
    }
    return RunState.model_validate(
        {
            **unknown,
            **_outcome_fields(said),
            "messages": read_messages(connection, lineage) if messages else [],
            "data": read_cells(connection, lineage, THREAD_DATA),
            "metadata": read_cells(connection, lineage, THREAD_METADATA),
            "threadId": row["thread_id"],
            "currentNodeId": head.current_node_id,
            "iterationCount": head.iteration_count,
            "iterator": _iterator(connection, row, head),
        }
    )


def _iterator(connection: Connection, row: Mapping[Any, Any], head: PositionHead) -> Json:
    named = head.iterator
    if named is None:
        return None

    def values(kind: str, count: int) -> list[Json]:
        return read_values(
            connection,
            row["run_id"],
            kind,
            named.node_id,
            named.occurrence,
            count,
            version=row["thread_version"],
        )

    return {
        "items": values("item", named.items),
        "index": named.index,
        "results": values("result", named.results),
    }


def _phase(row: Mapping[Any, Any]) -> RunPhase:
    return PHASES[row["kind"]]


def _disposition(row: Mapping[Any, Any]) -> Disposition:
    where = f"the disposition of commit {row['ordinal']} of run {row['run_id']}"
    return Disposition.model_validate(load(row["disposition"], where))
