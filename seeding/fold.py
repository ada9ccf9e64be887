"""The fold: the state that a list of commits means.

This is the model of the log. Storage keeps prefixes and versions so that it need not read
everything; what it answers is what this fold of the same commits answers. Run-owned cells and
rows count only for the run of the last commit and those it continues, which is what makes the
clearing of SG-12 structural: a new turn's fold lacks what the finished run owned.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from seeding.commits import (
    Disposition,
    EndCause,
    IteratorHead,
    RunRow,
    StateCommand,
    ThreadCommit,
)
from seeding.errors import CorruptLog
from seeding.model import Json, JsonObject, as_object
from seeding.state import RunState, Status

STATE_CELL = "state/"
"""Prefix of the run cells that hold fields of a state which this engine does not know."""


class Outcome(NamedTuple):
    """What a cause means for the state: ``status`` and ``error`` (INT-13)."""

    status: Status
    error: str | None


def outcome_of(cause: EndCause) -> Outcome:
    """Return the outcome a state shows for the cause its run ended with (contract, section 3)."""
    if cause.kind in ("NaturalEnd", "Stopped"):
        return Outcome("completed", None)
    if cause.kind == "Cancelled":
        return Outcome("cancelled", None)
    return Outcome("failed", cause.message)


def apply_command(cells: Mapping[str, Json], command: StateCommand) -> JsonObject:
    """Return the cells of one kind after one command; the given ones are unchanged.

    A commutative set of an object over an object stores the shallow merge of both, any other
    set replaces, and a remove leaves no key.
    """
    if command.op == "remove":
        return {key: value for key, value in cells.items() if key != command.key}
    value = command.value
    added, before = as_object(value), as_object(cells.get(command.key))
    if command.policy == "commutative" and added is not None and before is not None:
        value = {**before, **added}
    return {**cells, command.key: value}


def fold(commits: Sequence[ThreadCommit]) -> RunState:
    """Return the state after ``commits``, those of one lineage in version order.

    No commits are the fresh state, without a thread id.

    Raises:
        CorruptLog: The last position names iterator rows that the commits do not hold.
    """
    if not commits:
        return RunState()
    last = commits[-1]
    owners = _owners(commits, last.run_id)
    own = [commit for commit in commits if commit.run_id in owners]
    unknown = {
        key.removeprefix(STATE_CELL): value
        for key, value in _cells(own, "position").items()
        if key.startswith(STATE_CELL)
    }
    return RunState.model_validate(
        {
            **unknown,
            **_outcome(last.disposition),
            "messages": [message for commit in commits for message in commit.messages],
            "data": _cells(commits, "data"),
            "metadata": _cells(commits, "metadata"),
            "threadId": last.thread_id,
            "currentNodeId": last.position.current_node_id,
            "iterationCount": last.position.iteration_count,
            "iterator": _iterator(own, last.position.iterator),
        }
    )


def _owners(commits: Sequence[ThreadCommit], run_id: str) -> tuple[str, ...]:
    """Return the run and those whose position and rows it goes on with."""
    for commit in commits:
        if commit.run_id == run_id and commit.opening is not None:
            return (*(point.run_id for point in commit.opening.continues), run_id)
    return (run_id,)


def _outcome(disposition: Disposition) -> JsonObject:
    if disposition.cause is None:
        return {"status": None, "isComplete": False, "error": None}
    outcome = outcome_of(disposition.cause)
    return {"status": outcome.status, "isComplete": True, "error": outcome.error}


def _cells(commits: Sequence[ThreadCommit], cell: str) -> JsonObject:
    cells: JsonObject = {}
    for commit in commits:
        for command in commit.state:
            if command.cell == cell:
                cells = apply_command(cells, command)
    return cells


def _iterator(own: Sequence[ThreadCommit], head: IteratorHead | None) -> JsonObject | None:
    if head is None:
        return None
    rows = [
        row
        for commit in own
        for row in commit.rows
        if row.node_id == head.node_id and row.occurrence == head.occurrence
    ]
    return {
        "items": _prefix(rows, "item", head.items, head),
        "index": head.index,
        "results": _prefix(rows, "result", head.results, head),
    }


def _prefix(rows: Sequence[RunRow], kind: str, length: int, head: IteratorHead) -> list[Json]:
    values = {row.index: row.value for row in rows if row.kind == kind}
    missing = [index for index in range(length) if index not in values]
    if missing:
        raise CorruptLog(
            f"the iterator of node {head.node_id!r}, entered at {head.occurrence}, needs "
            f"{kind} {missing[0]} of {length}, and no commit holds it"
        )
    return [values[index] for index in range(length)]
