"""The short form: nodes as ``{id, type, config, label, priority, hidden}``, edges as text.

An edge is ``source.port -> target.port``, split at the last dot of each side, so that node ids
may hold dots. Where an edge needs more than its ends it is an object with the fields ``from``,
``to`` (each ``node.port``), ``kind`` (``data``, ``trigger``, ``loopback``, ``tool``,
``error``) and ``condition`` (kept, never evaluated: SG-9); the last two may be left out.

People write this form by hand, so a field that is not known is refused by name.
"""

from typing import cast, get_args

from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject
from workflows.graph.edge_kind import reserved_kind
from workflows.graph.fields import as_list, as_name, as_object, kind_of, refuse_unknown
from workflows.graph.model import ERROR_PORT, Edge, EdgeKind, Node

DOCUMENT_FIELDS = ("id", "name", "description", "nodes", "edges")
NODE_FIELDS = ("id", "type", "config", "label", "priority", "hidden")
EDGE_FIELDS = ("from", "to", "kind", "condition")
_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)


def read_node(given: JsonObject, node_id: str) -> Node:
    """Return the node that ``given`` says.

    Raises:
        InvalidGraph: A field is unknown or of the wrong type.
    """
    where = f"node {node_id!r}"
    refuse_unknown(given, NODE_FIELDS, where)
    label, priority = given.get("label"), given.get("priority", 0)
    if label is not None and not isinstance(label, str):
        raise InvalidGraph(f"{where}: label is {kind_of(label)}; it must be a text", node=node_id)
    if not isinstance(priority, int) or isinstance(priority, bool):
        raise InvalidGraph(f"{where}: priority is no whole number: {priority!r}", node=node_id)
    config = given.get("config")
    return Node(
        id=node_id,
        type=as_name(given.get("type"), f"{where}: type"),
        config={} if config is None else as_object(config, f"{where}: config"),
        label=label,
        priority=priority,
        hidden=_hidden(given.get("hidden"), f"{where}: hidden"),
    )


def _hidden(value: Json, where: str) -> tuple[str, ...]:
    ports = [as_name(port, f"{where}.{index}") for index, port in enumerate(as_list(value, where))]
    return tuple(sorted(dict.fromkeys(ports)))


def read_edge(given: Json, index: int) -> Edge:
    """Return the edge that ``given``, a text or an object, says.

    Raises:
        InvalidGraph: It is malformed, or its kind contradicts its ports.
    """
    if isinstance(given, str):
        sides = given.split("->")
        if len(sides) != 2:
            raise InvalidGraph(
                f"edges.{index}: {given!r} is no edge; write 'source.port -> target.port'"
            )
        return _edge(sides[0].strip(), sides[1].strip(), {}, f"edges.{index} {given!r}")
    where = f"edges.{index}"
    if not isinstance(given, dict):
        raise InvalidGraph(f"{where} is {kind_of(given)}; it must be a text or an object")
    fields = cast(JsonObject, given)
    refuse_unknown(fields, EDGE_FIELDS, where)
    source = as_name(fields.get("from"), f"{where}: from")
    target = as_name(fields.get("to"), f"{where}: to")
    return _edge(source, target, fields, f"{where} '{source} -> {target}'")


def _edge(source: str, target: str, fields: JsonObject, where: str) -> Edge:
    source_node, source_port = _end(source, where)
    target_node, target_port = _end(target, where)
    return Edge(
        source=source_node,
        source_port=source_port,
        target=target_node,
        target_port=target_port,
        kind=_kind(source_port, target_port, fields.get("kind"), where),
        condition=fields.get("condition"),
    )


def _end(text: str, where: str) -> tuple[str, str]:
    node, dot, port = text.rpartition(".")
    if not dot or not node or not port:
        raise InvalidGraph(f"{where}: {text!r} is no end of an edge; write 'node.port'")
    return as_name(node, f"{where}: node"), as_name(port, f"{where}: port")


def _kind(source_port: str, target_port: str, given: Json, where: str) -> EdgeKind:
    reserved = reserved_kind(source_port, target_port)
    if given is None:
        return reserved or "data"
    if given not in _KINDS:
        raise InvalidGraph(f"{where}: kind {given!r} is none of {', '.join(_KINDS)}")
    kind: EdgeKind = given
    if reserved is not None and kind not in (reserved, "loopback"):
        raise InvalidGraph(
            f"{where}: kind {kind!r} contradicts its ports, which make it {reserved!r}; "
            "leave kind out"
        )
    if kind == "error" and source_port != ERROR_PORT:
        raise InvalidGraph(f"{where}: an error edge leaves the port {ERROR_PORT!r}")
    return kind
