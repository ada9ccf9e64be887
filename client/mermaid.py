"""A graph as a Mermaid flowchart."""

from workflows.graph.model import Edge, Graph, Node

_ARROWS = {"data": "-->", "loopback": "-.->", "trigger": "==>", "tool": "-.-", "error": "--x"}


def mermaid(graph: Graph) -> str:
    """Return the flowchart of ``graph``; its text does not depend on the document's order.

    Gates and other control nodes look like effects: what a type is, a worker knows. A wire back
    into a loop is dotted, a trigger thick, an error crossed.
    """
    names = {node.id: f"n{index}" for index, node in enumerate(sorted(graph.nodes, key=_id))}
    lines = ["flowchart TD"]
    for node in sorted(graph.nodes, key=_id):
        lines.append(f'    {names[node.id]}["{_escaped(_label(node))}"]')
    for edge in sorted(graph.edges, key=str):
        arrow = _ARROWS[edge.kind]
        said = _escaped(_ports(edge))
        lines.append(f'    {names[edge.source]} {arrow}|"{said}"| {names[edge.target]}')
    return "\n".join(lines)


def _id(node: Node) -> str:
    return node.id


def _label(node: Node) -> str:
    return f"{node.id} ({node.type})"


def _ports(edge: Edge) -> str:
    return f"{edge.source_port} → {edge.target_port}"


def _escaped(text: str) -> str:
    """Return ``text`` so that Mermaid shows it and reads no syntax in it."""
    plain = text.replace("#", "#35;").replace('"', "#quot;")
    return plain.replace("<", "#lt;").replace(">", "#gt;")
