"""The state a new run starts from, once it is decided where it is read (SG-12)."""

from seeding.clearing import begin_turn
from seeding.decisions import Open
from seeding.model import JsonObject
from seeding.state import RunState

_NO_OUTCOME: JsonObject = {"status": None, "is_complete": False, "error": None}


def starting_state(decision: Open, thread_id: str, read: RunState | None) -> RunState:
    """Return the state the new run starts from, before the request's own content.

    A run that starts from a checkpoint with its position has no outcome yet, whatever became
    of the run that made the checkpoint. An explicit snapshot is taken as it was read. The
    thread id is always that of the thread the run is on.

    Args:
        decision: Which new run is opened, and from what.
        thread_id: The thread the run is opened on.
        read: The state that was read where ``decision.base`` says; None for a fresh start.
    """
    if read is None or decision.base.kind == "none":
        return RunState(thread_id=thread_id)
    state = begin_turn(read) if decision.base.cleared else read
    changes: JsonObject = {"thread_id": thread_id}
    if decision.base.kind == "checkpoint":
        changes.update(_NO_OUTCOME)
    return state.model_copy(update=changes)
