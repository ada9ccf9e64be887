"""Which readable graphs can run, and what a request may fill."""

import json
from itertools import pairwise

import pytest

from seeding.errors import InvalidGraph, InvalidRequest
from seeding.model import Json, JsonObject
from tests.graph.documents import EFFECTS, OWN_GRAPHS, editor, editor_node, load, problems, short
from workflows.graph.builtin_types import BUILTIN_PORTS, BUILTIN_TYPES, PLANNED, max_rounds
from workflows.graph.checks import find_cycle
from workflows.graph.digest import graph_digest
from workflows.graph.document import read_graph
from workflows.graph.model import Graph, Node, NodeType
from workflows.graph.resolution import check_inputs, resolve


def test_a_resolved_graph_carries_digest_and_types():
    graph = load(OWN_GRAPHS / "expense-review.yaml")
    resolved = resolve(graph, EFFECTS)
    assert resolved.graph == graph
    assert resolved.digest == graph_digest(graph)
    assert resolved.name == f"expense-review@{resolved.digest[:16]}"
    assert list(resolved.types) == ["value", "for_each", "expense_policy", "gate", "reply"]
    assert resolved.branch_ports("gate") == ("approve", "deny", "answered", "expired")
    assert resolved.branch_ports("check") == ("within", "over")
    assert resolved.branch_ports("each") == (
        "current_item",
        "current_index",
        "total_count",
        "is_first",
        "is_last",
        "completed",
        "collected_results",
    )


def test_a_built_in_type_is_taken_before_an_effect_type_of_its_name():
    mine = {"value": NodeType(name="value", kind="effect")}
    assert resolve(read_graph(short(a="value")), mine).type_of("a").kind == "control"


def test_every_built_in_type_has_ports_and_none_is_planned():
    assert list(BUILTIN_TYPES) == list(BUILTIN_PORTS)
    assert [name for name in PLANNED if name in BUILTIN_TYPES] == []


def test_unknown_types_are_named_with_their_nodes():
    assert problems(short(a="nope", b="step", c="flow", d="nope")) == [
        "node 'a': unknown type 'nope'",
        "node 'c': type 'flow' is not available in this version",
        "node 'd': unknown type 'nope'",
        "the worker knows the types 'branch', 'chat', 'chat_model', 'chat_output', 'delay', "
        "'expense_policy', 'for_each', 'foreach', 'gate', 'gateway', 'http_request', 'if_else', "
        "'json_loader', 'merge', 'notes', 'process_item', 'prompt_template', 'reply', 'set', "
        "'step' and 6 more (all workers of a task queue need the same FERMATA_NODES)",
    ]


def test_the_message_names_the_graph_and_every_problem():
    document = short(a={"type": "gate", "config": {"kind": "vote", "messge": "x"}})
    with pytest.raises(InvalidGraph) as refused:
        resolve(read_graph(document), {})
    assert refused.value.message == (
        "graph 'g' cannot run: node 'a': unknown config key 'messge'; known are kind, message, "
        "schema, options, allowed, who, approvals, deadline, onDeadline, default, escalateTo; node "
        "'a': config kind 'vote' is no kind of gate; write one of approval, choice, text, form, "
        "review, external"
    )


@pytest.mark.parametrize(
    ("edges", "cycle"),
    [
        (["a.o -> b.i", "b.o -> a.i"], ["a", "b", "a"]),
        (["a.o -> a.i"], ["a", "a"]),
        (["a.o -> b.i", "b.o -> c.i", "c.error -> b.i"], ["b", "c", "b"]),
        (["a.o -> b.i", "b.trigger -> a.trigger"], ["a", "b", "a"]),
        (["a.o -> b.i", "b.o -> a.loop_back"], None),
        (["a.o -> b.i", {"from": "b.o", "to": "a.i", "kind": "tool"}], None),
        (["a.o -> b.i", "a.o -> c.i", "b.o -> c.j"], None),
    ],
)
def test_only_loopback_and_tool_edges_may_close_a_cycle(edges: list[Json], cycle: Json):
    """CMP-5."""
    document = short(*edges, a="step", b="step", c="step")
    assert find_cycle(read_graph(document)) == cycle
    if cycle is not None:
        named = " -> ".join(repr(node) for node in cycle)
        assert problems(document) == [
            f"the nodes {named} form a cycle that no loopback edge closes (CMP-5); "
            "let the edge that goes back enter port 'loop_back'"
        ]


