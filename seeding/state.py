"""The run state of FlowDrop and its field-by-field reducers (SG-1).

A state is what people read of a thread: what the thread accumulated (``messages``, ``data``,
``metadata``, ``threadId``), the outcome of its run (``status``, ``isComplete``, ``error``) and
the position of that run (``currentNodeId``, ``iterationCount``, ``iterator``). Keys that a
state carries beyond these are run-owned and kept as they are.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from seeding.model import Json, JsonObject, Model, OpenModel

Status = Literal["completed", "failed", "cancelled"]

THREAD_FIELDS = ("messages", "data", "metadata", "threadId")
"""What a thread accumulates; a new turn keeps these and nothing else (SG-12)."""


class RunState(OpenModel):
    """A state as it is stored and shown; unknown keys are kept."""

    status: Status | None = None
    is_complete: bool = False
    error: str | None = None
    messages: list[JsonObject] = []
    data: JsonObject = {}
    metadata: JsonObject = {}
    thread_id: str = ""
    current_node_id: str = ""
    iteration_count: int = 0
    iterator: JsonObject | None = None

    @property
    def is_terminal(self) -> bool:
        """Whether this is the state of an ended run."""
        return self.status is not None or self.is_complete


class StateUpdate(Model):
    """What a node's ``state_update`` output may say; explicit null clears (SG-1, SG-3).

    Only fields that were given take part: look at ``model_fields_set``.
    """

    messages: list[JsonObject] | None = None
    data: JsonObject | None = None
    metadata: JsonObject | None = None
    iteration_count: int | None = None
    iterator: JsonObject | None = None


def merge_keys(existing: Mapping[str, Json], update: Mapping[str, Json]) -> JsonObject:
    """Return ``existing`` merged with ``update`` by top-level key; neither is changed."""
    return {**existing, **update}


def append_messages(
    existing: Sequence[JsonObject], added: Sequence[JsonObject]
) -> list[JsonObject]:
    """Return ``existing`` followed by ``added``; neither is changed."""
    return [*existing, *added]


def reduce_state(state: RunState, update: Mapping[str, Json]) -> RunState:
    """Return ``state`` after ``update``, field by field (SG-1).

    ``messages`` append, ``data`` and ``metadata`` merge by top-level key (null clears the whole
    field), everything else is replaced, and a field that ``update`` omits is kept. The given
    state is unchanged.

    Args:
        state: The state before.
        update: Field values by camelCase name.
    """
    changed = state.to_json()
    for field, value in update.items():
        if field == "messages":
            changed[field] = append_messages(changed[field], value or [])
        elif field in ("data", "metadata"):
            changed[field] = {} if value is None else merge_keys(changed[field], value)
        else:
            changed[field] = value
    return RunState.model_validate(changed)
