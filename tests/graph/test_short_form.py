"""The short document form (contract, section 6)."""

from typing import Any

import pytest

from seeding.model import Json
from tests.graph.documents import OWN_GRAPHS, load, read_refusal, short, wires
from workflows.graph.document import read_graph
from workflows.graph.model import Edge, Node


def test_the_expense_review_of_the_contract():
    graph = load(OWN_GRAPHS / "expense-review.yaml")
    assert graph.id == "expense-review"
    assert [(node.id, node.type, node.config) for node in graph.nodes] == [
        ("items", "value", {}),
        ("each", "for_each", {}),
        ("check", "expense_policy", {"limit": 100}),
        (
            "gate",
            "gate",
            {
                "kind": "approval",
                "message": "Over the limit. Pay {item}?",
                "deadline": "2d",
                "onDeadline": "deny",
            },
        ),
        ("summary", "reply", {"message": "Done: {results}"}),
    ]
    assert wires(graph) == [
        ("items.value -> each.items", "data"),
        ("each.current_item -> check.item", "data"),
        ("check.within -> each.loop_back", "loopback"),
        ("check.over -> gate.item", "data"),
        ("gate.answer -> each.loop_back", "loopback"),
        ("each.collected_results -> summary.results", "data"),
    ]
    assert graph.warnings == ()


def test_every_field_of_a_node():
    node: Json = {"type": "step", "config": {"a": 1}, "label": "A step", "priority": -2}
    graph = read_graph(short(a=node))
    assert graph.nodes == (Node(id="a", type="step", config={"a": 1}, label="A step", priority=-2),)


def test_an_edge_is_split_at_the_last_dot_of_each_side():
    document = {
        "id": "g",
        "nodes": [{"id": "a.1", "type": "step"}, {"id": "b.x.2", "type": "step"}],
        "edges": ["a.1.out->b.x.2.in"],
    }
    edge = read_graph(document).edges[0]
    assert (edge.source, edge.source_port) == ("a.1", "out")
    assert (edge.target, edge.target_port) == ("b.x.2", "in")


def test_an_edge_as_an_object_keeps_its_condition():
    given = {"from": "a.out", "to": "b.in", "kind": "tool", "condition": "false"}
    assert read_graph(short(given, a="step", b="step")).edges == (
        Edge(
            source="a",
            source_port="out",
            target="b",
            target_port="in",
            kind="tool",
            condition="false",
        ),
    )


@pytest.mark.parametrize(
    ("edge", "kind"),
    [
        ("a.out -> b.in", "data"),
        ("a.out -> b.loop_back", "loopback"),
        ("a.trigger -> b.loop_back", "loopback"),
        ("a.trigger -> b.in", "trigger"),
        ("a.out -> b.trigger", "trigger"),
        ("a.error -> b.in", "error"),
        ({"from": "a.done", "to": "b.in", "kind": "trigger"}, "trigger"),
        ({"from": "a.trigger", "to": "b.in", "kind": "loopback"}, "loopback"),
        ({"from": "a.error", "to": "b.in", "kind": "error"}, "error"),
    ],
)
def test_ports_and_the_given_kind_decide_what_an_edge_is(edge: Json, kind: str):
    assert read_graph(short(edge, a="step", b="step")).edges[0].kind == kind


@pytest.mark.parametrize(
    ("source_type", "written", "own"),
    [
        ("for_each", "item", "current_item"),
        ("for_each", "index", "current_index"),
        ("for_each", "total", "total_count"),
        ("for_each", "current_item", "current_item"),
        ("foreach", "current_item", "item"),
        ("foreach", "current_index", "index"),
        ("foreach", "total_count", "total"),
        ("foreach", "is_last", "is_last"),
        ("value", "data", "value"),
        ("value", "text", "value"),
        ("json_loader", "value", "data"),
        ("text_input", "value", "text"),
        ("step", "item", "item"),
    ],
)
def test_a_wire_may_use_either_naming_of_a_port(source_type: str, written: str, own: str):
    graph = read_graph(short(f"a.{written} -> b.in", a=source_type, b="step"))
    assert graph.edges[0].source_port == own


def test_the_same_edge_twice_is_dropped_with_a_warning():
    graph = read_graph(short("a.out -> b.in", "a.out  ->  b.in", a="step", b="step"))
    assert wires(graph) == [("a.out -> b.in", "data")]
    assert graph.warnings == ("edge 'a.out -> b.in' is given twice; the second is dropped",)


def test_the_same_edge_in_two_namings_is_one_edge():
    graph = read_graph(short("a.item -> b.in", "a.current_item -> b.in", a="for_each", b="step"))
    assert wires(graph) == [("a.current_item -> b.in", "data")]