def test_a_chain_longer_than_the_stack_is_checked():
    names = [f"n{index}" for index in range(3000)]
    edges = [f"{a}.o -> {b}.i" for a, b in pairwise(names)]
    document = short(*edges, **{name: "step" for name in names})
    assert find_cycle(read_graph(document)) is None


CONFIG_PROBLEMS: list[tuple[str, JsonObject, str]] = [
    ("value", {"valeu": 1}, "unknown config key 'valeu'; known are value"),
    ("for_each", {"maxIterations": 3}, "unknown config key 'maxIterations'; known are maxRounds"),
    ("reply", {"text": "x"}, "unknown config key 'text'; known are message"),
    ("reply", {"message": 3}, "config message is a number; it must be a text"),
    ("chat_output", {"message": ["x"]}, "config message is a list; it must be a text"),
    ("chat_output", {"role": "user"}, "config role is 'user'; it can only be 'assistant'"),
    ("text_input", {"defaultValue": 3}, "config defaultValue is a number; it must be a text"),
    ("json_loader", {"jsonData": [1]}, "config jsonData is a list; it must be a text"),
    (
        "json_loader",
        {"jsonData": "[1,"},
        "config jsonData is no JSON: Expecting value: line 1 column 4 (char 3)",
    ),
    ("gate", {"message": {}}, "config message is an object; it must be a text"),
    (
        "foreach",
        {"continueOnError": True},
        "config continueOnError is not available in this version; set it to false",
    ),
]


@pytest.mark.parametrize(("type_name", "config", "problem"), CONFIG_PROBLEMS)
def test_the_config_of_a_built_in_type_is_checked(type_name: str, config: JsonObject, problem: str):
    assert problems(short(n={"type": type_name, "config": config})) == [f"node 'n': {problem}"]


@pytest.mark.parametrize(
    ("type_name", "config"),
    [
        ("value", {"value": None}),
        ("gate", {}),
        ("gate", {"kind": "approval", "message": "Pay {item}?", "deadline": None}),
        ("reply", {"message": "Done"}),
        ("for_each", {"maxRounds": 3}),
        ("foreach", {"maxIterations": 3, "continueOnError": False, "nodeType": "simple"}),
        ("json_loader", {"jsonData": "[]", "placeholder": "x"}),
        ("json_loader", {}),
        ("text_input", {"defaultValue": "", "multiline": True}),
        ("text_output", {"format": "markdown"}),
        ("chat_output", {"role": "assistant"}),
    ],
)
def test_a_proper_config_is_taken(type_name: str, config: JsonObject):
    document = short(n={"type": type_name, "config": config})
    assert resolve(read_graph(document), {}).graph.nodes[0].config == config


@pytest.mark.parametrize(
    ("type_name", "config", "limit"),
    [
        ("for_each", {}, None),
        ("for_each", {"maxRounds": 4}, 4),
        ("foreach", {"maxIterations": 5}, 5),
        ("foreach", {"maxIterations": 5, "maxRounds": 2}, 2),
        ("step", {"maxRounds": 6}, 6),
        ("step", {"maxIterations": 6}, None),
    ],
)
def test_the_round_limit_of_a_loop(type_name: str, config: JsonObject, limit: int | None):
    assert max_rounds(Node(id="n", type=type_name, config=config)) == limit


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "3"])
def test_a_round_limit_is_a_whole_number_from_1_up(limit: Json):
    assert problems(short(n={"type": "foreach", "config": {"maxIterations": limit}})) == [
        f"node 'n': config maxIterations is {limit!r}; it is a whole number from 1 up"
    ]
    any_head = short(
        "n.o -> m.i",
        "m.o -> n.loop_back",
        n={"type": "step", "config": {"maxRounds": limit}},
        m="step",
    )
    assert problems(any_head) == [
        f"node 'n': config maxRounds is {limit!r}; it is a whole number from 1 up"
    ]


@pytest.mark.parametrize(
    ("edge", "types", "problem"),
    [
        (
            "a.valeu -> b.in",
            ("value", "step"),
            "edge 'a.valeu -> b.in': node 'a' (value) has no output port 'valeu'; "
            "its ports are 'value', 'trigger', 'error'",
        ),
        (
            "a.out -> b.item",
            ("step", "for_each"),
            "edge 'a.out -> b.item': node 'b' (for_each) has no input port 'item'; "
            "its ports are 'items', 'item_result', 'trigger', 'loop_back'",
        ),
        (
            "a.out -> b.value",
            ("step", "value"),
            "edge 'a.out -> b.value': node 'b' (value) has no input port 'value'; "
            "its ports are 'trigger', 'loop_back'",
        ),
        (
            "a.content -> b.in",
            ("notes", "step"),
            "edge 'a.content -> b.in' leaves node 'a', whose notes execute nothing",
        ),
    ],
)
def test_unknown_ports_of_built_in_types_are_named(edge: str, types: tuple[str, str], problem: str):
    assert problems(short(edge, a=types[0], b=types[1])) == [problem]


