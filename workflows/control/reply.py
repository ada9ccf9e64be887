"""``reply``, ``chat_output`` and ``text_output``: say something on the thread."""

from seeding.model import Json, JsonObject
from workflows.completion import Completion
from workflows.control.templates import as_text, fill_template
from workflows.graph.model import Node
from workflows.position import Execution
from workflows.state_updates import STATE_UPDATE


def evaluate_reply(node: Node, execution: Execution, inputs: JsonObject) -> Completion:
    """Return the completion that appends an assistant message and gives it as ``message``.

    The text is config ``message`` as a template, else input ``message``, else input ``text``,
    else all inputs as a JSON object; a value that is no string appears as compact JSON.
    """
    text = _text(node.config.get("message"), inputs)
    said: JsonObject = {"role": "assistant", "content": text}
    return Completion(
        node_id=execution.node_id,
        occurrence=execution.occurrence,
        outputs={"message": text, STATE_UPDATE: {"messages": [said]}},
    )


def _text(template: Json, inputs: JsonObject) -> str:
    if isinstance(template, str):
        return fill_template(template, inputs)
    for port in ("message", "text"):
        if port in inputs:
            return as_text(inputs[port])
    return as_text(inputs)
