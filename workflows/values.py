"""The values of an execution's inputs: wire over request input (DATA-6, DATA-7).

A node's config stays apart from its inputs; where it stands in for a missing input, the node
says so itself.
"""

from collections.abc import Mapping

from seeding.model import Json, JsonObject
from workflows.graph.model import LOOP_BACK_PORT
from workflows.plan import Plan
from workflows.position import Execution, Position, Recorded, Reference


def references(plan: Plan, position: Position, execution: Execution) -> dict[str, Reference]:
    """Return where each input of ``execution`` comes from, by port, for passing by reference."""
    given = position.inputs.get(execution.node_id, {})
    found = {
        port: Reference(kind="input", node_id=execution.node_id, occurrence=0, port=port)
        for port in given
    }
    found.update(execution.sources)
    return {port: found[port] for port in sorted(found)}


def resolve_inputs(plan: Plan, position: Position, execution: Execution) -> JsonObject:
    """Return the values of ``execution``'s inputs by port; a wired null beats a given value."""
    return read_inputs(position.inputs, position.outputs, execution)


def read_inputs(
    inputs: Mapping[str, JsonObject],
    outputs: Mapping[tuple[str, int], Recorded],
    execution: Execution,
) -> JsonObject:
    """Return the values of an execution's inputs by port, in order of the ports' names."""
    found: dict[str, Json] = dict(inputs.get(execution.node_id, {}))
    for port, source in execution.sources.items():
        found[port] = outputs[source.node_id, source.occurrence].value(source.port)
    return {port: found[port] for port in sorted(found)}


def passed_on(ports: tuple[str, ...], outputs: JsonObject, inputs: JsonObject) -> JsonObject:
    """Return what each of ``ports`` carries that has no output of its own name.

    A branch port then carries the node's input: the value of a single one, the object of
    several, and nothing where there is none.
    """
    own = {port: value for port, value in inputs.items() if port != LOOP_BACK_PORT}
    silent = [port for port in ports if port not in outputs]
    if not own or not silent:
        return {}
    value: Json = next(iter(own.values())) if len(own) == 1 else own
    return dict.fromkeys(silent, value)
