"""Branches as a config lists them: the ports of ``branch`` and ``switch``.

An entry is ``{"name", "label", "value" or "condition", "isDefault"}``. Types people write by
hand refuse an entry that cannot be used; the editor's types drop an entry without a usable name
(BR-4), because its forms start with empty ones.
"""

from collections.abc import Iterator
from typing import NamedTuple

from seeding.model import Json, JsonObject, as_list, as_object
from workflows.graph.conditions import condition_problem
from workflows.graph.fields import kind_of
from workflows.graph.model import ERROR_PORT, LOOP_BACK_PORT, TRIGGER_PORT, Node

BRANCHES = "branches"
IF_TYPES = ("branch", "if_else")
SWITCH_TYPES = ("switch", "gateway")
EDITOR_TYPES = ("if_else", "gateway")
BRANCHING_TYPES = (*IF_TYPES, *SWITCH_TYPES)

TRUE_AND_FALSE = ("True", "False")
"""The branches of a ``branch`` that lists none."""

OPERATORS = ("equals", "not_equals", "contains", "starts_with", "ends_with")
"""How ``matchText`` is compared."""

_RESERVED = (TRIGGER_PORT, ERROR_PORT, LOOP_BACK_PORT)


class Branch(NamedTuple):
    """One usable entry of a list of branches.

    Attributes:
        name: Its port.
        given: The entry as the config has it.
        is_default: Whether it is followed where no entry matches.
    """

    name: str
    given: JsonObject
    is_default: bool


def branch_key(name: str) -> str:
    """Return a branch's name as it is compared (BR-3)."""
    return name.strip().lower()


def listed_branches(node: Node) -> tuple[Branch, ...]:
    """Return the branches a node's config lists, without entries that have no usable name."""
    entries = [as_object(item) for item in as_list(node.config.get(BRANCHES)) or []]
    return tuple(
        Branch(str(entry["name"]), entry, entry.get("isDefault") is True)
        for entry in entries
        if entry is not None and _is_name(entry.get("name"))
    )


def branch_ports(node: Node) -> tuple[str, ...]:
    """Return the branch ports of a ``branch`` or ``switch`` as its author wrote them."""
    names = tuple(branch.name for branch in listed_branches(node))
    return names or (TRUE_AND_FALSE if node.type in IF_TYPES else ())


def branch_list_problems(node: Node) -> Iterator[str]:
    """Yield what is wrong with the branches that a node's config lists."""
    listed: Json = node.config.get(BRANCHES)
    if listed is not None and not isinstance(listed, list):
        yield f"config {BRANCHES} is {kind_of(listed)}; it must be a list"
        return
    for index, entry in enumerate(as_list(listed) or []):
        yield from _entry_problems(node, entry, f"config {BRANCHES}.{index}")
    yield from _list_problems(node)


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _entry_problems(node: Node, given: Json, where: str) -> Iterator[str]:
    entry = as_object(given)
    by_hand = node.type not in EDITOR_TYPES
    if entry is None or not _is_name(entry.get("name")):
        if by_hand:
            yield f"{where} has no name; it is the branch's port"
        return
    if branch_key(entry["name"]) in _RESERVED:
        yield f"{where}: {entry['name']!r} is a reserved port; name the branch otherwise"
    deciding = "value" if node.type in IF_TYPES else "condition"
    known = ("name", "label", deciding, "isDefault")
    if by_hand:
        for key in entry:
            if key not in known:
                yield f"{where} has an unknown field {key!r}; known are {', '.join(known)}"
    if node.type in SWITCH_TYPES:
        yield from _condition_problems(node, entry, where)


def _condition_problems(node: Node, entry: JsonObject, where: str) -> Iterator[str]:
    condition: Json = entry.get("condition")
    if isinstance(condition, str) and condition.strip():
        problem = condition_problem(condition)
        if problem is not None:
            yield f"{where}: condition {condition[:200]!r} is no JMESPath condition: {problem}"
    elif condition is not None and not isinstance(condition, str):
        yield f"{where}: condition is {kind_of(condition)}; it must be a text"
    elif entry.get("isDefault") is not True and not (
        node.type in EDITOR_TYPES and "value" in entry
    ):
        yield f"{where} has no condition and is no default; it could never be followed"


def _list_problems(node: Node) -> Iterator[str]:
    branches = listed_branches(node)
    if node.type in SWITCH_TYPES and not branches:
        yield f"config {BRANCHES} is missing; list name and condition of each branch"
    seen: dict[str, None] = {}
    for branch in branches:
        key = branch_key(branch.name)
        if key in seen:
            yield f"config {BRANCHES} names {branch.name!r} twice; case makes no difference (BR-3)"
        seen[key] = None
    if sum(branch.is_default for branch in branches) > 1:
        yield f"config {BRANCHES} has more than one default"
