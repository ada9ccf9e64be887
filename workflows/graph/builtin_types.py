"""The node types the engine brings along: what they are and which ports they have.

A type that the contract names and this version does not execute is listed in ``PLANNED`` and
nowhere else, so that a graph with one is refused by name when it is started.

Two namings of the same thing live side by side: ours (``for_each``, ``value``) and the
editor's (``foreach``, ``json_loader``, ``text_input``). A node keeps the type and the port
names its author chose; a wire may use either naming, see :func:`port_alias`.

The effect types among them are executed by every worker; what stands here of them is what their
functions declare.
"""

from collections.abc import Mapping

from seeding.errors import InvalidGraph
from seeding.model import Model
from workflows.graph.branch_lists import (
    BRANCHES,
    BRANCHING_TYPES,
    TRUE_AND_FALSE,
    branch_key,
    branch_ports,
)
from workflows.graph.model import ERROR_PORT, LOOP_BACK_PORT, TRIGGER_PORT, Node, NodeType

NOTES = "notes"
DELAY = "delay"
EFFECTS_WITH_RETRIES = ("http_request", "chat", "chat_model")
MOST_RETRIES = 10

PLANNED = ("flow",)
"""Types of the contract that this version does not execute."""


class Ports(Model):
    """The ports of a built-in type.

    Attributes:
        outputs: Its output ports beside the reserved ``trigger`` and ``error``.
        inputs: Its input ports beside the reserved ``trigger`` and ``loop_back``; None takes
            any.
        fillable: Ports that a request's ``input`` may fill; None is any.
        aliases: The other naming of an output port, and the type's own name for it.
    """

    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] | None = ()
    fillable: tuple[str, ...] | None = ()
    aliases: Mapping[str, str] = {}


def _loop(item: str, index: str, total: str) -> tuple[str, ...]:
    return (item, index, total, "is_first", "is_last", "completed", "collected_results")


_FOR_EACH = _loop("current_item", "current_index", "total_count")
_FOREACH = _loop("item", "index", "total")
_GATE_BRANCHES = ("approve", "deny", "answered", "expired")

BUILTIN_TYPES: Mapping[str, NodeType] = {
    built_in.name: built_in
    for built_in in (
        NodeType(name="value", kind="control"),
        NodeType(name="json_loader", kind="control"),
        NodeType(name="text_input", kind="control"),
        NodeType(name="for_each", kind="control", branches=_FOR_EACH),
        NodeType(name="foreach", kind="control", branches=_FOREACH),
        NodeType(name="gate", kind="control", branches=_GATE_BRANCHES, can_ask=True),
        NodeType(name="reply", kind="control"),
        NodeType(name="chat_output", kind="control"),
        NodeType(name="text_output", kind="control"),
        *(
            NodeType(name=name, kind="control", branches=branches, branches_from_config=BRANCHES)
            for name, branches in (
                ("branch", TRUE_AND_FALSE),
                ("if_else", TRUE_AND_FALSE),
                ("switch", ()),
                ("gateway", ()),
            )
        ),
        NodeType(name="merge", kind="control"),
        NodeType(name="set", kind="control"),
        NodeType(name="stop", kind="control"),
        NodeType(name="template", kind="effect"),
        NodeType(name="prompt_template", kind="effect"),
        NodeType(name="http_request", kind="effect"),
        NodeType(name="chat", kind="effect", declares=("__messages__",)),
        NodeType(name="chat_model", kind="effect", declares=("__messages__",)),
        # Neither evaluated at once nor run as an activity: due until its timer has fired.
        NodeType(name=DELAY, kind="effect"),
        NodeType(name=NOTES, kind="ignored"),
    )
}
"""Every built-in type by its name in documents."""

_REPLY = Ports(outputs=("message",), inputs=None, fillable=None)
_BRANCH = Ports(inputs=("data",), fillable=("data",))
_SWITCH = Ports(inputs=None, fillable=None)
_TEMPLATE = ("missing_variables", "success")
_REQUEST = ("url", "method", "headers", "body")
_CHAT = Ports(
    outputs=("response", "message"), inputs=("prompt", "system"), fillable=("prompt", "system")
)

