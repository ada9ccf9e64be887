"""Which node waits for a port that nothing can fill any more, by definition (SG-20)."""

from typing import NamedTuple

from seeding.model import JsonObject
from tests.model.graph_interpreter_history import History
from tests.model.graph_interpreter_loops import ModelLoop, is_behind, nodes_from, nodes_to
from workflows.graph.model import Edge

CODE = "unfillable_port"


class Held(NamedTuple):
    """A node that waits, the port that holds it back, and that one's sources in the loop."""

    node: str
    port: str
    loop: ModelLoop
    sources: list[str]


def next_stuck(history: History) -> tuple[str, JsonObject] | None:
    """Return the node whose wait is over, if any, and what its failure names.

    Of several those come first whose sources no other held node can reach; within one loop,
    where all reach each other, over forward edges. Of these the first by priority and id. While
    one is on its way to its failure no other one is.
    """
    if any(ran.is_open and ran.stuck is not None for ran in history.ran):
        return None
    under_way = [ran.node for ran in history.ran if ran.is_open]
    reached = nodes_from(under_way, history.facts.edges) if under_way else frozenset[str]()
    stuck = [held for held in _held(history) if not reached.intersection(held.sources)]
    nodes = history.facts.nodes
    for held in sorted(stuck, key=lambda it: (nodes[it.node].priority, it.node)):
        if not any(_precedes(history, other, held) for other in stuck if other is not held):
            return held.node, _details(history, held)
    return None


def _held(history: History) -> list[Held]:
    """Return the nodes that are held back by rounds."""
    found: list[Held] = []
    for node in history.facts.nodes:
        stamp, ports = history.stamp(node), history.facts.fed_ports(node)
        if history.facts.triggers_of(node) or not stamp:
            continue
        if any(history.satisfies(edge, stamp) for edge in history.facts.errors_of(node)):
            continue
        if history.open(node) or any(ran.stamp == stamp for ran in history.runs_of(node)):
            continue
        filled = {
            port: [edge for edge in edges if history.satisfies(edge, stamp)]
            for port, edges in ports.items()
        }
        late = {
            port: [edge for edge in edges if _is_late(history, edge)]
            for port, edges in ports.items()
            if not filled[port]
        }
        if late and all(late.values()):
            # Another port counts as filled in this round by what is in that very loop.
            by = [edge.source for edges in filled.values() for edge in edges]
            for port in sorted(late):
                loop = _shared(history, node, late[port])
                if any(source in loop.body for source in by):
                    sources = {edge.source for edge in ports[port]} & loop.body
                    found.append(Held(node, port, loop, sorted(sources)))
                    break
    return found


def _is_late(history: History, edge: Edge) -> bool:
    """Whether an edge's source completed and was followed, but in an earlier round."""
    source = history.newest(edge.source)
    behind = source is not None and is_behind(source.stamp, history.stamp(edge.target))
    return behind and history.follows(edge)


def _shared(history: History, node: str, late: list[Edge]) -> ModelLoop:
    """Return the innermost loop that a node shares with a source that is behind."""
    loops = history.facts.loops_of(node)
    return [loop for loop in loops if any(edge.source in loop.body for edge in late)][-1]


def _precedes(history: History, other: Held, held: Held) -> bool:
    edges = history.facts.edges
    forward = [edge for edge in edges if edge.kind != "loopback"]
    leads_on = held.node in nodes_from([other.node], edges)
    if leads_on and other.node in nodes_from([held.node], edges):
        return any(source in nodes_from([other.node], forward) for source in held.sources)
    return leads_on


def _details(history: History, held: Held) -> JsonObject:
    """Return what the failure names: port, round, loop, sources and, if it is sure, gateway."""
    details: JsonObject = {
        "port": held.port,
        "round": history.stamp(held.node)[held.loop.key],
        "loop": held.loop.key,
        "sources": held.sources,
    }
    gateway = _gateway(history, held)
    return details if gateway is None else {**details, "gateway": gateway}


def _gateway(history: History, held: Held) -> str | None:
    """Return the nearest node with branches that led away from the sources in this round."""
    body, sources = held.loop.body, held.sources
    inside = [
        edge
        for edge in history.facts.edges
        if edge.kind != "loopback" and edge.source in body and edge.target in body
    ]
    leading = nodes_to(sources, inside)
    turned: list[tuple[int, str]] = []
    for name in leading:
        ran = history.newest(name)
        if name in sources or not history.facts.branches[name] or ran is None:
            continue
        late = is_behind(ran.stamp, history.stamp(held.node))
        if late or ran.status not in ("completed", "routed"):
            continue
        ways = [edge for edge in inside if edge.source == name and edge.target in leading]
        if not any(history.follows(edge) for edge in ways):
            turned.append((_steps(name, sources, inside), name))
    return min(turned)[1] if turned else None


def _steps(name: str, sources: list[str], edges: list[Edge]) -> int:
    """Return how many edges lead from a node to the nearest of some sources."""
    reached, steps = {name}, 0
    while not reached.intersection(sources):
        reached = {edge.target for edge in edges if edge.source in reached}
        steps += 1
    return steps
