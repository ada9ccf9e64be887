"""Types that bring a value into the graph: ``value``, ``json_loader`` and ``text_input``."""

import json

from seeding.json_values import find_not_json
from seeding.model import Json, JsonObject
from workflows.completion import Completion, NodeFailureReport
from workflows.graph.model import Node
from workflows.position import Execution

OUTPUT_PORTS = {"value": "value", "json_loader": "data", "text_input": "text"}
"""The output port of each of these types; an input of the same name replaces the config."""


def evaluate_value(node: Node, execution: Execution, inputs: JsonObject) -> Completion:
    """Return the node's value at its one port, or no output where nothing gives one.

    An input for the port, an explicit null included, replaces what the config says (DATA-7):
    ``value``; ``jsonData``, a JSON text or any other value as it is; ``defaultValue``, else
    ``value``. A ``jsonData`` that is no JSON is a node-level failure.
    """
    port = OUTPUT_PORTS[node.type]
    found: JsonObject | str = {}
    if port in inputs:
        found = {port: inputs[port]}
    elif node.type == "json_loader":
        found = _load(node.config, port)
    else:
        names = ("defaultValue", "value") if node.type == "text_input" else ("value",)
        given = [node.config[name] for name in names if name in node.config]
        found = {port: given[0]} if given else {}
    if isinstance(found, str):
        failure = NodeFailureReport(
            code="InvalidJson", message=f"node {node.id!r}: config jsonData is no JSON: {found}"
        )
        return Completion(node_id=node.id, occurrence=execution.occurrence, failure=failure)
    return Completion(node_id=node.id, occurrence=execution.occurrence, outputs=found)


def _load(config: JsonObject, port: str) -> JsonObject | str:
    """Return the outputs of a ``json_loader``, or what is wrong with its text."""
    if "jsonData" not in config:
        return {}
    data: Json = config["jsonData"]
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except ValueError as error:
            return str(error)
        problem = find_not_json(data)
        if problem is not None:
            return f"{problem.path or '(root)'}: {problem.kind}"
    return {port: data}
