"""Reading a graph document: decides between its two forms and checks what both share.

A document is the editor's form where a node carries ``data``, else the short form. Reading
needs no node types of a worker: what a type name means is settled at resolution.
"""

import json
import unicodedata
from collections.abc import Sequence

from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject
from workflows.graph import editor_form, short_form
from workflows.graph.builtin_types import port_alias
from workflows.graph.fields import (
    as_list,
    as_name,
    as_object,
    listing,
    refuse_unknown,
)
from workflows.graph.json_checks import check_json
from workflows.graph.model import Edge, Graph, Node


def read_graph(document: Json) -> Graph:
    """Return the graph that a parsed document says, whichever of the two forms it has.

    Args:
        document: A JSON value, as :func:`workflows.graph.text.parse_document` returns it.

    Raises:
        InvalidGraph: The document is no graph; the message names the node, port or edge.
    """
    given = as_object(document, "a graph document")
    check_json(given, "the graph document")
    graph_id = as_name(given.get("id"), "the graph's id", forbidden="@")
    listed = as_list(given.get("nodes"), "nodes")
    if not listed:
        raise InvalidGraph(f"graph {graph_id!r} has no nodes")
    drawn = [as_object(node, f"nodes.{index}") for index, node in enumerate(listed)]
    names = _node_ids(drawn)
    wires = as_list(given.get("edges"), "edges")
    if any("data" in node for node in drawn):
        nodes, edges, warnings = _read_editor_form(drawn, names, wires)
    else:
        refuse_unknown(given, short_form.DOCUMENT_FIELDS, f"graph {graph_id!r}")
        nodes = [short_form.read_node(node, name) for node, name in zip(drawn, names, strict=True)]
        edges = [short_form.read_edge(wire, index) for index, wire in enumerate(wires)]
        warnings = []
    own = _with_own_ports(edges, nodes)
    kept, repeated = _without_repeats(own)
    return Graph(
        id=graph_id, nodes=tuple(nodes), edges=tuple(kept), warnings=(*warnings, *repeated)
    )


def _read_editor_form(
    drawn: Sequence[JsonObject], names: Sequence[str], wires: Sequence[Json]
) -> tuple[list[Node], list[Edge], list[str]]:
    read = [editor_form.read_node(node, name) for node, name in zip(drawn, names, strict=True)]
    ports = {node.id: declared for node, declared in read}
    edges = [editor_form.read_edge(wire, index, ports) for index, wire in enumerate(wires)]
    warnings = [warning for _, warning in edges if warning is not None]
    return [node for node, _ in read], [edge for edge, _ in edges], warnings


def _node_ids(drawn: Sequence[JsonObject]) -> list[str]:
    names: list[str] = []
    seen: dict[str, str] = {}
    for index, node in enumerate(drawn):
        name = as_name(node.get("id"), f"nodes.{index}: id", forbidden=":")
        # Hashes are made of text in form NFC, where two spellings of one id would be equal.
        normal = unicodedata.normalize("NFC", name)
        if normal in seen:
            raise InvalidGraph(f"two nodes have the id {name!r}", node=name)
        seen[normal] = name
        names.append(name)
    return names


def _with_own_ports(edges: Sequence[Edge], nodes: Sequence[Node]) -> list[Edge]:
    types = {node.id: node.type for node in nodes}
    own: list[Edge] = []
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in types:
                raise InvalidGraph(
                    f"edge '{edge}' names node {end!r}, which is not in the graph; "
                    f"its nodes are {listing([node.id for node in nodes])}",
                    node=end,
                    edge=str(edge),
                )
        port = port_alias(types[edge.source], edge.source_port)
        own.append(edge.model_copy(update={"source_port": port}))
    return own


def _without_repeats(edges: Sequence[Edge]) -> tuple[list[Edge], list[str]]:
    kept: dict[str, Edge] = {}
    warnings: list[str] = []
    for edge in edges:
        name = json.dumps([edge.source, edge.source_port, edge.target, edge.target_port])
        first = kept.setdefault(name, edge)
        if first is edge:
            continue
        if first != edge:
            raise InvalidGraph(
                f"edge '{edge}' is given twice, with another kind or condition", edge=str(edge)
            )
        warnings.append(f"edge '{edge}' is given twice; the second is dropped")
    return list(kept.values()), warnings
