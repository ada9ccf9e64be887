"""The digest of a graph: which documents are one and the same graph (INT-7)."""

from seeding.canonical import canonical_hash, canonical_text
from seeding.errors import InvalidCommit, InvalidGraph
from seeding.model import JsonObject
from workflows.graph.model import Edge, Graph, Node

SCHEME = "fermata-graph-1"
"""Names the rule below; once digests are stored the rule can never change."""


def graph_digest(graph: Graph) -> str:
    """Return the sha256 of the graph's structure and config, as 64 hex digits (INT-7).

    Part of it: the graph's id (a run pins the digest alone, and must get its own graph back),
    each node's id, type, config, priority and hidden ports, each edge's ends, kind and condition.
    Not part
    of it: labels, positions, names, descriptions, warnings, the order of nodes and edges, the
    document's form, and what a type's code does.

    Raises:
        InvalidGraph: A config cannot be written as canonical JSON.
    """
    nodes, edges = [_node(node) for node in graph.nodes], [_edge(edge) for edge in graph.edges]
    try:
        body: JsonObject = {
            "scheme": SCHEME,
            "id": graph.id,
            "nodes": sorted(nodes, key=canonical_text),
            "edges": sorted(edges, key=canonical_text),
        }
        return canonical_hash(body)
    except InvalidCommit as error:
        raise InvalidGraph(f"graph {graph.id!r}: {error.message}") from error


def _node(node: Node) -> JsonObject:
    body: JsonObject = {"id": node.id, "type": node.type, "config": node.config}
    if node.priority:
        body["priority"] = node.priority
    if node.hidden:
        body["hidden"] = list(node.hidden)
    return body


def _edge(edge: Edge) -> JsonObject:
    body: JsonObject = {
        "from": [edge.source, edge.source_port],
        "to": [edge.target, edge.target_port],
        "kind": edge.kind,
    }
    return body if edge.condition is None else {**body, "condition": edge.condition}
