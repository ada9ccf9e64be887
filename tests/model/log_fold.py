"""The state at a commit, by walking over everything before it: what the log must answer."""

from collections.abc import Mapping, Sequence

from seeding.commits import EndCause, IteratorHead
from seeding.model import Json, JsonObject
from tests.model.log_model import Entry

OUTCOME = {
    "NaturalEnd": "completed",
    "Stopped": "completed",
    "Cancelled": "cancelled",
    "MaxIterations": "failed",
    "Error": "failed",
    "FailedVerification": "failed",
    "Indeterminate": "failed",
}
"""The status that a state shows for each cause."""


def messages_of(along: Sequence[Entry]) -> list[JsonObject]:
    """The messages of a lineage, oldest first."""
    return [message for entry in along for message in entry.commit.messages]


def run_entries(along: Sequence[Entry]) -> list[Entry]:
    """The commits of the run that made the last one."""
    return [entry for entry in along if entry.operation.run_id == along[-1].operation.run_id]


def owned_entries(along: Sequence[Entry]) -> list[Entry]:
    """The commits of the run that made the last one, and of the runs it goes on with."""
    opening = run_entries(along)[0].commit.opening
    before = {point.run_id for point in opening.continues} if opening else set[str]()
    owners = before | {along[-1].operation.run_id}
    return [entry for entry in along if entry.operation.run_id in owners]


def cells(along: Sequence[Entry], name: str) -> JsonObject:
    """Walk over the commands of one cell: a merge of two objects, else the last one given."""
    held: dict[str, Json] = {}
    for command in (command for entry in along for command in entry.commit.state):
        if command.cell != name:
            continue
        if command.op == "remove":
            held.pop(command.key, None)
            continue
        both: list[Json] = [held.get(command.key), command.value]
        merges = command.policy == "commutative" and all(isinstance(one, dict) for one in both)
        held[command.key] = {**both[0], **both[1]} if merges else command.value
    return held


def state_at(along: Sequence[Entry]) -> JsonObject:
    """The state after the last commit of a lineage, as JSON."""
    last, own = along[-1].commit, owned_entries(along)
    unknown = {
        key.removeprefix("state/"): value
        for key, value in cells(own, "position").items()
        if key.startswith("state/")
    }
    return {
        **unknown,
        **_outcome(last.disposition.cause),
        "messages": messages_of(along),
        "data": cells(along, "data"),
        "metadata": cells(along, "metadata"),
        "threadId": last.thread_id,
        "currentNodeId": last.position.current_node_id,
        "iterationCount": last.position.iteration_count,
        "iterator": _iterator(own, last.position.iterator),
    }


def _outcome(cause: EndCause | None) -> JsonObject:
    if cause is None:
        return {"status": None, "isComplete": False, "error": None}
    status = OUTCOME[cause.kind]
    error = cause.message if status == "failed" else None
    return {"status": status, "isComplete": True, "error": error}


def _iterator(own: Sequence[Entry], head: IteratorHead | None) -> JsonObject | None:
    if head is None:
        return None
    items, results = loop_values(own, "item"), loop_values(own, "result")
    return {
        "items": [items[index] for index in range(head.items)],
        "index": head.index,
        "results": [results[index] for index in range(head.results)],
    }


def loop_values(own: Sequence[Entry], kind: str) -> Mapping[int, Json]:
    """The values of the one loop of some commits, by index; the last one given counts."""
    return {row.index: row.value for entry in own for row in entry.commit.rows if row.kind == kind}
