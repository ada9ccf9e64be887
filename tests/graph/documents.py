"""Documents and shorthands that several tests share."""

from pathlib import Path

import pytest

from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject
from workflows.graph.document import read_graph
from workflows.graph.model import Graph, NodeType
from workflows.graph.resolution import resolve
from workflows.graph.text import parse_document

PROJECT = Path(__file__).parents[2]
OWN_GRAPHS = PROJECT / "temporal-dev" / "graphs"
SAMPLES = PROJECT.parent / "shared" / "samples" / "flowdrop"

EFFECTS = {
    name: NodeType(name=name, kind="effect", branches=branches)
    for name, branches in (
        ("process_item", ()),
        ("expense_policy", ("within", "over")),
        ("step", ()),
    )
}


def short(*edges: Json, **nodes: str | JsonObject) -> JsonObject:
    """Return a short document: nodes as ``id="type"`` or ``id={"type": ..., ...}``."""
    listed: list[JsonObject] = [
        {"id": name, **({"type": given} if isinstance(given, str) else given)}
        for name, given in nodes.items()
    ]
    return {"id": "g", "nodes": listed, "edges": [*edges]}


def editor_node(
    node_id: str,
    type_name: str,
    config: Json = None,
    *,
    defaults: Json = None,
    inputs: dict[str, str] | None = None,
    outputs: dict[str, str] | None = None,
) -> JsonObject:
    """Return a node as the editor writes it; ports are given as data type by name."""
    return {
        "id": node_id,
        "type": "universalNode",
        "position": {"x": 0, "y": 0},
        "data": {
            "label": node_id.title(),
            "config": config,
            "metadata": {
                "id": type_name,
                "type": "default",
                "config": defaults,
                "inputs": [{"id": k, "dataType": v} for k, v in (inputs or {}).items()],
                "outputs": [{"id": k, "dataType": v} for k, v in (outputs or {}).items()],
            },
        },
    }


def editor(nodes: list[JsonObject], *edges: JsonObject) -> JsonObject:
    return {"id": "g", "name": "G", "nodes": nodes, "edges": [*edges], "metadata": {}}


def wires(graph: Graph) -> list[tuple[str, str]]:
    """Return every edge as its text and its kind."""
    return [(str(edge), edge.kind) for edge in graph.edges]


def load(path: Path) -> Graph:
    return read_graph(parse_document(path.read_text(encoding="utf-8"), path.name))


def read_refusal(document: Json) -> str:
    """Return the message with which reading ``document`` is refused."""
    with pytest.raises(InvalidGraph) as refused:
        read_graph(document)
    return refused.value.message


def problems(document: JsonObject) -> list[str]:
    """Return the problems with which starting ``document`` is refused."""
    with pytest.raises(InvalidGraph) as refused:
        resolve(read_graph(document), EFFECTS)
    return list(refused.value.details["problems"])
