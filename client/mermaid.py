"""A graph as a Mermaid flowchart."""

from collections.abc import Iterator, Mapping

from seeding.counting import counted
from seeding.errors import InvalidGraph
from seeding.model import Json
from workflows.graph.builtin_types import max_rounds
from workflows.graph.model import Edge, Graph, Node
from workflows.loops import ITERATING_TYPES, Loop, LoopPlan, plan_loops

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
ENTRY_STYLE = "classDef entry stroke-width:3px"
TOOL_STYLE = "stroke:#bbbbbb"

LEGEND = (
    "%% A frame is a loop, a hexagon a gate, a thick border where the run begins.",
    "%% Dotted: back into its loop. Thick: trigger. Ring: tool, ignored. Cross: error.",
)

_INDENT = "    "
_MOST_CHARACTERS = 120


def mermaid(graph: Graph) -> str:
    """Return the flowchart of ``graph``; its text does not depend on the document's order.

    Every loop is a frame that names its head and what limits its rounds, loops in loops are
    frames in frames. Gates say what they ask and until when; gates, branches, values, replies
    and stops have shapes of their own. A wire says which ports it joins; one that goes back into
    a loop is dotted and drawn last, a trigger thick, a tool ends in a ring, an error in a cross.
    """
    drawing = _Drawing(graph)
    lines = ["flowchart TD", *(f"{_INDENT}{line}" for line in LEGEND)]
    lines += drawing.nodes(None, _INDENT)
    lines += drawing.wires()
    lines += drawing.styles()
    return "\n".join(lines)


class _Drawing:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._plan: LoopPlan = plan_loops(graph)
        self._nodes = sorted(graph.nodes, key=_id)
        self._names = {node.id: f"n{index}" for index, node in enumerate(self._nodes)}
        forward = [edge for edge in graph.edges if edge.kind != "loopback"]
        self._edges = [
            *sorted(forward, key=str),
            *sorted((edge for edge in graph.edges if edge.kind == "loopback"), key=str),
        ]

    def nodes(self, inside: str | None, indent: str) -> Iterator[str]:
        """Yield the nodes of one loop, or of none, then the loops in it."""
        for node in self._nodes:
            chain = self._plan.of_node.get(node.id, ())
            if (chain[-1] if chain else None) == inside:
                before, after = _SHAPES.get(node.type, _PLAIN)
                yield f"{indent}{self._names[node.id]}{before}{_label(node)}{after}"
        for index, loop in enumerate(self._plan.loops):
            if self._around(loop) == inside:
                yield f'{indent}subgraph loop{index}["{self._title(loop)}"]'
                yield from self.nodes(loop.key, indent + _INDENT)
                yield f"{indent}end"

    def wires(self) -> Iterator[str]:
        for edge in self._edges:
            arrow, said = _ARROWS[edge.kind], _escaped(_ports(edge))
            source, target = self._names[edge.source], self._names[edge.target]
            yield f'{_INDENT}{source} {arrow}|"{said}"| {target}'

    def styles(self) -> Iterator[str]:
        gates = [self._names[node.id] for node in self._nodes if node.type == "gate"]
        entries = [self._names[node.id] for node in self._nodes if self._is_entry(node)]
        for style, name, members in (
            (GATE_STYLE, "gate", gates),
            (ENTRY_STYLE, "entry", entries),
        ):
            if members:
                yield f"{_INDENT}{style}"
                yield f"{_INDENT}class {','.join(members)} {name}"
        tools = [str(index) for index, edge in enumerate(self._edges) if edge.kind == "tool"]
        if tools:
            yield f"{_INDENT}linkStyle {','.join(tools)} {TOOL_STYLE}"

    def _around(self, loop: Loop) -> str | None:
        """Return the key of the loop that a loop is nested in."""
        chain = self._plan.of_node[loop.key]
        place = chain.index(loop.key)
        return chain[place - 1] if place else None

    def _title(self, loop: Loop) -> str:
        heads = [self._graph.by_id[head] for head in loop.heads]
        limits = dict.fromkeys(_limit(head) for head in heads)
        named = ", ".join(_escaped(head.id) for head in heads)
        return f"loop of {named}: {', '.join(limits)}"

    def _is_entry(self, node: Node) -> bool:
        incoming = self._graph.incoming[node.id]
        return node.type != "notes" and all(edge.kind in ("loopback", "tool") for edge in incoming)


def _id(node: Node) -> str:
    return node.id


def _limit(head: Node) -> str:
    if head.type in ITERATING_TYPES:
        return "once for each item"
    try:
        rounds = max_rounds(head)
    except InvalidGraph:
        return "its limit cannot be read"
    return "no limit of its own" if rounds is None else f"at most {counted(rounds, 'round')}"


def _label(node: Node) -> str:
    lines = [f"{node.id} ({node.type})"]
    if node.type == "gate":
        lines += _asked(node)
    return "<br/>".join(_escaped(line) for line in lines)


def _asked(node: Node) -> Iterator[str]:
    """Yield what a gate asks, and what becomes of it if nobody answers."""
    message: Json = node.config.get("message")
    if isinstance(message, str) and message.strip():
        yield message if len(message) <= _MOST_CHARACTERS else f"{message[:_MOST_CHARACTERS]}…"
    deadline: Json = node.config.get("deadline")
    if deadline not in (None, 0):
        yield f"by {deadline}, else {node.config.get('onDeadline') or 'expire'}"


def _ports(edge: Edge) -> str:
    return f"{edge.source_port} → {edge.target_port}"


def _escaped(text: str) -> str:
    """Return ``text`` on one line, so that Mermaid shows it and reads no syntax in it."""
    return " ".join(text.split()).translate(_SYNTAX)
