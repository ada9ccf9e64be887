"""The FlowDrop editor's document form, read as it is.

Type, ports and default config stand in ``nodes[].data.metadata``, the author's config in
``nodes[].data.config``, and an edge names its ports by handles: ``<node>-<input|output>-<port>``
or the bare port. Everything else (positions, colours, schemas) is for the editor and is passed
over.

An end without a handle is nameless. DATA-1 says that such a wire delivers nothing, and so it
is here: the port is the empty name, the wire still orders its two nodes, and a warning names
it. Guessing the only port a node has would deliver a value that the editor's own engine does
not deliver.
"""

import re
from collections.abc import Mapping
from typing import cast

from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject, Model
from workflows.graph.builtin_types import NOTES
from workflows.graph.edge_kind import reserved_kind
from workflows.graph.fields import as_list, as_name, as_object, listing
from workflows.graph.model import ERROR_PORT, TRIGGER_PORT, Edge, EdgeKind, Node

_FOREIGN_HANDLE = re.compile(r"^(?P<node>.+)-(?P<side>input|output)-(?P<port>.+)$")


class DeclaredPorts(Model):
    """Ports an editor node declares: data type by port name, for each side."""

    input: dict[str, str] = {}
    output: dict[str, str] = {}


def read_node(given: JsonObject, node_id: str) -> tuple[Node, DeclaredPorts]:
    """Return the node that ``given`` says, and the ports it declares.

    Raises:
        InvalidGraph: It names no type, or its config is no object.
    """
    where = f"node {node_id!r}"
    data = as_object(given.get("data"), f"{where}: data")
    metadata = as_object(data.get("metadata"), f"{where}: data.metadata")
    name = as_name(metadata.get("id"), f"{where}: data.metadata.id")
    label = data.get("label")
    node = Node(
        id=node_id,
        type=NOTES if metadata.get("type") == "note" else name,
        config={
            **_config(metadata.get("config"), f"{where}: data.metadata.config"),
            **_config(data.get("config"), f"{where}: data.config"),
        },
        label=label if isinstance(label, str) else None,
        hidden=_hidden(metadata.get("outputs")),
    )
    return node, DeclaredPorts(
        input=_declared(metadata.get("inputs"), f"{where}: data.metadata.inputs"),
        output=_declared(metadata.get("outputs"), f"{where}: data.metadata.outputs"),
    )


def _config(value: Json, where: str) -> JsonObject:
    # A PHP backend writes an empty object as an empty list.
    return {} if value is None or value == [] else as_object(value, where)


def _hidden(value: Json) -> tuple[str, ...]:
    """Return the outputs that the document does not expose; what says nothing is exposed."""
    given = [cast(JsonObject, port) for port in as_list(value, "") if isinstance(port, dict)]
    names = [port["id"] for port in given if port.get("exposed") is False and "id" in port]
    ports = dict.fromkeys(name for name in names if isinstance(name, str))
    return tuple(sorted(name for name in ports if name and name not in (TRIGGER_PORT, ERROR_PORT)))


def _declared(value: Json, where: str) -> dict[str, str]:
    declared: dict[str, str] = {}
    for index, given in enumerate(as_list(value, where)):
        port = as_object(given, f"{where}.{index}")
        if isinstance(port.get("id"), str):
            declared.setdefault(port["id"], str(port.get("dataType", "")))
    return declared


def read_edge(
    given: Json, index: int, ports: Mapping[str, DeclaredPorts]
) -> tuple[Edge, str | None]:
    """Return the edge that ``given`` says, and a warning where one of its ends is nameless.

    Args:
        given: The edge as the document has it.
        index: Its place in the document, for messages.
        ports: The declared ports of every node, by node id.

    Raises:
        InvalidGraph: It names no source or target, one that is not drawn, or a handle of
            another node or side.
    """
    where = f"edges.{index}"
    fields = as_object(given, where)
    source = as_name(fields.get("source"), f"{where}: source")
    target = as_name(fields.get("target"), f"{where}: target")
    where = f"{where} from {source!r} to {target!r}"
    for end in (source, target):
        if end not in ports:
            raise InvalidGraph(
                f"{where}: {end!r} is no node of the graph; its nodes are {listing(list(ports))}",
                node=end,
            )
    outputs, inputs = ports[source].output, ports[target].input
    source_port = _port(fields, "sourceHandle", source, "output", outputs, where)
    target_port = _port(fields, "targetHandle", target, "input", inputs, where)
    data = fields.get("data")
    extra = cast(JsonObject, data) if isinstance(data, dict) else {}
    data_types = (outputs.get(source_port, ""), inputs.get(target_port, ""))
    edge = Edge(
        source=source,
        source_port=source_port,
        target=target,
        target_port=target_port,
        kind=_kind(source_port, target_port, _edge_type(extra), data_types),
        condition=extra.get("condition", fields.get("condition")),
    )
    return edge, _nameless(edge, where)


def _port(
    fields: JsonObject,
    field: str,
    node: str,
    side: str,
    declared: Mapping[str, str],
    where: str,
) -> str:
    handle = fields.get(field)
    if handle is None or handle == "":
        return ""
    name = as_name(handle, f"{where}: {field}")
    if name in declared:
        return name
    own = name.removeprefix(f"{node}-{side}-")
    if own != name:
        return as_name(own, f"{where}: {field}")
    if _FOREIGN_HANDLE.match(name):
        raise InvalidGraph(
            f"{where}: {field} {name!r} is no {side} of node {node!r}; "
            f"write '{node}-{side}-<port>' or the bare port",
            node=node,
        )
    return name


def _edge_type(extra: JsonObject) -> Json:
    metadata = extra.get("metadata")
    return cast(JsonObject, metadata).get("edgeType") if isinstance(metadata, dict) else None


def _kind(
    source_port: str, target_port: str, edge_type: Json, data_types: tuple[str, str]
) -> EdgeKind:
    """Return the kind of an edge.

    The edge's own word counts, except that reserved ports stay what they are where it says
    ``data``: the editor has no word for an error edge. Without a word the declared data types
    decide.
    """
    reserved = reserved_kind(source_port, target_port)
    if reserved == "loopback" or edge_type == "loopback":
        return "loopback"
    if edge_type in ("tool", "trigger"):
        return cast(EdgeKind, edge_type)
    if reserved is not None:
        return reserved
    if edge_type != "data":
        if "tool" in data_types:
            return "tool"
        if "trigger" in data_types:
            return "trigger"
    return "data"


def _nameless(edge: Edge, where: str) -> str | None:
    sides = [
        name
        for name, port in (("source", edge.source_port), ("target", edge.target_port))
        if not port
    ]
    if not sides or edge.kind in ("trigger", "tool"):
        return None
    return f"{where} has no port at its {' and '.join(sides)}: it delivers nothing (DATA-1)"
