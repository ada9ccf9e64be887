"""What the config of a built-in type may say.

A type people write by hand (``value``, ``for_each``, ``gate``, ``reply``) has no unknown keys,
so that a typing error is found before anything runs. A type of the editor carries keys that
are for the editor alone; those are passed over. ``http_request`` is both: it passes over the
keys that the editor is known to write.
"""

from collections.abc import Callable, Iterator, Mapping

from seeding.durations import parse_duration
from seeding.errors import InvalidGraph, InvalidRequest
from workflows.graph.builtin_types import DELAY, max_rounds
from workflows.graph.flow_checks import FLOW_CHECKS, text_problem, unknown_keys
from workflows.graph.gate_config import gate_problems
from workflows.graph.model import Node
from workflows.graph.text import parse_json_text


def config_problems(node: Node) -> list[str]:
    """Return what is wrong with the config of a node of a built-in type, each naming it."""
    check = _CHECKS.get(node.type)
    return [f"node {node.id!r}: {problem}" for problem in check(node)] if check else []


def rounds_problem(node: Node) -> str | None:
    """Return what is wrong with the round limit of a loop's head, of whatever type."""
    try:
        max_rounds(node)
    except InvalidGraph as error:
        return error.message
    return None


def _value(node: Node) -> Iterator[str]:
    yield from unknown_keys(node, ("value",))


def _json_loader(node: Node) -> Iterator[str]:
    text = node.config.get("jsonData")
    if isinstance(text, str):
        try:
            parse_json_text(text, "config jsonData")
        except InvalidGraph as error:
            yield error.message
    else:
        yield from text_problem(node, "jsonData")


def _text_input(node: Node) -> Iterator[str]:
    yield from text_problem(node, "defaultValue")
    yield from text_problem(node, "value")


def _for_each(node: Node) -> Iterator[str]:
    yield from unknown_keys(node, ("maxRounds",))


def _foreach(node: Node) -> Iterator[str]:
    if node.config.get("continueOnError"):
        yield "config continueOnError is not available in this version; set it to false"


def _delay(node: Node) -> Iterator[str]:
    yield from unknown_keys(node, ("duration",))
    try:
        if parse_duration(node.config.get("duration"), "config duration") is None:
            yield "config duration is missing; write how long to wait, such as 30s or 2d"
    except InvalidRequest as error:
        yield error.message


def _reply(node: Node) -> Iterator[str]:
    yield from unknown_keys(node, ("message",))
    yield from text_problem(node, "message")


def _output(node: Node) -> Iterator[str]:
    yield from text_problem(node, "message")
    if node.config.get("role") not in (None, "assistant"):
        yield f"config role is {node.config['role']!r}; it can only be 'assistant'"


_CHECKS: Mapping[str, Callable[[Node], Iterator[str]]] = {
    **FLOW_CHECKS,
    "value": _value,
    DELAY: _delay,
    "json_loader": _json_loader,
    "text_input": _text_input,
    "for_each": _for_each,
    "foreach": _foreach,
    "gate": gate_problems,
    "reply": _reply,
    "chat_output": _output,
    "text_output": _output,
}
