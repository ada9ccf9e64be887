"""A graph as a Mermaid flowchart."""

from collections.abc import Mapping

from workflows.graph.model import Edge, Graph, Node

_ARROWS: Mapping[str, str] = {
    "data": "-->",
    "loopback": "-.->",
    "trigger": "==>",
    "tool": "--o",
    "error": "--x",
}
_PLAIN = ('["', '"]')
_SHAPES: Mapping[str, tuple[str, str]] = {
    "gate": ('{{"', '"}}'),
    **dict.fromkeys(("for_each", "foreach"), ('[["', '"]]')),
    **dict.fromkeys(("branch", "if_else", "switch", "gateway"), ('{"', '"}')),
    **dict.fromkeys(("value", "json_loader", "text_input"), ('[/"', '"/]')),
    **dict.fromkeys(("reply", "chat_output", "text_output"), ('(["', '"])')),
    "stop": ('((("', '")))'),
    "notes": ('>"', '"]'),
}
"""The shape of each built-in type that has one of its own; all else are effects."""

_SYNTAX: Mapping[int, str] = {
    ord("#"): "#35;",
    ord("&"): "#amp;",
    ord('"'): "#quot;",
    ord("<"): "#lt;",
    ord(">"): "#gt;",
    ord("`"): "#96;",
    ord("|"): "#124;",
    ord("\\"): "#92;",
    ord(";"): "#59;",
    ord("%"): "#37;",
    ord("$"): "#36;",
}
"""What Mermaid or the page around it would read as syntax, as entities."""

GATE_STYLE = "classDef gate stroke-width:3px,stroke-dasharray:6 3"


def mermaid(graph: Graph) -> str:
    """Return the flowchart of ``graph``; its text does not depend on the document's order.

    Gates, loops, branches, values, replies and stops have shapes of their own. A wire says which
    ports it joins; one that goes back into a loop is dotted, a trigger thick, a tool ends in a
    ring, an error in a cross.
    """
    nodes = sorted(graph.nodes, key=_id)
    names = {node.id: f"n{index}" for index, node in enumerate(nodes)}
    lines = ["flowchart TD"]
    for node in nodes:
        before, after = _SHAPES.get(node.type, _PLAIN)
        lines.append(f"    {names[node.id]}{before}{_escaped(_label(node))}{after}")
    for edge in sorted(graph.edges, key=str):
        arrow = _ARROWS[edge.kind]
        said = _escaped(_ports(edge))
        lines.append(f'    {names[edge.source]} {arrow}|"{said}"| {names[edge.target]}')
    gates = [names[node.id] for node in nodes if node.type == "gate"]
    if gates:
        lines += [f"    {GATE_STYLE}", f"    class {','.join(gates)} gate"]
    return "\n".join(lines)


def _id(node: Node) -> str:
    return node.id


def _label(node: Node) -> str:
    return f"{node.id} ({node.type})"


def _ports(edge: Edge) -> str:
    return f"{edge.source_port} → {edge.target_port}"


def _escaped(text: str) -> str:
    """Return ``text`` on one line, so that Mermaid shows it and reads no syntax in it."""
    return " ".join(text.split()).translate(_SYNTAX)
