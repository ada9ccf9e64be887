"""What the config of a gate says, read once for all who need it, and what may be wrong with it."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast, get_args

from seeding.durations import parse_duration
from seeding.errors import InvalidRequest
from seeding.model import Json, JsonObject, as_list, as_object
from seeding.tickets import TicketKind
from workflows.graph.fields import kind_of
from workflows.graph.flow_checks import text_problem, unknown_keys
from workflows.graph.model import Node
from workflows.judging import schema_problem, value_problem

APPROVAL = "approval"
APPROVE, DENY = "approve", "deny"
KINDS = tuple(kind for kind in get_args(TicketKind) if kind != "pause")
EXPIRE, DEFAULT, ESCALATE, CANCEL, KEEP = "expire", "default", "escalate", "cancel", "keep"
ON_DEADLINE = (EXPIRE, DENY, DEFAULT, ESCALATE, CANCEL, KEEP)
KEYS = (
    "kind",
    "message",
    "schema",
    "options",
    "allowed",
    "who",
    "approvals",
    "deadline",
    "onDeadline",
    "default",
    "escalateTo",
)
MOST_APPROVALS = 10

_DECISIONS = {APPROVAL: (APPROVE, DENY), "review": (APPROVE, "reject")}
"""The decisions of the kinds that are answered by one, where ``allowed`` says nothing."""

_SCHEMAS: dict[str, JsonObject] = {
    "text": {"type": "string"},
    "form": {"type": "object"},
    "external": {},
}
"""The schema of the kinds that are answered by a value, where ``schema`` says nothing."""


class GateConfig(NamedTuple):
    """A gate's config, every key at its meaning.

    Attributes:
        kind: What is asked for.
        allowed: The decisions it takes; None for the kinds that take a value.
        schema: What a value has to fit; None is any, or none.
        who: Who may answer; None is anybody.
        approvals: How many different people have to approve.
        deadline: Seconds it stays open from the moment it is shown; None is for ever.
        on_deadline: What the deadline does; None without one.
        default: The answer that the deadline gives.
        escalate_to: Who is asked once nobody has answered.
    """

    kind: TicketKind
    allowed: tuple[str, ...] | None
    schema: JsonObject | None
    who: tuple[str, ...] | None
    approvals: int
    deadline: float | None
    on_deadline: str | None
    default: Json
    escalate_to: tuple[str, ...]


def read_gate(node: Node) -> GateConfig:
    """Return what a gate's config says; it has no problems."""
    config = node.config
    kind = cast(TicketKind, config.get("kind") or APPROVAL)
    deadline = parse_duration(config.get("deadline"), f"deadline of gate {node.id!r}")
    named = _names(config.get("options" if kind == "choice" else "allowed"))
    return GateConfig(
        kind=kind,
        allowed=named or _DECISIONS.get(kind),
        schema=as_object(config.get("schema")) or _SCHEMAS.get(kind),
        who=_names(config.get("who")),
        approvals=config.get("approvals") or 1,
        deadline=deadline,
        on_deadline=None if deadline is None else config.get("onDeadline") or EXPIRE,
        default=config.get("default"),
        escalate_to=_names(config.get("escalateTo")) or (),
    )


def gate_problems(node: Node) -> Iterator[str]:
    """Yield what is wrong with the config of a gate."""
    yield from unknown_keys(node, KEYS)
    yield from text_problem(node, "message")
    kind = node.config.get("kind") or APPROVAL
    if kind not in KINDS:
        yield f"config kind {kind!r} is no kind of gate; write one of {', '.join(KINDS)}"
        return
    found = [
        *_name_problems(node, "who"),
        *_decision_problems(node, kind),
        *_schema_problems(node),
        *_approvals_problems(node, kind),
        *_deadline_problems(node, kind),
    ]
    yield from found
    if not found:
        yield from _default_problems(node)


def _names(value: Json) -> tuple[str, ...] | None:
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)


def _name_problems(node: Node, key: str) -> Iterator[str]:
    value: Json = node.config.get(key)
    if value is None:
        return
    names: list[Any] = [value] if isinstance(value, str) else as_list(value) or []
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        yield f"config {key} is {kind_of(value)}; it is a text or a list of texts, not empty"
    elif len(set(names)) < len(names):
        yield f"config {key} names something twice"


def _decision_problems(node: Node, kind: str) -> Iterator[str]:
    takers = {"options": ("choice",), "allowed": tuple(_DECISIONS)}
    for key, kinds in takers.items():
        if node.config.get(key) is None:
            continue
        if kind not in kinds:
            yield f"config {key} belongs to kind {' and '.join(kinds)}, not to {kind}"
        else:
            yield from _name_problems(node, key)
    if kind == "choice" and node.config.get("options") is None:
        yield "config options is missing; list what can be chosen"
    allowed = as_list(node.config.get("allowed")) or []
    if kind == APPROVAL and not all(decision in (APPROVE, DENY) for decision in allowed):
        yield (
            "config allowed may leave out approve or deny of an approval and add nothing; other "
            "decisions are a review's or a choice's"
        )


def _schema_problems(node: Node) -> Iterator[str]:
    schema: Json = node.config.get("schema")
    if schema is None:
        return
    if as_object(schema) is None:
        yield f"config schema is {kind_of(schema)}; it must be a JSON Schema, an object"
        return
    problem = schema_problem(schema)
    if problem is not None:
        yield f"config schema is no JSON Schema: {problem}"


def _approvals_problems(node: Node, kind: str) -> Iterator[str]:
    value: Json = node.config.get("approvals")
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_APPROVALS:
        yield f"config approvals is {value!r}; it is a whole number from 1 to {MOST_APPROVALS}"
    elif kind != APPROVAL:
        yield f"config approvals belongs to kind {APPROVAL}, not to {kind}"
    elif isinstance(node.config.get("who"), list) and len(node.config["who"]) < value:
        yield f"config approvals is {value}, and who names {len(node.config['who'])} people"


def _deadline_problems(node: Node, kind: str) -> Iterator[str]:
    try:
        parse_duration(node.config.get("deadline"), "config deadline")
    except InvalidRequest as error:
        yield error.message
    choice: Json = node.config.get("onDeadline")
    if choice is not None and choice not in ON_DEADLINE:
        yield f"config onDeadline is {choice!r}; write one of {', '.join(ON_DEADLINE)}"
    elif choice is not None and "deadline" not in node.config:
        yield "config onDeadline says what a passed deadline does, but there is no deadline"
    if choice == DENY and kind != APPROVAL:
        yield f"config onDeadline deny belongs to kind {APPROVAL}; give a default, or expire"
    for key, wanted in (("default", DEFAULT), ("escalateTo", ESCALATE)):
        if choice == wanted and node.config.get(key) is None and key not in node.config:
            yield f"config onDeadline {wanted} needs config {key}"
        elif choice != wanted and node.config.get(key) is not None:
            yield f"config {key} belongs to onDeadline {wanted}"
    if choice == ESCALATE:
        yield from _name_problems(node, "escalateTo")


def _default_problems(node: Node) -> Iterator[str]:
    if node.config.get("onDeadline") != DEFAULT:
        return
    gate = read_gate(node)
    if gate.allowed is not None:
        if gate.default not in gate.allowed:
            yield f"config default is {gate.default!r}; it is one of {', '.join(gate.allowed)}"
    elif gate.schema is not None:
        problem = value_problem(gate.schema, gate.default)
        if problem is not None:
            yield f"config default does not fit the schema: {problem}"
