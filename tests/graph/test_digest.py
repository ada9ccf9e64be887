"""Which documents are one and the same graph (INT-7, FD-50)."""

import copy
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject
from tests.graph.documents import OWN_GRAPHS, editor, editor_node, load, short
from workflows.graph.digest import graph_digest
from workflows.graph.document import read_graph

DOCUMENT: JsonObject = {
    "id": "g",
    "name": "G",
    "nodes": [
        {"id": "a", "type": "value", "config": {"value": [1, {"x": 1.5, "y": None}]}},
        {"id": "b", "type": "for_each", "label": "Loop"},
        {"id": "c", "type": "step", "config": {"p": "q"}, "priority": 3},
        {"id": "d", "type": "reply"},
    ],
    "edges": [
        "a.value -> b.items",
        "b.current_item -> c.in",
        "c.out -> b.loop_back",
        {"from": "b.collected_results", "to": "d.results", "condition": "false"},
    ],
}


def digest(document: Json) -> str:
    return graph_digest(read_graph(document))


def test_a_stored_digest_stays_what_it_is():
    """The rule can never change: runs are pinned on its values."""
    assert digest(short("a.o -> b.i", a="step", b={"type": "step", "config": {"n": 1}})) == (
        "5bb76049efb63986633ffa6e6d2d1c83322886b339ef951602012fb809bd1dcf"
    )


def test_it_is_64_lower_case_hex_digits():
    value = digest(DOCUMENT)
    assert len(value) == 64
    assert value == f"{int(value, 16):064x}"


@given(
    nodes=st.permutations(DOCUMENT["nodes"]),
    edges=st.permutations(DOCUMENT["edges"]),
    labels=st.lists(st.none() | st.text(max_size=5), min_size=4, max_size=4),
    name=st.none() | st.text(max_size=5),
)
def test_order_labels_and_names_are_no_part_of_it(
    nodes: list[JsonObject], edges: list[Json], labels: list[str | None], name: str | None
):
    relabelled = [{**node, "label": label} for node, label in zip(nodes, labels, strict=True)]
    reversed_keys = [dict(reversed(node.items())) for node in relabelled]
    document: JsonObject = {"edges": edges, "nodes": reversed_keys, "id": "g", "name": name}
    assert digest(document) == digest(DOCUMENT)


CHANGES: dict[str, Callable[[JsonObject], Json]] = {
    "another id of the graph": lambda g: g.update(id="h"),
    "another config value": lambda g: g["nodes"][2].update(config={"p": "r"}),
    "1 where 1.0 stood": lambda g: g["nodes"][0].update(config={"value": [1.0]}),
    "another type": lambda g: g["nodes"][2].update(type="other"),
    "another priority": lambda g: g["nodes"][2].update(priority=4),
    "one more node": lambda g: g["nodes"].append({"id": "e", "type": "step"}),
    "one more edge": lambda g: g["edges"].append("c.error -> d.failure"),
    "one edge less": lambda g: g["edges"].pop(),
    "another port": lambda g: g["edges"].__setitem__(1, "b.current_index -> c.in"),
    "no condition": lambda g: g["edges"].__setitem__(3, "b.collected_results -> d.results"),
    "another kind": lambda g: g["edges"].__setitem__(
        1, {"from": "b.current_item", "to": "c.in", "kind": "trigger"}
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_structure_and_config_are_part_of_it(change: str):
    changed = copy.deepcopy(DOCUMENT)
    CHANGES[change](changed)
    assert digest(changed) != digest(DOCUMENT)


def test_positions_are_no_part_of_it():
    """FD-50."""
    here, there = editor_node("a", "step"), editor_node("a", "step")
    there["position"] = {"x": 500, "y": -20}
    there["data"]["label"] = "Moved"
    assert digest(editor([here])) == digest(editor([there]))


def test_both_document_forms_of_one_graph_have_one_digest():
    in_short: JsonObject = {
        "id": "fruit-loop",
        "nodes": [
            {
                "id": "basket.1",
                "type": "json_loader",
                "config": {"jsonData": '["quince", "medlar", "damson"]'},
            },
            {"id": "each_fruit.1", "type": "foreach", "config": {"maxIterations": 100}},
            {"id": "capitals.1", "type": "process_item", "config": {"operation": "uppercase"}},
            {
                "id": "tell.1",
                "type": "chat_output",
                "config": {"message": "In capitals: {results}"},
            },
            {
                "id": "note.1",
                "type": "notes",
                "config": {
                    "content": "The dashed wire goes back to the loop and starts its next round."
                },
            },
        ],
        "edges": [
            "each_fruit.1.collected_results -> tell.1.results",
            "capitals.1.output -> each_fruit.1.loop_back",
            "basket.1.value -> each_fruit.1.items",
            "each_fruit.1.current_item -> capitals.1.input",
        ],
    }
    assert digest(in_short) == graph_digest(load(OWN_GRAPHS / "fruit-loop.json"))


def test_a_config_without_a_canonical_text_is_refused():
    two_spellings = short(a={"type": "step", "config": {"\u00e9": 1, "e\u0301": 2}})
    with pytest.raises(InvalidGraph, match=r"nodes\.0\.config: object with two keys"):
        digest(two_spellings)
