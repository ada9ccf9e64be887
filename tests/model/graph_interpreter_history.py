"""Everything a run ever did, and what the rules say of it, looked up anew each time.

Nothing is kept beside the list of what happened: rounds, iterators, readiness and values are
read from it by their definitions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from seeding.model import Json, JsonObject
from tests.model.graph_interpreter_loops import (
    ITERATING,
    ModelLoop,
    Stamp,
    find_loops,
    is_behind,
)
from tests.model.graph_interpreter_nodes import (
    CLOSING,
    Iterator,
    Round,
    branch_key,
    branch_ports,
)
from workflows.graph.model import Edge, Graph, Node, NodeType


class Source(NamedTuple):
    """Where a value comes from: a port of one execution of a node."""

    node: str
    occurrence: int
    port: str


@dataclass(frozen=True)
class Ran:
    """One execution, from its dispatch on; ``order`` is its number among all of the run.

    ``stuck`` is what an execution that is never called fails with (SG-20).
    """

    node: str
    occurrence: int
    order: int
    stamp: Stamp
    reentry: bool = False
    inputs: JsonObject = field(default_factory=dict[str, Json])
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    stuck: JsonObject | None = None
    status: str = "due"
    outputs: JsonObject = field(default_factory=dict[str, Json])
    active: tuple[str, ...] = ()
    answers: tuple[Json, ...] = ()
    retries: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it has not come to an end."""
        return self.status in ("due", "waiting")


@dataclass(frozen=True)
class Dispatched:
    """An execution was dispatched."""

    order: int


@dataclass(frozen=True)
class Completed:
    """An execution came to its end."""

    node: str
    order: int
    round: Round | None


@dataclass(frozen=True)
class Began:
    """A loopback edge began the next round of a loop."""

    loop: str


Event = Dispatched | Completed | Began


class Facts:
    """What never changes: the graph without what executes nothing, its loops, its branches."""

    def __init__(self, graph: Graph, types: Mapping[str, NodeType]) -> None:
        self.nodes: dict[str, Node] = {
            node.id: node for node in graph.nodes if types[node.type].kind != "ignored"
        }
        self.types = {node.id: types[node.type] for node in graph.nodes}
        self.edges = [
            edge
            for edge in sorted(graph.edges, key=str)
            if edge.kind != "tool" and edge.source in self.nodes and edge.target in self.nodes
        ]
        self.loops: tuple[ModelLoop, ...] = find_loops(graph)
        self.branches = {
            node.id: branch_ports(
                node,
                self.types[node.id].branches,
                listed=self.types[node.id].branches_from_config is not None,
            )
            for node in self.nodes.values()
        }

    def loops_of(self, node: str) -> list[ModelLoop]:
        """Return the loops a node is in, outermost first."""
        return [loop for loop in self.loops if node in loop.body]

    def loops_around(self, loop: ModelLoop) -> list[ModelLoop]:
        """Return the loops that hold all of a loop, itself included, outermost first."""
        return [other for other in self.loops if loop.body <= other.body]

    def loop_of_head(self, head: str) -> ModelLoop | None:
        """Return the loop that re-enters ``head``."""
        return next((loop for loop in self.loops if head in loop.heads), None)

    def iterates(self, node: str) -> bool:
        """Whether a node is a ``for_each``."""
        return self.nodes[node].type in ITERATING

    def into(self, node: str, *, loopback: bool = False) -> list[Edge]:
        """Return the edges into a node that make it depend, or those that re-enter it."""
        return [
            edge
            for edge in self.edges
            if edge.target == node and (edge.kind == "loopback") is loopback
        ]

    def out_of(self, node: str, *, loopback: bool) -> list[Edge]:
        """Return the edges out of a node of one of both kinds."""
        return [
            edge
            for edge in self.edges
            if edge.source == node and (edge.kind == "loopback") is loopback
        ]

    def routes_errors(self, node: str) -> bool:
        """Whether a node-level failure has an edge to follow (ERR-7)."""
        return any(edge.source == node and leaves_error(edge) for edge in self.edges)

    def triggers_of(self, node: str) -> list[Edge]:
        """Return the trigger edges into a node."""
        return [e for e in self.into(node) if e.kind == "trigger" and not leaves_error(e)]

    def errors_of(self, node: str) -> list[Edge]:
        """Return the error edges into a node."""
        return [edge for edge in self.into(node) if leaves_error(edge)]

    def fed_ports(self, node: str) -> dict[str, list[Edge]]:
        """Return the data edges into a node by port (DATA-4)."""
        ports: dict[str, list[Edge]] = {}
        for edge in self.into(node):
            if edge.kind == "data" and not leaves_error(edge):
                ports.setdefault(edge.target_port, []).append(edge)
        return ports


def leaves_error(edge: Edge) -> bool:
    """Whether only a routed failure follows an edge (ERR-10)."""
    return edge.kind == "error" or edge.source_port == "error"


