"""The opening step of a run that starts at another run's position (rewind, fork). Pure."""

from collections.abc import Mapping

from seeding.model import JsonObject
from workflows.cells import input_cells
from workflows.completion import Step
from workflows.draft import Draft
from workflows.plan import Plan
from workflows.position import Position, waiting


def start_at(plan: Plan, position: Position, inputs: Mapping[str, JsonObject]) -> Step:
    """Return the opening step at a position: what waited or was in flight is due anew.

    The tickets of the run that made the position are its own; every question that was open is
    asked again, by a gate at once and by an effect node when it is called again. Only what
    changed is written, the rest is read from that run.

    Args:
        plan: The plan of the graph the position is of.
        position: Where the run starts.
        inputs: The request's values by node and port; they replace those of the position.
    """
    draft = Draft(plan, position)
    for execution in waiting(position):
        draft.set_execution(execution.model_copy(update={"status": "due"}))
    given = {
        node_id: {**position.inputs.get(node_id, {}), **inputs[node_id]}
        for node_id in sorted(inputs)
        if node_id in plan.nodes
    }
    draft.commands.extend(input_cells(given))
    return draft.finish(None, inputs={**position.inputs, **given})
