"""Small graphs written as edges, for tests."""

from collections.abc import Mapping, Sequence

from seeding.model import JsonObject
from tests.model.graph_scripts import SCRIPTED_TYPES
from workflows.graph.builtin_types import BUILTIN_TYPES
from workflows.graph.model import Edge, EdgeKind, Graph, Node, NodeType, ResolvedGraph
from workflows.plan import Plan, make_plan

TASK = NodeType(name="task", kind="effect", can_ask=True)
ROUTER = NodeType(name="router", kind="effect", branches=("yes", "no", "over", "within"))
PATIENT = NodeType(name="patient", kind="effect", max_retries=2)

TYPES: Mapping[str, NodeType] = {
    **BUILTIN_TYPES,
    **{kind.name: kind for kind in (TASK, ROUTER, PATIENT, *SCRIPTED_TYPES)},
}


def edge(text: str, condition: str | None = None) -> Edge:
    """Return the edge of ``source.port -> target.port``, its kind after ``!`` if it is given."""
    wire, _, kind = text.partition(" !")
    source, target = wire.split(" -> ")
    source_node, _, source_port = source.rpartition(".")
    target_node, _, target_port = target.rpartition(".")
    return Edge(
        source=source_node,
        source_port=source_port,
        target=target_node,
        target_port=target_port,
        kind=_kind(kind, source_port, target_port),
        condition=condition,
    )


def _kind(said: str, source_port: str, target_port: str) -> EdgeKind:
    named: dict[str, EdgeKind] = {"loopback": "loopback", "tool": "tool"}
    if said:
        return named[said]
    if target_port == "loop_back":
        return "loopback"
    if source_port == "error":
        return "error"
    return "trigger" if "trigger" in (source_port, target_port) else "data"


def graph(
    *edges: str | Edge,
    types: Mapping[str, str] | None = None,
    config: Mapping[str, JsonObject] | None = None,
    priority: Mapping[str, int] | None = None,
    alone: Sequence[str] = (),
) -> Graph:
    """Return the graph of some edges; nodes are effects of type ``task`` unless named."""
    wires = tuple(item if isinstance(item, Edge) else edge(item) for item in edges)
    ids = [*alone, *(end for wire in wires for end in (wire.source, wire.target))]
    nodes = tuple(
        Node(
            id=node_id,
            type=(types or {}).get(node_id, "task"),
            config=(config or {}).get(node_id, {}),
            priority=(priority or {}).get(node_id, 0),
        )
        for node_id in dict.fromkeys(ids)
    )
    return Graph(id="test", nodes=nodes, edges=wires)


def plan_of(built: Graph) -> Plan:
    """Return the plan of a graph whose types are the built-in ones and those of this module."""
    types = {node.type: TYPES[node.type] for node in built.nodes}
    return make_plan(ResolvedGraph(graph=built, digest="0" * 64, types=types))


EXPENSE_REVIEW = graph(
    "items.value -> each.items",
    "each.current_item -> check.item",
    "check.within -> each.loop_back",
    "check.over -> gate.item",
    "gate.answer -> each.loop_back",
    "each.collected_results -> summary.results",
    types={
        "items": "value",
        "each": "for_each",
        "check": "router",
        "gate": "gate",
        "summary": "reply",
    },
    config={
        "check": {"limit": 100},
        "gate": {"kind": "approval", "message": "Over the limit. Pay {item}?"},
        "summary": {"message": "Done: {results}"},
    },
)
"""The graph of the contract's section 6."""


def check_expense(inputs: JsonObject, occurrence: int) -> JsonObject:
    """Do what the contract's ``expense_policy`` does, with a limit of 100."""
    port = "over" if inputs["item"] > 100 else "within"
    return {port: inputs["item"], "active_branches": [port]}
