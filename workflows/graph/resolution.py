"""From a readable graph to one that can run: types by name, checks, warnings."""

from collections.abc import Mapping

from seeding.errors import InvalidGraph, InvalidRequest
from seeding.model import JsonObject
from workflows.graph.builtin_types import BUILTIN_PORTS, BUILTIN_TYPES, NOTES, PLANNED
from workflows.graph.checks import find_problems, find_warnings
from workflows.graph.digest import graph_digest
from workflows.graph.fields import listing
from workflows.graph.model import LOOP_BACK_PORT, TRIGGER_PORT, Graph, NodeType, ResolvedGraph

_SHOWN = 20


def resolve(graph: Graph, effect_types: Mapping[str, NodeType]) -> ResolvedGraph:
    """Return ``graph`` with its digest and the types its nodes name.

    A built-in type is taken before an effect type of the same name. The warnings of reading
    are kept and those of resolution follow them; resolving a stored graph again adds none.

    Args:
        graph: A graph as it was read.
        effect_types: The types that workers serve, by name.

    Raises:
        InvalidGraph: A type is unknown, or the graph cannot run. Every problem is named in
            the message and, as a list, in ``details["problems"]``.
    """
    types = {**effect_types, **BUILTIN_TYPES}
    problems = [*_type_problems(graph, types), *find_problems(graph)]
    if problems:
        shown, left = problems[:_SHOWN], len(problems) - _SHOWN
        more = f"; and {left} more" if left > 0 else ""
        raise InvalidGraph(
            f"graph {graph.id!r} cannot run: {'; '.join(shown)}{more}", problems=[*problems]
        )
    warnings = tuple(dict.fromkeys((*graph.warnings, *find_warnings(graph))))
    return ResolvedGraph(
        graph=graph.model_copy(update={"warnings": warnings}),
        digest=graph_digest(graph),
        types={node.type: types[node.type] for node in graph.nodes},
    )


def _type_problems(graph: Graph, types: Mapping[str, NodeType]) -> list[str]:
    problems: list[str] = []
    unknown = False
    for node in graph.nodes:
        if node.type in types:
            continue
        if node.type in PLANNED:
            problems.append(
                f"node {node.id!r}: type {node.type!r} is not available in this version"
            )
        else:
            unknown = True
            problems.append(f"node {node.id!r}: unknown type {node.type!r}")
    if unknown:
        problems.append(
            f"the worker knows the types {listing(sorted(types))} (all workers of a task queue "
            "need the same FERMATA_NODES)"
        )
    return problems


def check_inputs(resolved: ResolvedGraph, given: Mapping[str, JsonObject]) -> None:
    """Refuse a request's ``input`` that names a node or port which could not receive it.

    A built-in type with ports of its own takes its own only; a type that takes any port, and
    an effect type, which declares none, take every name but the reserved ones.

    Raises:
        InvalidRequest: A node or port is unknown; the known ones are listed.
    """
    for node_id, ports in given.items():
        node = resolved.graph.by_id.get(node_id)
        if node is None:
            known = listing([each.id for each in resolved.graph.nodes])
            raise InvalidRequest(
                f"input.{node_id}: graph {resolved.graph.id!r} has no such node; "
                f"its nodes are {known}"
            )
        if node.type == NOTES:
            raise InvalidRequest(f"input.{node_id}: notes take no input")
        fillable = BUILTIN_PORTS[node.type].fillable if node.type in BUILTIN_PORTS else None
        for port in ports:
            _check_port(node_id, port, fillable)


def _check_port(node_id: str, port: str, fillable: tuple[str, ...] | None) -> None:
    where = f"input.{node_id}.{port}"
    if not port or port in (TRIGGER_PORT, LOOP_BACK_PORT) or port.startswith("__"):
        raise InvalidRequest(f"{where}: {port!r} is reserved and takes no input")
    if fillable is not None and port not in fillable:
        raise InvalidRequest(
            f"{where}: node {node_id!r} takes no such input; it takes {listing(fillable)}"
        )