REFUSED: list[tuple[Any, str]] = [
    (None, "a graph document is null; it must be an object"),
    ([], "a graph document is a list; it must be an object"),
    ({"id": "g"}, "graph 'g' has no nodes"),
    ({"id": "g", "nodes": []}, "graph 'g' has no nodes"),
    ({"id": "g", "nodes": {"a": {}}}, "nodes is an object; it must be a list"),
    ({"id": "g", "nodes": ["a"]}, "nodes.0 is a text; it must be an object"),
    ({"nodes": [{"id": "a", "type": "step"}]}, "the graph's id is null; it must be a text"),
    (
        {"id": "a@b", "nodes": [{"id": "a", "type": "step"}]},
        "the graph's id holds '@', which separates names: 'a@b'",
    ),
    (
        {"id": "g", "nodes": [{"id": "a", "type": "step"}], "edges": [], "links": [], "x": 1},
        "graph 'g' has unknown fields: 'links', 'x'; known are id, name, description, nodes, edges",
    ),
    (
        {"id": "g", "nodes": [{"id": "a", "type": "step"}, {"id": "a", "type": "step"}]},
        "two nodes have the id 'a'",
    ),
    (
        {"id": "g", "nodes": [{"id": "\u00e9", "type": "s"}, {"id": "e\u0301", "type": "s"}]},
        "two nodes have the id 'e\u0301'",
    ),
    (
        {"id": "g", "nodes": [{"id": "a:b", "type": "step"}]},
        "nodes.0: id holds ':', which separates names: 'a:b'",
    ),
    ({"id": "g", "nodes": [{"id": "", "type": "step"}]}, "nodes.0: id is empty"),
    (
        {"id": "g", "nodes": [{"id": "a\n", "type": "step"}]},
        "nodes.0: id holds a control character: 'a\\n'",
    ),
    (
        {"id": "g", "nodes": [{"id": " a", "type": "step"}]},
        "nodes.0: id begins or ends with a blank: ' a'",
    ),
    (
        {"id": "g", "nodes": [{"id": "a" * 201, "type": "step"}]},
        "nodes.0: id has 201 characters, at most 200 are taken",
    ),
    (
        {"id": "g", "nodes": [{"id": 7, "type": "step"}]},
        "nodes.0: id is a number; it must be a text",
    ),
    ({"id": "g", "nodes": [{"id": "a"}]}, "node 'a': type is null; it must be a text"),
    (
        short(a={"type": "step", "cfg": {}}),
        "node 'a' has unknown fields: 'cfg'; known are id, type, config, label, priority, hidden",
    ),
    (
        short(a={"type": "step", "config": [1]}),
        "node 'a': config is a list; it must be an object",
    ),
    (
        short(a={"type": "step", "config": "x"}),
        "node 'a': config is a text; it must be an object",
    ),
    (short(a={"type": "step", "label": 3}), "node 'a': label is a number; it must be a text"),
    (
        short(a={"type": "step", "priority": True}),
        "node 'a': priority is no whole number: True",
    ),
    (
        short(a={"type": "step", "config": {"x": {1, 2}}}),
        "the graph document: at nodes.0.config.x: set is no JSON value",
    ),
    (
        short(a={"type": "step", "config": {"x": float("nan")}}),
        "the graph document: at nodes.0.config.x: number that is not finite is no JSON value",
    ),
    (
        short(a={"type": "step", "config": {"x": "\ud800"}}),
        "the graph document: at nodes.0.config.x: text with a lone surrogate is no JSON value",
    ),
    (
        short("a.out -> c.in", a="step"),
        "edge 'a.out -> c.in' names node 'c', which is not in the graph; its nodes are 'a'",
    ),
    (
        short("a.out", a="step"),
        "edges.0: 'a.out' is no edge; write 'source.port -> target.port'",
    ),
    (
        short("a.out -> a.in -> a.in", a="step"),
        "edges.0: 'a.out -> a.in -> a.in' is no edge; write 'source.port -> target.port'",
    ),
    (
        short("a -> a.in", a="step"),
        "edges.0 'a -> a.in': 'a' is no end of an edge; write 'node.port'",
    ),
    (
        short("a. -> a.in", a="step"),
        "edges.0 'a. -> a.in': 'a.' is no end of an edge; write 'node.port'",
    ),
    (short(5, a="step"), "edges.0 is a number; it must be a text or an object"),
    (
        short({"from": "a.out"}, a="step"),
        "edges.0: to is null; it must be a text",
    ),
    (
        short({"from": "a.out", "to": "a.in", "when": 1}, a="step"),
        "edges.0 has unknown fields: 'when'; known are from, to, kind, condition",
    ),
    (
        short({"from": "a.out", "to": "a.in", "kind": "dotted"}, a="step"),
        "edges.0 'a.out -> a.in': kind 'dotted' is none of data, trigger, loopback, tool, error",
    ),
    (
        short({"from": "a.out", "to": "a.loop_back", "kind": "data"}, a="step"),
        "edges.0 'a.out -> a.loop_back': kind 'data' contradicts its ports, "
        "which make it 'loopback'; leave kind out",
    ),
    (
        short({"from": "a.out", "to": "a.in", "kind": "error"}, a="step"),
        "edges.0 'a.out -> a.in': an error edge leaves the port 'error'",
    ),
    (
        short("a.x -> a.y", {"from": "a.x", "to": "a.y", "condition": "no"}, a="step"),
        "edge 'a.x -> a.y' is given twice, with another kind or condition",
    ),
]


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_a_malformed_document_is_refused_by_name(document: Json, message: str):
    assert read_refusal(document) == message


def test_a_deep_document_is_refused_and_exhausts_no_stack():
    deep: list[Json] = []
    for _ in range(5000):
        deep = [deep]
    document = short(a={"type": "step", "config": {"deep": deep}})
    assert "nested deeper than" in read_refusal(document)
