"""``merge``: bring together what comes in, by port."""

from seeding.model import JsonObject
from workflows.completion import Completion
from workflows.graph.model import LOOP_BACK_PORT
from workflows.position import Execution


def evaluate_merge(execution: Execution, inputs: JsonObject) -> Completion:
    """Return the completion with one object of all inputs by port.

    That every fed port has its value before is the scheduler's rule for any node (DATA-4). A
    port whose source delivered nothing has no key (DATA-1).
    """
    merged = {port: value for port, value in inputs.items() if port != LOOP_BACK_PORT}
    return Completion(
        node_id=execution.node_id, occurrence=execution.occurrence, outputs={"merged": merged}
    )