@dataclass
class History:
    """What happened so far, in order."""

    facts: Facts
    ran: list[Ran] = field(default_factory=list[Ran])
    events: list[Event] = field(default_factory=list[Event])

    def copy(self) -> "History":
        """Return a history that can go on by itself."""
        return replace(self, ran=list(self.ran), events=list(self.events))

    def change(self, ran: Ran) -> None:
        """Replace what is known of one execution."""
        self.ran[ran.order - 1] = ran

    def dispatch(self, ran: Ran) -> None:
        """Add an execution; its order follows the last one's."""
        assert ran.order == len(self.ran) + 1
        self.ran.append(ran)
        self.events.append(Dispatched(ran.order))

    def runs_of(self, node: str) -> list[Ran]:
        """Return all executions of a node, oldest first."""
        return [ran for ran in self.ran if ran.node == node]

    def newest(self, node: str) -> Ran | None:
        """Return the newest execution of a node."""
        found = self.runs_of(node)
        return found[-1] if found else None

    def open(self, node: str) -> Ran | None:
        """Return the execution of a node that is due or waits."""
        return next((ran for ran in self.runs_of(node) if ran.is_open), None)

    def round(self, loop: ModelLoop) -> int:
        """Return a loop's round: those begun since a loop around it began one (SG-18)."""
        around = [other.key for other in self.facts.loops if loop.body < other.body]
        count = 0
        for event in self.events:
            if isinstance(event, Began):
                if event.loop == loop.key:
                    count += 1
                elif event.loop in around:
                    count = 0
        return count

    def stamp(self, node: str) -> Stamp:
        """Return the stamp that an execution of ``node`` dispatched now has (SG-17)."""
        return {loop.key: self.round(loop) for loop in self.facts.loops_of(node)}

    def iterator(self, node: str) -> Iterator | None:
        """Return where a ``for_each`` stands; None outside of its rounds.

        It is set where an execution enters, moved where one goes on, gone after the closing,
        and gone where a loop around it that it is no head of begins its next round.
        """
        found: Iterator | None = None
        for event in self.events:
            if isinstance(event, Began):
                loop = next(loop for loop in self.facts.loops if loop.key == event.loop)
                if node in loop.body and node not in loop.heads:
                    found = None
            elif isinstance(event, Completed) and event.node == node:
                turn = event.round
                if turn is not None:
                    at = replace(turn.iterator, began=event.order)
                    found = None if turn.closes else at
        return found

    def follows(self, edge: Edge) -> bool:
        """Return whether the newest execution of its source completed and follows ``edge``."""
        source = self.newest(edge.source)
        if source is None:
            return False
        if leaves_error(edge):
            return source.status == "routed"
        return source.status == "completed" and self._is_open(edge, source)

    def satisfies(self, edge: Edge, stamp: Stamp) -> bool:
        """Return whether ``edge`` is satisfied in the round ``stamp`` of its target (SG-19)."""
        source = self.newest(edge.source)
        return source is not None and self.follows(edge) and not is_behind(source.stamp, stamp)

    def is_ready(self, node: str, stamp: Stamp) -> bool:
        """Return whether a node may run in a round (DATA-4, ERR-10)."""
        triggers, errors = self.facts.triggers_of(node), self.facts.errors_of(node)
        if any(self.satisfies(edge, stamp) for edge in [*triggers, *errors]):
            return True
        ports = self.facts.fed_ports(node)
        if triggers or not ports:
            return False
        return all(any(self.satisfies(edge, stamp) for edge in edges) for edges in ports.values())

    def delivers(self, edge: Edge) -> tuple[Json] | None:
        """Return the value that the newest execution of a source has at an edge's port, if any.

        A branch port carries the output of its own name, else the node's input.
        """
        source, port = self.newest(edge.source), edge.source_port
        assert source is not None
        if port in source.outputs:
            return (source.outputs[port],)
        key = branch_key(port)
        own = [value for name, value in sorted(source.inputs.items()) if name != "loop_back"]
        if source.status != "completed" or key not in self.facts.branches[edge.source] or not own:
            return None
        if source.active and key not in source.active:
            return None
        if len(own) == 1:
            return (own[0],)
        return ({name: it for name, it in source.inputs.items() if name != "loop_back"},)

    def sources(self, node: str, stamp: Stamp, *, reentry: bool) -> dict[str, tuple[Source, Json]]:
        """Return where the value of each wired port comes from, and the value (DATA-1, DATA-2).

        What a loopback edge brings was made in the round that has just ended.
        """
        offers: dict[str, list[tuple[int, Source, Json]]] = {}
        for edge in [*self.facts.into(node), *self.facts.into(node, loopback=True)]:
            if not self._carries(edge) or (edge.kind == "loopback" and not reentry):
                continue
            judged = dict(stamp)
            if edge.kind == "loopback":
                loop = self.facts.loop_of_head(node)
                assert loop is not None
                judged[loop.key] -= 1
            if not self.satisfies(edge, judged):
                continue
            value, source = self.delivers(edge), self.newest(edge.source)
            assert source is not None
            if value is not None:
                came_from = Source(edge.source, source.occurrence, edge.source_port)
                offers.setdefault(edge.target_port, []).append((source.order, came_from, value[0]))
        newest: dict[str, tuple[Source, Json]] = {}
        for port in sorted(offers):
            _, source, value = max(offers[port], key=lambda offer: offer[0])
            newest[port] = (source, value)
        return newest

    def _carries(self, edge: Edge) -> bool:
        """Whether an edge delivers a value at all (DATA-3, SG-5)."""
        if edge.kind == "trigger" or edge.target_port == "trigger":
            return False
        bare = edge.kind == "loopback" and edge.target_port == "loop_back"
        return not bare or self.facts.iterates(edge.target)

    def _is_open(self, edge: Edge, source: Ran) -> bool:
        """Whether the port an edge leaves is not gated off (BR-1, BR-2)."""
        key = branch_key(edge.source_port)
        if key in self.facts.branches[edge.source]:
            return not source.active or key in source.active
        loop = self.facts.loop_of_head(edge.source)
        if loop is None or not self.facts.iterates(edge.source):
            return True
        # Towards its body such a port is a round's, towards everything else the closing's.
        return (edge.target in loop.body) is not (CLOSING[0] in source.active)
