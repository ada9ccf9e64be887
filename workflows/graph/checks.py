"""What makes a readable graph one that cannot run: cycles, unknown ports, bad config."""

from collections.abc import Iterator, Mapping

from workflows.graph.builtin_types import (
    BUILTIN_TYPES,
    NOTES,
    has_output_port,
    input_ports,
    output_ports,
)
from workflows.graph.config_checks import config_problems, rounds_problem
from workflows.graph.fields import listing
from workflows.graph.model import (
    ERROR_PORT,
    LOOP_BACK_PORT,
    TRIGGER_PORT,
    Edge,
    Graph,
    Node,
    is_internal,
)


def find_problems(graph: Graph) -> list[str]:
    """Return why ``graph`` cannot run, one text a problem, in the order of the document.

    Types that are not built in are not looked at: their ports and config are their own.
    """
    heads = {edge.target: True for edge in graph.edges if edge.kind == "loopback"}
    problems: list[str] = []
    for node in graph.nodes:
        problems.extend(config_problems(node))
        problems.extend(_hiding_problems(node))
        if node.type in ("for_each", "foreach") or node.id in heads:
            problem = rounds_problem(node)
            if problem is not None:
                problems.append(problem)
    for edge in graph.edges:
        problems.extend(_port_problems(graph, edge))
    cycle = find_cycle(graph)
    if cycle is not None:
        problems.append(
            f"the nodes {' -> '.join(repr(node) for node in cycle)} form a cycle that no "
            "loopback edge closes (CMP-5); let the edge that goes back enter port 'loop_back'"
        )
    return problems


def find_warnings(graph: Graph) -> list[str]:
    """Return what in ``graph`` has no effect although its author may expect one."""
    warnings: list[str] = []
    for edge in graph.edges:
        if edge.kind == "tool":
            warnings.append(f"tool edge '{edge}' is ignored: tools are not available")
        elif graph.by_id[edge.target].type == NOTES:
            warnings.append(f"edge '{edge}' enters notes, which execute nothing")
    return warnings


def find_cycle(graph: Graph) -> list[str] | None:
    """Return the nodes of a cycle that is no loopback, its first again as the last (CMP-5).

    Loopback and tool edges take no part. Of several cycles the same one is always returned,
    whatever order the document has; None where there is none.
    """
    following = {
        node: sorted({edge.target: True for edge in edges if edge.kind not in ("loopback", "tool")})
        for node, edges in graph.outgoing.items()
    }
    finished: dict[str, bool] = {}
    for start in sorted(following):
        if start not in finished:
            cycle = _cycle_from(start, following, finished)
            if cycle is not None:
                return cycle
    return None


def _cycle_from(
    start: str, following: Mapping[str, list[str]], finished: dict[str, bool]
) -> list[str] | None:
    """Walk depth first without recursion: a chain may be longer than the stack is deep."""
    path: dict[str, Iterator[str]] = {start: iter(following[start])}
    while path:
        node = next(reversed(path))
        for target in path[node]:
            if target in path:
                names = list(path)
                return [*names[names.index(target) :], target]
            if target not in finished:
                path[target] = iter(following[target])
                break
        else:
            del path[node]
            finished[node] = True
    return None


def _hiding_problems(node: Node) -> Iterator[str]:
    for port in node.hidden:
        if port in (TRIGGER_PORT, ERROR_PORT, LOOP_BACK_PORT):
            yield f"node {node.id!r}: hidden names {port!r}, a reserved port; it carries no output"
        elif node.type in BUILTIN_TYPES and not has_output_port(node, port):
            yield (
                f"node {node.id!r}: hidden names {port!r}, and {node.type} has no such output; "
                f"its ports are {listing(output_ports(node))}"
            )


def _port_problems(graph: Graph, edge: Edge) -> Iterator[str]:
    if edge.kind == "tool":
        return
    for side, port in (("leaves", edge.source_port), ("enters", edge.target_port)):
        if is_internal(port):
            yield (
                f"edge '{edge}' {side} port {port!r}: names of that form are the engine's own; "
                "a node type gets such an input by declaring it (SG-2)"
            )
    source, target = graph.by_id[edge.source], graph.by_id[edge.target]
    if source.type == NOTES:
        yield f"edge '{edge}' leaves node {source.id!r}, whose notes execute nothing"
    elif (
        source.type in BUILTIN_TYPES
        and edge.source_port
        and not has_output_port(source, edge.source_port)
    ):
        yield (
            f"edge '{edge}': node {source.id!r} ({source.type}) has no output port "
            f"{edge.source_port!r}; its ports are {listing(output_ports(source))}"
        )
    if target.type in BUILTIN_TYPES and edge.target_port:
        known = input_ports(target.type)
        if known is not None and edge.target_port not in known:
            yield (
                f"edge '{edge}': node {target.id!r} ({target.type}) has no input port "
                f"{edge.target_port!r}; its ports are {listing(known)}"
            )
