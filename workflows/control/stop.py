"""``stop``: end the run, completed (ERR-5)."""

from seeding.commits import EndCause
from seeding.model import JsonObject
from workflows.completion import Completion
from workflows.graph.model import LOOP_BACK_PORT
from workflows.position import Execution, Position
from workflows.state_updates import CONTROL_OUTPUTS

STOP = "stop"


def evaluate_stop(execution: Execution, inputs: JsonObject) -> Completion:
    """Return the completion whose outputs are the node's inputs by port."""
    unsaid = (LOOP_BACK_PORT, *CONTROL_OUTPUTS)
    outputs = {port: value for port, value in inputs.items() if port not in unsaid}
    return Completion(node_id=execution.node_id, occurrence=execution.occurrence, outputs=outputs)


def stop_verdict(execution: Execution) -> JsonObject:
    """Return the verdict that ends the run once what is in flight has been committed."""
    details: JsonObject = {"node_id": execution.node_id, "occurrence": execution.occurrence}
    return EndCause(kind="Stopped", details=details).to_json()


def is_stopped(position: Position) -> bool:
    """Return whether a ``stop`` has ended the run."""
    return position.verdict is not None and position.verdict.get("kind") == "Stopped"
