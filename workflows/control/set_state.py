"""``set``: change the thread's state.

Config ``state_update`` is what a node of any type could return as such, with templates: a text
that is exactly ``{port}`` stands for the value at that port, any other text is filled in as a
message is. The update is judged and applied by the rules of every state update (SG-1, SG-3).
"""

import re
from typing import cast

from seeding.model import Json, JsonObject
from workflows.completion import Completion, NodeFailureReport
from workflows.control.templates import fill_template
from workflows.graph.model import LOOP_BACK_PORT, Node
from workflows.position import Execution
from workflows.state_updates import STATE_UPDATE

_WHOLE = re.compile(r"\{([^{}]+)\}")


class _MissingInput(Exception):
    """A text stands for the value of a port that has none."""


def evaluate_set(node: Node, execution: Execution, inputs: JsonObject) -> Completion:
    """Return the completion with the filled update, and what came in as ``value``.

    ``value`` is the value of a single input, the object of several, and null without one, so
    that a ``set`` can stand anywhere on a wire. A ``{port}`` without a value is a node-level
    failure: its name must not end up in the thread.
    """
    try:
        update = _filled(node.config.get(STATE_UPDATE), inputs)
    except _MissingInput as missing:
        failure = NodeFailureReport(
            code="MissingInput",
            message=f"node {node.id!r}: state_update needs input {str(missing)!r}, which has "
            "no value",
        )
        return Completion(node_id=node.id, occurrence=execution.occurrence, failure=failure)
    outputs: JsonObject = {"value": _passed(inputs), STATE_UPDATE: update}
    return Completion(node_id=node.id, occurrence=execution.occurrence, outputs=outputs)


def _filled(value: Json, inputs: JsonObject) -> Json:
    if isinstance(value, str):
        whole = _WHOLE.fullmatch(value)
        if whole is None:
            return fill_template(value, inputs)
        if whole[1] not in inputs:
            raise _MissingInput(whole[1])
        return inputs[whole[1]]
    if isinstance(value, list):
        return [_filled(item, inputs) for item in cast(list[Json], value)]
    if isinstance(value, dict):
        return {key: _filled(item, inputs) for key, item in cast(JsonObject, value).items()}
    return value


def _passed(inputs: JsonObject) -> Json:
    own = {port: value for port, value in inputs.items() if port != LOOP_BACK_PORT}
    if len(own) == 1:
        return next(iter(own.values()))
    return own or None
