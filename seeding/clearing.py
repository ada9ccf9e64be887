"""What a new turn keeps and what it clears (SG-12, clause 2)."""

from seeding.model import Json, JsonObject, Model
from seeding.state import THREAD_FIELDS, RunState

CLEARED: JsonObject = {
    "status": None,
    "isComplete": False,
    "error": None,
    "iterator": None,
    "iterationCount": 0,
    "currentNodeId": "",
}
"""The exact values a new turn starts with in place of what the finished run owned."""


class Cleared(Model):
    """One field that ``begin_turn`` changed: its value before and after."""

    field: str
    before: Json
    after: Json


def begin_turn(state: RunState) -> RunState:
    """Return the state a new turn on the thread starts from (SG-12).

    Messages, data, metadata and thread id are kept; everything else the finished run owned is
    cleared to exactly ``CLEARED``, and keys this engine does not know are dropped, because
    they are run-owned. The given state is unchanged.
    """
    kept = {name: value for name, value in state.to_json().items() if name in THREAD_FIELDS}
    return RunState.model_validate({**CLEARED, **kept})


def cleared_fields(before: RunState) -> list[Cleared]:
    """Return what ``begin_turn`` changes in ``before``, in the order of the state's fields."""
    old, new = before.to_json(), begin_turn(before).to_json()
    return [
        Cleared(field=name, before=value, after=new.get(name))
        for name, value in old.items()
        if name not in new or new[name] != value
    ]
