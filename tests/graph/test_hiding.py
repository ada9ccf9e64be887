"""Hidden output ports in documents (DATA-8)."""

import pytest

from seeding.model import Json
from tests.graph.documents import EFFECTS, editor, editor_node, problems, read_refusal, short
from workflows.graph.digest import graph_digest
from workflows.graph.document import read_graph
from workflows.graph.model import Graph, Node, NodeType
from workflows.graph.resolution import resolve


def test_a_short_document_lists_them() -> None:
    built = read_graph(short(a={"type": "step", "hidden": ["token", "raw", "token"]}))
    assert built.by_id["a"].hidden == ("raw", "token")


def test_the_editor_s_document_exposes_what_it_does_not_deny() -> None:
    node = editor_node(
        "a", "step", outputs={"text": "string", "token": "string", "trigger": "trigger"}
    )
    for port in node["data"]["metadata"]["outputs"]:
        port["exposed"] = port["id"] == "text"
    assert read_graph(editor([node])).by_id["a"].hidden == ("token",)


def test_they_are_structure_whatever_their_order() -> None:
    plain, one, other = (
        graph_digest(read_graph(short(a={"type": "step", **hidden})))
        for hidden in ({}, {"hidden": ["x", "y"]}, {"hidden": ["y", "x"]})
    )
    assert one == other
    assert one != plain
    assert graph_digest(read_graph(short(a={"type": "step", "hidden": []}))) == plain


def test_a_graph_that_hides_nothing_is_written_as_before_there_was_hiding() -> None:
    assert "hidden" not in Node(id="a", type="step").to_json()
    assert "hidden" not in NodeType(name="step", kind="effect").to_json()
    hiding = Node(id="a", type="step", hidden=("x",))
    assert Node.model_validate(hiding.to_json()) == hiding
    assert Graph(id="g", nodes=(hiding,), edges=()).to_json()["nodes"][0]["hidden"] == ["x"]


def test_a_node_hides_what_it_and_its_type_hide() -> None:
    kind = NodeType(name="step", kind="effect", hidden=("z", "a"))
    resolved = resolve(read_graph(short(n={"type": "step", "hidden": ["b", "a"]})), {"step": kind})
    assert resolved.hidden_ports("n") == ("a", "b", "z")


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        ("token", "node 'a': hidden is a text; it must be a list"),
        ([1], "node 'a': hidden.0 is a number; it must be a text"),
        ([""], "node 'a': hidden.0 is empty"),
    ],
)
def test_what_is_no_list_of_ports_is_refused(hidden: Json, message: str) -> None:
    assert read_refusal(short(a={"type": "step", "hidden": hidden})) == message


def test_reserved_ports_and_outputs_that_a_type_has_not_are_problems() -> None:
    document = short(
        a={"type": "step", "hidden": ["trigger"]}, b={"type": "merge", "hidden": ["text"]}
    )
    assert problems(document) == [
        "node 'a': hidden names 'trigger', a reserved port; it carries no output",
        "node 'b': hidden names 'text', and merge has no such output; its ports are 'merged', "
        "'trigger', 'error'",
    ]
    assert resolve(read_graph(short(a={"type": "step", "hidden": ["any"]})), EFFECTS)
