"""The graph as the engine sees it, whatever document it came from.

A graph is authored nodes and edges. What a node's *type* means (is it control or effect, which
ports are branches) is a :class:`NodeType`, resolved by name when a run starts and pinned with
the run, so that reading a document never needs its types.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from seeding.model import Json, JsonObject, Model, as_list, as_object

EdgeKind = Literal["data", "trigger", "loopback", "tool", "error"]

TRIGGER_PORT = "trigger"
LOOP_BACK_PORT = "loop_back"
ERROR_PORT = "error"


def is_internal(port: str) -> bool:
    """Return whether a port is one of the engine's own, ``__name__`` (SG-2)."""
    return port.startswith("__") and port.endswith("__")


class _Hiding(Model):
    """What may hide output ports; what hides none is written as before there was hiding."""

    hidden: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _without_nothing(self, serialize: SerializerFunctionWrapHandler) -> JsonObject:
        written: JsonObject = serialize(self)
        if not self.hidden:
            written.pop("hidden", None)
        return written


class Node(_Hiding):
    """One authored node.

    Attributes:
        id: Unique in the graph; may hold dots, no colons.
        type: Name of its type.
        config: What the author set; part of the digest.
        label: For people; not part of the digest.
        priority: Lower numbers are dispatched first among nodes that are ready together.
        hidden: Output ports that are neither recorded nor delivered (DATA-8), in order.
    """

    id: str
    type: str
    config: JsonObject = {}
    label: str | None = None
    priority: int = 0


class Edge(Model):
    """One authored edge, from an output port to an input port.

    ``condition`` is kept and never gates (SG-9).
    """

    source: str
    source_port: str
    target: str
    target_port: str
    kind: EdgeKind = "data"
    condition: Json = None

    def __str__(self) -> str:
        """The edge as the short document form writes it."""
        return f"{self.source}.{self.source_port} -> {self.target}.{self.target_port}"


class NodeType(_Hiding):
    """What a type of node is to the engine, declared by its author (contract, section 7).

    Attributes:
        name: The type's name in documents.
        kind: ``control`` is evaluated inside the workflow; ``effect`` runs as an activity;
            ``ignored`` executes nothing (notes).
        branches: Ports that are followed only when active. None: every declared output may
            be gated by the config (``branch``, ``switch``), see ``branches_from_config``.
        branches_from_config: Name of the config list whose items' ``name`` are branch ports.
        declares: Reserved inputs the type asks for, such as ``__messages__``.
        timeout: Start-to-close of one attempt, in seconds.
        max_retries: Retries over the whole run, for retryable failures only (ERR-11).
        can_ask: Whether an execution may open a ticket.
        task_queue: Where the type is served; None is the run's own queue.
        hidden: Output ports that every node of the type hides (DATA-8).
    """

    name: str
    kind: Literal["control", "effect", "ignored"]
    branches: tuple[str, ...] = ()
    branches_from_config: str | None = None
    declares: tuple[str, ...] = ()
    timeout: float = 300.0
    max_retries: int = 0
    can_ask: bool = False
    task_queue: str | None = None


class Graph(Model):
    """A readable graph. Nodes and edges are in document order; nothing may depend on it."""

    id: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    warnings: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """Nodes by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def outgoing(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by source, in a fixed order that does not depend on the document's."""
        return self._grouped("source")

    @cached_property
    def incoming(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by target, in a fixed order that does not depend on the document's."""
        return self._grouped("target")

    def _grouped(self, side: Literal["source", "target"]) -> Mapping[str, tuple[Edge, ...]]:
        grouped: dict[str, list[Edge]] = {node.id: [] for node in self.nodes}
        for edge in sorted(self.edges, key=str):
            grouped[edge.source if side == "source" else edge.target].append(edge)
        return {node: tuple(edges) for node, edges in grouped.items()}


class ResolvedGraph(Model):
    """A graph with its digest and the types its nodes name: what a run pins and runs on."""

    graph: Graph
    digest: str
    types: dict[str, NodeType]

    @property
    def name(self) -> str:
        """``id@<first 16 hex of the digest>``, as states and results show it."""
        return f"{self.graph.id}@{self.digest[:16]}"

    def type_of(self, node_id: str) -> NodeType:
        """Return the type of a node of this graph."""
        return self.types[self.graph.by_id[node_id].type]

    def hidden_ports(self, node_id: str) -> tuple[str, ...]:
        """Return the output ports of a node that are neither recorded nor delivered (DATA-8)."""
        names = (*self.graph.by_id[node_id].hidden, *self.type_of(node_id).hidden)
        return tuple(sorted(dict.fromkeys(names)))

    def branch_ports(self, node_id: str) -> tuple[str, ...]:
        """Return the ports of a node that are followed only when active (BR-2)."""
        node, kind = self.graph.by_id[node_id], self.type_of(node_id)
        if kind.branches_from_config is None:
            return kind.branches
        listed = as_list(node.config.get(kind.branches_from_config)) or []
        objects = [item for item in map(as_object, listed) if item is not None]
        return (*kind.branches, *(str(item["name"]) for item in objects if "name" in item))
