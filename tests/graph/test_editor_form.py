"""The FlowDrop editor's document form, read as it is."""

from pathlib import Path

import pytest

from seeding.model import Json, JsonObject
from tests.graph.documents import (
    EFFECTS,
    OWN_GRAPHS,
    SAMPLES,
    editor,
    editor_node,
    load,
    read_refusal,
    wires,
)
from workflows.graph.document import read_graph
from workflows.graph.resolution import resolve

A = editor_node("a.1", "step", outputs={"out": "string", "go": "trigger", "use": "tool"})
B = editor_node("b.1", "step", inputs={"in": "string", "start": "trigger"})


def kind_and_ports(edge: JsonObject) -> tuple[str, str, str]:
    read = read_graph(editor([A, B], {"source": "a.1", "target": "b.1", **edge})).edges[0]
    return read.source_port, read.target_port, read.kind


def test_the_authors_config_stands_on_top_of_the_types_own():
    node = editor_node("a", "step", {"x": 1}, defaults={"x": 0, "y": 2})
    assert read_graph(editor([node])).nodes[0].config == {"x": 1, "y": 2}


@pytest.mark.parametrize("empty", [None, [], {}])
def test_an_empty_config_may_be_written_in_three_ways(empty: Json):
    node = editor_node("a", "step", empty, defaults=empty)
    assert read_graph(editor([node])).nodes[0].config == {}


def test_the_label_is_kept_and_the_type_is_the_metadatas_id():
    node = read_graph(editor([A])).nodes[0]
    assert (node.id, node.type, node.label) == ("a.1", "step", "A.1")


def test_a_note_by_metadata_type_or_by_id_is_of_type_notes():
    sticky = editor_node("s", "sticky")
    sticky["data"]["metadata"]["type"] = "note"
    graph = read_graph(editor([sticky, editor_node("n", "notes")]))
    assert [node.type for node in graph.nodes] == ["notes", "notes"]


@pytest.mark.parametrize(
    ("source_handle", "target_handle"),
    [("a.1-output-out", "b.1-input-in"), ("out", "in"), ("out", "b.1-input-in")],
)
def test_a_handle_is_the_long_name_or_the_bare_port(source_handle: str, target_handle: str):
    handles = {"sourceHandle": source_handle, "targetHandle": target_handle}
    assert kind_and_ports(handles) == ("out", "in", "data")


@pytest.mark.parametrize(
    ("source_port", "target_port", "edge_type", "kind"),
    [
        ("out", "in", None, "data"),
        ("out", "in", "data", "data"),
        ("out", "in", "loopback", "loopback"),
        ("out", "in", "trigger", "trigger"),
        ("out", "in", "tool", "tool"),
        ("out", "in", "curved", "data"),
        ("go", "in", None, "trigger"),
        ("go", "in", "data", "data"),
        ("out", "start", None, "trigger"),
        ("use", "in", None, "tool"),
        ("out", "loop_back", None, "loopback"),
        ("out", "loop_back", "data", "loopback"),
        ("trigger", "loop_back", "trigger", "loopback"),
        ("trigger", "in", "loopback", "loopback"),
        ("trigger", "in", "data", "trigger"),
        ("error", "in", "data", "error"),
        ("error", "in", None, "error"),
    ],
)
def test_what_makes_an_edges_kind(
    source_port: str, target_port: str, edge_type: str | None, kind: str
):
    edge: JsonObject = {"sourceHandle": source_port, "targetHandle": target_port}
    if edge_type is not None:
        edge["data"] = {"metadata": {"edgeType": edge_type}}
    assert kind_and_ports(edge) == (source_port, target_port, kind)


def test_a_condition_is_kept():
    edge = {
        "source": "a.1",
        "target": "b.1",
        "sourceHandle": "out",
        "targetHandle": "in",
        "data": {"condition": "false"},
    }
    assert read_graph(editor([A, B], edge)).edges[0].condition == "false"


