"""A graph document in the making, of nodes and wires that are drawn at random."""

import random
from dataclasses import dataclass, field
from typing import Any

from seeding.model import Json, JsonObject
from tests.model.graph_scripts import BRANCHES, PATIENT, ROUTER, TASK

EFFECTS = (TASK, ROUTER, PATIENT)
_LETTERS = "abcdefghjkmnpqrstuvwxyz"
_OUTPUTS = {
    TASK: ("out", "number", "flag", "items", "out"),
    PATIENT: ("out", "number", "out"),
    ROUTER: (*BRANCHES, "out", "flag"),
    "value": ("value",),
    "for_each": ("current_item", "current_index", "is_last", "loop_active", "collected_results"),
    "foreach": ("item", "index", "completed", "collected_results"),
    "gate": ("answer", "decision", "approve", "deny"),
    "merge": ("merged",),
    "set": ("value",),
    "reply": ("message",),
    "stop": (),
    "delay": ("in",),
}
_INPUTS = {"delay": (), "for_each": ("items", "item_result"), "foreach": ("items",), "value": ()}


@dataclass
class Builder:
    """Collects the nodes and wires of one graph.

    Attributes:
        chance: Where every choice comes from.
        nodes: The nodes in the order in which they were made; wires go on to later ones.
        wires: The wires by their text.
        inputs: What the request gives, by node and port.
    """

    chance: random.Random
    nodes: list[JsonObject] = field(default_factory=list[JsonObject])
    wires: dict[str, Json] = field(default_factory=dict[str, Json])
    inputs: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])

    def node(self, kind: str, **config: Any) -> str:
        """Add a node of a built-in type and return its id."""
        name = f"{self.chance.choice(_LETTERS)}{len(self.nodes)}"
        if self.chance.random() < 0.05:
            name = f"{name}.{self.chance.choice(_LETTERS)}"
        priority = self.chance.choice((0, 0, 0, 0, 1, -1, 5))
        self.nodes.append({"id": name, "type": kind, "config": config, "priority": priority})
        return name

    def effect(self, kind: str = TASK, *, max_rounds: int | None = None, **script: Any) -> str:
        """Add a scripted effect and return its id."""
        if "updates" not in script and self.chance.random() < 0.25:
            kinds = ("data", "data", "metadata", "messages", "clear", "count")
            script["updates"] = [self.chance.choice(kinds), "data"][: self.chance.randint(1, 2)]
        script["seed"] = self.chance.randrange(1_000_000)
        rounds = {} if max_rounds is None else {"maxRounds": max_rounds}
        return self.node(kind, script=script, **rounds)

    def wire(self, source: str, target: str, **more: Json) -> None:
        """Add a wire from ``node.port`` to ``node.port``, unless it is there."""
        text = f"{source} -> {target}"
        if text in self.wires:
            return
        if self.chance.random() < 0.03:
            more["condition"] = "false"
        self.wires[text] = {"from": source, "to": target, **more} if more else text

    def kind(self, node: str) -> str:
        """Return the type of a node."""
        return str(self._node(node)["type"])

    def config(self, node: str) -> JsonObject:
        """Return the config of a node, for changes."""
        return self._node(node)["config"]

    def output(self, node: str) -> str | None:
        """Return some end that leaves a node with a value, if it has any."""
        kind = self.kind(node)
        ports = _OUTPUTS.get(kind, ())
        if kind in ("branch", "if_else", "switch", "gateway"):
            named = (str(entry["name"]) for entry in self.config(node)["branches"])
            ports = tuple(name for name in named if name)
        return f"{node}.{self.chance.choice(ports)}" if ports else None

    def extra_input(self, node: str) -> str | None:
        """Return some end that enters a node beside what was meant to feed it, if it has any."""
        kind = self.kind(node)
        if kind in ("branch", "if_else"):
            return f"{node}.data"
        ports = _INPUTS.get(kind, ("in", "x", "y") if kind in EFFECTS else ("x",))
        return f"{node}.{self.chance.choice(ports)}" if ports else None

    def document(self, name: str) -> JsonObject:
        """Return the document, its nodes and wires in the order in which they were made."""
        return {"id": name, "nodes": self.nodes, "edges": list(self.wires.values())}

    def _node(self, name: str) -> JsonObject:
        return next(node for node in self.nodes if node["id"] == name)
