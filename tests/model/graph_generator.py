"""Generated graphs: a number names one for ever, with its request and the answers it gets.

Every choice comes from ``random.Random(seed)``, so that neither the hash seed nor the order in
which anything runs has a part in it.
"""

import random
from dataclasses import dataclass
from itertools import count

from seeding.model import JsonObject
from tests.model.graph_blocks import blocks
from tests.model.graph_builder import EFFECTS, Builder
from tests.model.graph_scripts import PATIENT, ROUTER, TASK, answer_to
from workflows.graph.document import read_graph
from workflows.graph.model import Graph

MOST_NODES = 25
_PLAIN = ("merge", "set", "reply", "gate")


@dataclass(frozen=True)
class Case:
    """One generated run.

    Attributes:
        seed: The number that names it.
        document: The graph in the short form.
        inputs: The request's values by node and port.
        max_iterations: Its iteration budget.
    """

    seed: int
    document: JsonObject
    inputs: dict[str, JsonObject]
    max_iterations: int

    @property
    def graph(self) -> Graph:
        """The graph as it is read."""
        return read_graph(self.document)

    def answer(self, node: str, occurrence: int, ask: int, gate: bool) -> JsonObject:
        """Return what a question of an execution is answered with."""
        return answer_to(self.seed, node, occurrence, ask, gate)

    def shuffled(self) -> "Case":
        """Return the same case with nodes and edges of its document in another order."""
        chance = random.Random(self.seed)
        nodes, edges = list(self.document["nodes"]), list(self.document["edges"])
        chance.shuffle(nodes)
        chance.shuffle(edges)
        document = {**self.document, "nodes": nodes, "edges": edges}
        return Case(self.seed, document, self.inputs, self.max_iterations)


def generate(seed: int) -> Case:
    """Return the case of a number: programs, programs with stray wires, and plain tangles."""
    # One that grew too large is drawn anew.
    for attempt in count():
        case = _drawn(seed, random.Random(seed + attempt * 1_000_003))
        if len(case.document["nodes"]) <= MOST_NODES:
            return case
    raise AssertionError("it never ends")


def _drawn(seed: int, chance: random.Random) -> Case:
    builder = Builder(chance)
    shape = chance.random()
    if shape < 0.2:
        _tangle(builder)
    else:
        first = builder.node("value", value=chance.choice(["go", ["a", "b"], 7, None]))
        leaves = blocks(builder, f"{first}.value", 0)
        while len(builder.nodes) < 5:
            leaves = blocks(builder, leaves, 1)
        last = builder.effect()
        builder.wire(leaves, f"{last}.in")
        if shape < 0.65:
            _stray_wires(builder)
    budget = chance.choices((60, 15, 5, 2), (12, 3, 2, 1))[0]
    return Case(seed, builder.document(f"model-{seed}"), builder.inputs, budget)


def _tangle(builder: Builder) -> None:
    """A graph of no plan: nodes of any type, wires from earlier to later ones, loopbacks."""
    chance = builder.chance
    for _ in range(chance.randint(5, 12)):
        kind = chance.choice((*EFFECTS, TASK, TASK, ROUTER, "for_each", *_PLAIN, "value"))
        if kind in EFFECTS:
            _any_effect(builder, kind)
        elif kind == "set":
            builder.node(kind, state_update={"data": {"set": 1}})
        elif kind == "value":
            builder.node(kind, value=chance.choice([["a", "b"], None, 3]))
        elif kind == "for_each":
            items = builder.node("value", value=chance.choice([["a", "b"], ["a"], [1, 2, 3]]))
            builder.wire(f"{items}.value", f"{builder.node(kind)}.items")
        else:
            builder.node(kind, **({"message": "so it is"} if kind == "reply" else {}))
    names = [str(node["id"]) for node in builder.nodes]
    for later in range(1, len(names)):
        for _ in range(chance.choice((1, 1, 2, 3))):
            _wire_on(builder, names[chance.randrange(later)], names[later])
    _stray_wires(builder)


def _any_effect(builder: Builder, kind: str) -> None:
    chance = builder.chance
    script: JsonObject = {"fails": chance.choice((0, 0, 0, 0, 8)), "lists": chance.random() < 0.5}
    if kind == ROUTER:
        script["chooses"] = ["again", "done", "left", "right"][: chance.randint(2, 4)]
    if kind == PATIENT:
        script["stumbles"] = [chance.randrange(3), chance.randrange(3)]
    if chance.random() < 0.1:
        script["asks"] = 1
    if chance.random() < 0.08:
        script["updates"] = ["far"]
    builder.effect(kind, max_rounds=chance.choice((None, 1, 2, 3)), **script)


def _stray_wires(builder: Builder) -> None:
    """Add wires and loopbacks that no part of the graph was made for."""
    chance = builder.chance
    names = [str(node["id"]) for node in builder.nodes]
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        low, high = sorted(chance.sample(range(len(names)), 2))
        _wire_on(builder, names[low], names[high])
    if chance.random() < 0.1:
        builder.wire(f"{names[0]}.tools", f"{names[-1]}.tools", kind="tool")
        builder.wire(f"{names[1]}.trigger", f"{builder.node('notes', text='nothing')}.trigger")
    for _ in range(chance.choice((0, 1, 1, 2, 2))):
        _wire_back(builder, chance.choice(names), chance.choice(names))


def _wire_on(builder: Builder, source: str, target: str) -> None:
    chance, kind = builder.chance, builder.kind(target)
    draw = chance.random()
    end = builder.output(source)
    if draw < 0.12:
        builder.wire(f"{source}.trigger", f"{target}.trigger")
    elif draw < 0.2 and end is not None:
        builder.wire(end, f"{target}.trigger")
    elif draw < 0.3 and builder.kind(source) in EFFECTS and kind in (*EFFECTS, "merge"):
        builder.wire(f"{source}.error", f"{target}.{chance.choice(('in', 'problem'))}")
    elif end is not None:
        entered = builder.extra_input(target) or f"{target}.trigger"
        builder.wire(end, entered)


def _wire_back(builder: Builder, source: str, target: str) -> None:
    chance = builder.chance
    if builder.kind(target) not in (*EFFECTS, "for_each", "foreach", "merge", "gate"):
        return
    ends: list[str | None] = [builder.output(source), builder.output(source), f"{source}.trigger"]
    if builder.kind(source) in EFFECTS:
        ends.append(f"{source}.error")
    end = chance.choice(ends)
    if end is None:
        return
    into = "loop_back"
    if builder.kind(target) in EFFECTS and not end.endswith((".trigger", ".error")):
        into = chance.choice(("loop_back", "loop_back", "x"))
    builder.wire(end, f"{target}.{into}", **({} if into == "loop_back" else {"kind": "loopback"}))
    if builder.kind(target) in EFFECTS and chance.random() < 0.7:
        builder.config(target).setdefault("maxRounds", chance.randint(1, 3))