@pytest.mark.parametrize(
    ("edge", "types"),
    [
        ("a.anything -> b.whatever", ("step", "gate")),
        ("a.anything -> b.whatever", ("step", "reply")),
        ("a.approve -> b.in", ("gate", "step")),
        ("a.error -> b.in", ("for_each", "step")),
        ("a.trigger -> b.trigger", ("value", "for_each")),
        ("a.loop_active -> b.in", ("foreach", "step")),
        ("a.out -> b.loop_back", ("step", "value")),
    ],
)
def test_reserved_ports_and_open_inputs_are_taken(edge: str, types: tuple[str, str]):
    assert resolve(read_graph(short(edge, a=types[0], b=types[1])), EFFECTS).graph.warnings == ()


def test_warnings_of_reading_are_kept_and_followed_by_those_of_resolution():
    document = short(
        "a.o -> b.i",
        "a.o -> b.i",
        {"from": "b.t", "to": "a.t", "kind": "tool"},
        "b.o -> n.content",
        a="step",
        b="step",
        n="notes",
    )
    assert resolve(read_graph(document), EFFECTS).graph.warnings == (
        "edge 'a.o -> b.i' is given twice; the second is dropped",
        "tool edge 'b.t -> a.t' is ignored: tools are not available",
        "edge 'b.o -> n.content' enters notes, which execute nothing",
    )


def test_a_stored_graph_resolves_to_the_same_again():
    document = short({"from": "a.t", "to": "b.t", "kind": "tool"}, a="step", b="step")
    first = resolve(read_graph(document), EFFECTS)
    stored = json.loads(json.dumps(first.graph.to_json()))
    assert resolve(Graph.model_validate(stored), EFFECTS) == first


def test_a_nameless_end_is_no_unknown_port():
    nodes = [editor_node("a", "value"), editor_node("b", "for_each")]
    graph = read_graph(editor(nodes, {"source": "a", "target": "b"}))
    assert len(resolve(graph, {}).graph.warnings) == 1


@pytest.mark.parametrize(
    "given",
    [
        {"items": {"value": [50, 150]}},
        {"items": {"value": None}},
        {"each": {"items": [1]}},
        {"check": {"item": 1, "anything": 2}},
        {"gate": {"note": "x"}},
        {"summary": {"message": "x"}},
        {},
    ],
)
def test_an_input_for_a_port_that_can_receive_it(given: dict[str, JsonObject]):
    check_inputs(resolve(load(OWN_GRAPHS / "expense-review.yaml"), EFFECTS), given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"itmes": {"value": 1}},
            "input.itmes: graph 'expense-review' has no such node; "
            "its nodes are 'items', 'each', 'check', 'gate', 'summary'",
        ),
        (
            {"items": {"valeu": 1}},
            "input.items.valeu: node 'items' takes no such input; it takes 'value'",
        ),
        (
            {"each": {"loop_back": 1}},
            "input.each.loop_back: 'loop_back' is reserved and takes no input",
        ),
        (
            {"each": {"item_result": 1}},
            "input.each.item_result: node 'each' takes no such input; it takes 'items'",
        ),
        (
            {"check": {"trigger": 1}},
            "input.check.trigger: 'trigger' is reserved and takes no input",
        ),
        (
            {"check": {"__state__": {}}},
            "input.check.__state__: '__state__' is reserved and takes no input",
        ),
        ({"check": {"": 1}}, "input.check.: '' is reserved and takes no input"),
    ],
)
def test_an_input_nothing_can_receive_is_refused(given: dict[str, JsonObject], message: str):
    with pytest.raises(InvalidRequest) as refused:
        check_inputs(resolve(load(OWN_GRAPHS / "expense-review.yaml"), EFFECTS), given)
    assert refused.value.message == message


def test_notes_take_no_input():
    resolved = resolve(read_graph(short(n="notes", a="step")), EFFECTS)
    with pytest.raises(InvalidRequest, match=r"input\.n: notes take no input"):
        check_inputs(resolved, {"n": {"content": "x"}})