@pytest.mark.parametrize(
    ("handles", "ports", "sides"),
    [
        ({"targetHandle": "in"}, ("", "in"), "source"),
        ({"sourceHandle": "out"}, ("out", ""), "target"),
        ({"sourceHandle": None, "targetHandle": ""}, ("", ""), "source and target"),
    ],
)
def test_a_nameless_end_is_kept_nameless_with_a_warning(
    handles: JsonObject, ports: tuple[str, str], sides: str
):
    """DATA-1: a nameless endpoint delivers nothing, so no port is guessed."""
    graph = read_graph(editor([A, B], {"source": "a.1", "target": "b.1", **handles}))
    edge = graph.edges[0]
    assert (edge.source_port, edge.target_port) == ports
    assert graph.warnings == (
        f"edges.0 from 'a.1' to 'b.1' has no port at its {sides}: it delivers nothing (DATA-1)",
    )


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            editor([A, {"id": "b"}]),
            "node 'b': data is null; it must be an object",
        ),
        (
            editor([{"id": "b", "data": {}}]),
            "node 'b': data.metadata is null; it must be an object",
        ),
        (
            editor([{"id": "b", "data": {"metadata": {}}}]),
            "node 'b': data.metadata.id is null; it must be a text",
        ),
        (
            editor([editor_node("b", "step", "x")]),
            "node 'b': data.config is a text; it must be an object",
        ),
        (editor([A], {"source": "a.1"}), "edges.0: target is null; it must be a text"),
        (
            editor([A], {"source": "a.1", "target": "c", "sourceHandle": "o", "targetHandle": "i"}),
            "edges.0 from 'a.1' to 'c': 'c' is no node of the graph; its nodes are 'a.1'",
        ),
        (
            editor([A, B], {"source": "a.1", "target": "b.1", "sourceHandle": "b.1-output-x"}),
            "edges.0 from 'a.1' to 'b.1': sourceHandle 'b.1-output-x' is no output of node "
            "'a.1'; write 'a.1-output-<port>' or the bare port",
        ),
        (
            editor([A, B], {"source": "a.1", "target": "b.1", "targetHandle": "b.1-output-x"}),
            "edges.0 from 'a.1' to 'b.1': targetHandle 'b.1-output-x' is no input of node "
            "'b.1'; write 'b.1-input-<port>' or the bare port",
        ),
    ],
)
def test_a_malformed_document_is_refused_by_name(document: JsonObject, message: str):
    assert read_refusal(document) == message


def test_our_own_loop_document():
    graph = load(OWN_GRAPHS / "fruit-loop.json")
    assert [(node.id, node.type) for node in graph.nodes] == [
        ("basket.1", "json_loader"),
        ("each_fruit.1", "foreach"),
        ("capitals.1", "process_item"),
        ("tell.1", "chat_output"),
        ("note.1", "notes"),
    ]
    assert wires(graph) == [
        ("basket.1.data -> each_fruit.1.items", "data"),
        ("each_fruit.1.item -> capitals.1.input", "data"),
        ("capitals.1.output -> each_fruit.1.loop_back", "loopback"),
        ("each_fruit.1.collected_results -> tell.1.results", "data"),
    ]
    assert resolve(graph, EFFECTS).graph.warnings == ()


SAMPLE_GRAPHS: dict[str, tuple[str, list[str], list[tuple[str, str]]]] = {
    "agentspec_llm_pipeline.json": (
        "agentspec-llm-pipeline",
        ["agentspec.start_node", "agentspec.llm_node", "agentspec.end_node"],
        [
            ("agentspec.start_node.1.trigger -> agentspec.llm_node.1.trigger", "trigger"),
            ("agentspec.llm_node.1.trigger -> agentspec.end_node.1.trigger", "trigger"),
            ("agentspec.start_node.1.user_query -> agentspec.llm_node.1.prompt", "data"),
            ("agentspec.llm_node.1.response -> agentspec.end_node.1.result", "data"),
        ],
    ),
    "chat_pipeline.json": (
        "sample_chat_pipeline",
        ["text_input", "chat_model", "text_output"],
        [
            ("text_input.1.text -> chat_model.1.prompt", "data"),
            ("chat_model.1.response -> text_output.1.text", "data"),
        ],
    ),
    "content_processing.json": (
        "sample_content_processing",
        ["text_input", "ai_content_analyzer", "text_formatter", "chat_output"],
        [
            ("text_input.1.text -> ai_content_analyzer.1.content", "data"),
            ("ai_content_analyzer.1.analyzed_content -> text_formatter.1.text", "data"),
            ("text_formatter.1.formatted -> chat_output.1.message", "data"),
        ],
    ),
    "foreach_loop.json": (
        "demo-foreach-loop",
        ["json_loader", "foreach", "process_item", "notes"],
        [
            ("json_loader.1.data -> foreach.1.items", "data"),
            ("foreach.1.item -> process_item.1.input", "data"),
            ("process_item.1.output -> foreach.1.loop_back", "loopback"),
        ],
    ),
    "template_autocomplete.json": (
        "demo_template_autocomplete",
        ["notes", "http_request", "prompt_template"],
        [("http_request.1.json -> prompt_template.1.data", "data")],
    ),
}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the editor's sample documents are not here")
@pytest.mark.parametrize("name", SAMPLE_GRAPHS)
def test_the_editors_own_documents_load_as_they_are(name: str):
    path = Path(SAMPLES / name)
    graph = load(path)
    graph_id, types, edges = SAMPLE_GRAPHS[name]
    assert graph.id == graph_id
    assert [node.type for node in graph.nodes] == types
    assert wires(graph) == edges
    assert graph.warnings == ()


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the editor's sample documents are not here")
def test_the_editors_loop_document_can_be_started():
    resolved = resolve(load(SAMPLES / "foreach_loop.json"), EFFECTS)
    assert [(name, kind.kind) for name, kind in resolved.types.items()] == [
        ("json_loader", "control"),
        ("foreach", "control"),
        ("process_item", "effect"),
        ("notes", "ignored"),
    ]
