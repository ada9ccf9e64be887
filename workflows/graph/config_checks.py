"""What the config of a built-in type may say.

A type people write by hand (``value``, ``for_each``, ``gate``, ``reply``) has no unknown keys,
so that a typing error is found before anything runs. A type of the editor carries keys that
are for the editor alone; those are passed over.
"""

from collections.abc import Callable, Iterator, Mapping

from seeding.errors import InvalidGraph
from workflows.graph.builtin_types import max_rounds
from workflows.graph.fields import kind_of
from workflows.graph.model import Node
from workflows.graph.text import parse_json_text

GATE_KEYS = ("kind", "message")
GATE_KINDS = ("approval",)
GATE_KEYS_PLANNED = (
    "allowed",
    "approvals",
    "deadline",
    "default",
    "escalateTo",
    "onDeadline",
    "options",
    "schema",
    "who",
)
GATE_KINDS_PLANNED = ("choice", "text", "form", "review", "external")


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


def _unknown(node: Node, known: tuple[str, ...]) -> Iterator[str]:
    for key in node.config:
        if key not in known:
            allowed = f"known are {', '.join(known)}"
            yield f"unknown config key {key!r}; {allowed}"


def _text(node: Node, key: str) -> Iterator[str]:
    value = node.config.get(key)
    if value is not None and not isinstance(value, str):
        yield f"config {key} is {kind_of(value)}; it must be a text"


def _value(node: Node) -> Iterator[str]:
    yield from _unknown(node, ("value",))


def _json_loader(node: Node) -> Iterator[str]:
    text = node.config.get("jsonData")
    if isinstance(text, str):
        try:
            parse_json_text(text, "config jsonData")
        except InvalidGraph as error:
            yield error.message
    else:
        yield from _text(node, "jsonData")


def _text_input(node: Node) -> Iterator[str]:
    yield from _text(node, "defaultValue")
    yield from _text(node, "value")


def _for_each(node: Node) -> Iterator[str]:
    yield from _unknown(node, ("maxRounds",))


def _foreach(node: Node) -> Iterator[str]:
    if node.config.get("continueOnError"):
        yield "config continueOnError is not available in this version; set it to false"


def _gate(node: Node) -> Iterator[str]:
    yield from _unknown(node, (*GATE_KEYS, *GATE_KEYS_PLANNED))
    kind = node.config.get("kind", "approval")
    if kind in GATE_KINDS_PLANNED:
        yield f"config kind {kind!r} is not available in this version; write 'approval'"
    elif kind not in GATE_KINDS:
        yield f"config kind {kind!r} is no kind of gate; write 'approval'"
    for key in GATE_KEYS_PLANNED:
        if node.config.get(key) is not None:
            yield f"config {key} is not available in this version; leave it out"
    yield from _text(node, "message")


def _reply(node: Node) -> Iterator[str]:
    yield from _unknown(node, ("message",))
    yield from _text(node, "message")


def _output(node: Node) -> Iterator[str]:
    yield from _text(node, "message")
    if node.config.get("role") not in (None, "assistant"):
        yield f"config role is {node.config['role']!r}; it can only be 'assistant'"


_CHECKS: Mapping[str, Callable[[Node], Iterator[str]]] = {
    "value": _value,
    "json_loader": _json_loader,
    "text_input": _text_input,
    "for_each": _for_each,
    "foreach": _foreach,
    "gate": _gate,
    "reply": _reply,
    "chat_output": _output,
    "text_output": _output,
}