BUILTIN_PORTS: Mapping[str, Ports] = {
    "value": Ports(
        outputs=("value",), fillable=("value",), aliases={"data": "value", "text": "value"}
    ),
    "json_loader": Ports(outputs=("data",), fillable=("data",), aliases={"value": "data"}),
    "text_input": Ports(outputs=("text",), fillable=("text",), aliases={"value": "text"}),
    "for_each": Ports(
        outputs=(*_FOR_EACH, "loop_active"),
        inputs=("items", "item_result"),
        fillable=("items",),
        aliases=dict(zip(_FOREACH[:3], _FOR_EACH[:3], strict=True)),
    ),
    "foreach": Ports(
        outputs=(*_FOREACH, "loop_active"),
        inputs=("items", "item_result"),
        fillable=("items",),
        aliases=dict(zip(_FOR_EACH[:3], _FOREACH[:3], strict=True)),
    ),
    "gate": Ports(
        outputs=("answer", "decision", "actor", *_GATE_BRANCHES), inputs=None, fillable=None
    ),
    "reply": _REPLY,
    "chat_output": _REPLY,
    "text_output": _REPLY,
    "branch": _BRANCH,
    "if_else": _BRANCH,
    "switch": _SWITCH,
    "gateway": _SWITCH,
    "merge": Ports(outputs=("merged",), inputs=None, fillable=None),
    "set": Ports(outputs=("value",), inputs=None, fillable=None),
    "stop": Ports(inputs=None, fillable=None),
    "template": Ports(
        outputs=("text", *_TEMPLATE), inputs=None, fillable=None, aliases={"output": "text"}
    ),
    "prompt_template": Ports(
        outputs=("output", "template", "variables", *_TEMPLATE),
        inputs=None,
        fillable=None,
        aliases={"text": "output"},
    ),
    "http_request": Ports(
        outputs=("status", "json", "text", "headers", "url", "method"),
        inputs=_REQUEST,
        fillable=_REQUEST,
        aliases={"status_code": "status", "body": "text"},
    ),
    "chat": _CHAT,
    "chat_model": _CHAT,
    DELAY: Ports(inputs=None, fillable=None),
    NOTES: Ports(),
}
"""The ports of every built-in type."""


def port_alias(type_name: str, port: str) -> str:
    """Return the type's own name for one of its output ports; ``port`` itself for any other."""
    known = BUILTIN_PORTS.get(type_name)
    return known.aliases.get(port, port) if known else port


def output_ports(node: Node) -> tuple[str, ...]:
    """Return every output port a wire may leave a node of a built-in type by."""
    if node.type == NOTES:
        return ()
    own = branch_ports(node) if node.type in BRANCHING_TYPES else BUILTIN_PORTS[node.type].outputs
    return (*own, TRIGGER_PORT, ERROR_PORT)


def has_output_port(node: Node, port: str) -> bool:
    """Return whether a wire may leave a node of a built-in type by ``port``.

    Names of listed branches compare as branches do, without regard to case (BR-3). A delay has
    the ports it is fed by.
    """
    if node.type == DELAY:
        return True
    known = output_ports(node)
    return port in known or (
        node.type in BRANCHING_TYPES and branch_key(port) in map(branch_key, known)
    )


def input_ports(type_name: str) -> tuple[str, ...] | None:
    """Return every input port a wire may enter a built-in type by; None is any."""
    known = BUILTIN_PORTS[type_name].inputs
    if type_name == NOTES or known is None:
        return None
    return (*known, TRIGGER_PORT, LOOP_BACK_PORT)


def max_rounds(node: Node) -> int | None:
    """Return how many rounds a loop headed by ``node`` may have; None is no limit (SG-7).

    Config ``maxRounds`` says it; for a ``foreach``, whose editor calls it ``maxIterations``,
    that name is read where ``maxRounds`` is not given.

    Raises:
        InvalidGraph: It is not a positive whole number.
    """
    name = "maxRounds"
    if node.type == "foreach" and node.config.get(name) is None:
        name = "maxIterations"
    limit = node.config.get(name)
    if limit is None:
        return None
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InvalidGraph(
            f"node {node.id!r}: config {name} is {limit!r}; it is a whole number from 1 up",
            node=node.id,
        )
    return limit


def max_retries(node: Node, kind: NodeType) -> int:
    """Return how often a node may be retried over its whole run (ERR-11).

    Its type says it; for the engine's own effect types that call a server, which declare none,
    config ``maxRetries`` does.

    Raises:
        InvalidGraph: It is no whole number from 0 to 10.
    """
    limit = node.config.get("maxRetries")
    if node.type not in EFFECTS_WITH_RETRIES or limit is None:
        return kind.max_retries
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit <= MOST_RETRIES:
        raise InvalidGraph(
            f"node {node.id!r}: config maxRetries is {limit!r}; it is a whole number from 0 to "
            f"{MOST_RETRIES}",
            node=node.id,
        )
    return limit
