"""What the engine's own node types do, written from the reference's table of types."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, cast

import jmespath

from seeding.model import Json, JsonObject
from tests.model.graph_scripts import Asks, Done, Failed, Outcome
from workflows.graph.model import Node

CLOSING = ("collected_results", "completed")
_PORTS = {
    "for_each": ("current_item", "current_index", "total_count"),
    "foreach": ("item", "index", "total"),
}


@dataclass(frozen=True)
class Iterator:
    """Where a ``for_each`` stands; ``began`` is the order of the execution that began the round."""

    items: list[Json]
    index: int
    results: list[Json]
    began: int = 0


@dataclass(frozen=True)
class Round:
    """What an execution of a ``for_each`` did: entered or went on, to a round or to the closing."""

    entered: bool
    closes: bool
    iterator: Iterator = field(default_factory=lambda: Iterator([], 0, []))


def evaluate(node: Node, inputs: JsonObject) -> Outcome:
    """Return what a control node other than a ``for_each`` comes to."""
    own = {port: value for port, value in inputs.items() if port != "loop_back"}
    match node.type:
        case "value" | "json_loader" | "text_input":
            return _value(node, inputs)
        case "branch" | "if_else":
            return _branch(node, inputs.get("data"))
        case "switch" | "gateway":
            return _switch(node, own)
        case "merge":
            return Done({"merged": own})
        case "stop":
            return Done(own)
        case "set":
            return _set(node, inputs, own)
        case "gate":
            return Asks("")
        case _:
            return _reply(node, inputs)


def evaluate_for_each(
    node: Node, inputs: JsonObject, iterator: Iterator | None, *, reentry: bool
) -> tuple[Outcome, Round | None]:
    """Return what an execution of a ``for_each`` comes to, and the round it is (SG-4, SG-5)."""
    if iterator is not None and reentry:
        result = inputs["item_result"] if "item_result" in inputs else inputs.get("loop_back")
        after = Iterator(iterator.items, iterator.index + 1, [*iterator.results, result])
        return _round(node, after, entered=False)
    given: Json = inputs["items"] if "items" in inputs else node.config.get("items")
    if given is None:
        return Failed(f"{node.id} has no items", code="MissingItems"), None
    items = cast(list[Json], given if isinstance(given, list) else [given])
    return _round(node, Iterator(items, 0, []), entered=True)


def answered(given: JsonObject) -> Done:
    """Return how a gate completes with an accepted answer."""
    decision = given.get("decision")
    return Done(
        {
            "answer": given.get("value", decision),
            "decision": decision,
            "actor": None,
            "expired": False,
            "active_branches": [decision],
        }
    )


def branch_key(name: Json) -> str | None:
    """Return how a branch name compares: trimmed, lower-case; None for what is no name (BR-3)."""
    key = name.strip().lower() if isinstance(name, str) else ""
    return key or None


def active_names(value: Json) -> tuple[str, ...]:
    """Return the names that an ``active_branches`` output lists (BR-3)."""
    listed = cast(list[Json], value if isinstance(value, list) else [value])
    return tuple(key for key in map(branch_key, listed) if key is not None)


def branch_ports(node: Node, declared: tuple[str, ...], *, listed: bool) -> tuple[str, ...]:
    """Return a node's branch ports as they compare (BR-2).

    Args:
        node: The node.
        declared: What its type declares.
        listed: Whether the config lists further ones.
    """
    entries = cast(list[JsonObject], node.config.get("branches") or [] if listed else [])
    return active_names([*declared, *(entry["name"] for entry in entries)])


def _round(node: Node, at: Iterator, *, entered: bool) -> tuple[Outcome, Round]:
    item, number, total = _PORTS[node.type]
    count = len(at.items)
    closes = at.index >= count
    outputs: JsonObject = {"loop_active": not closes, total: count}
    if closes:
        outputs |= {item: None, "collected_results": at.results, "active_branches": list(CLOSING)}
    else:
        first, last = at.index == 0, at.index == count - 1
        outputs |= {item: at.items[at.index], number: at.index, "is_first": first, "is_last": last}
        outputs["active_branches"] = [item, number, "is_first", "is_last", total]
    return Done(outputs), Round(entered, closes, at)


def _value(node: Node, inputs: JsonObject) -> Outcome:
    port = {"value": "value", "json_loader": "data", "text_input": "text"}[node.type]
    if port in inputs:
        return Done({port: inputs[port]})
    if node.type == "json_loader":
        text = node.config.get("jsonData")
        if "jsonData" not in node.config:
            return Done({})
        return Done({port: json.loads(text) if isinstance(text, str) else text})
    names = ("defaultValue", "value") if node.type == "text_input" else ("value",)
    for name in names:
        if name in node.config:
            return Done({port: node.config[name]})
    return Done({})


def _branch(node: Node, outcome: Json) -> Outcome:
    listed: list[JsonObject] = node.config.get("branches") or [
        {"name": "True", "value": True},
        {"name": "False", "value": False},
    ]
    for entry in listed:
        if _denotes(entry["value"] if "value" in entry else entry["name"], outcome):
            return Done({"active_branches": [entry["name"]]})
    return _default(node, listed)


def _default(node: Node, listed: list[JsonObject]) -> Outcome:
    for entry in listed:
        if entry.get("isDefault") is True:
            return Done({"active_branches": [entry["name"]]})
    return Failed(f"{node.id} has no branch for it", code="NoBranch")


def _denotes(value: Json, outcome: Json) -> bool:
    """Whether a configured value is what an outcome matches, by its type (BR-4)."""
    if outcome is True or outcome is False:
        if isinstance(value, str):
            return value.strip().lower() in (("true", "1") if outcome else ("false", "0"))
        return value is outcome or (type(value) in (int, float) and value == int(outcome))
    if isinstance(outcome, str):
        return isinstance(value, str) and value.lower() == outcome.lower()
    return json.dumps(value, sort_keys=True) == json.dumps(outcome, sort_keys=True)


def _switch(node: Node, values: JsonObject) -> Outcome:
    listed: list[JsonObject] = node.config["branches"]
    for entry in listed:
        condition = entry.get("condition")
        if condition:
            try:
                found: Any = jmespath.search(condition, values)
            except Exception:
                return Failed(f"{node.id} cannot tell", code="ConditionFailed")
            if found is not None and found is not False and found not in ("", [], {}):
                return Done({"active_branches": [entry["name"]]})
        elif "value" in entry and _denotes(entry["value"], _switched(values)):
            return Done({"active_branches": [entry["name"]]})
    return _default(node, listed)


def _switched(values: JsonObject) -> Json:
    for port in ("value", "data"):
        if port in values:
            return values[port]
    return next(iter(values.values())) if len(values) == 1 else None


def _set(node: Node, inputs: JsonObject, own: JsonObject) -> Outcome:
    missing: list[str] = []

    def filled(value: Json) -> Json:
        if isinstance(value, str):
            whole = re.fullmatch(r"\{([^{}]+)\}", value)
            if whole is None:
                return _filled_in(value, inputs)
            if whole[1] not in inputs:
                missing.append(whole[1])
            return inputs.get(whole[1])
        if isinstance(value, list):
            return [filled(item) for item in cast(list[Json], value)]
        if isinstance(value, dict):
            return {key: filled(item) for key, item in cast(JsonObject, value).items()}
        return value

    update = filled(node.config["state_update"])
    if missing:
        return Failed(f"{node.id} needs {missing[0]}", code="MissingInput")
    passed: Json = own or None
    if len(own) == 1:
        passed = next(iter(own.values()))
    return Done({"value": passed, "state_update": update})


def _reply(node: Node, inputs: JsonObject) -> Outcome:
    template = node.config.get("message")
    if isinstance(template, str):
        text = _filled_in(template, inputs)
    elif "message" in inputs:
        text = _as_text(inputs["message"])
    elif "text" in inputs:
        text = _as_text(inputs["text"])
    else:
        text = _as_text({port: inputs[port] for port in sorted(inputs)})
    said = {"role": "assistant", "content": text}
    return Done({"message": text, "state_update": {"messages": [said]}})


def _filled_in(template: str, inputs: JsonObject) -> str:
    parts = re.split(r"(\{[^{}]+\})", template)
    return "".join(
        _as_text(inputs[part[1:-1]]) if part[:1] == "{" and part[1:-1] in inputs else part
        for part in parts
    )


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
