"""The graph that a request names: a document, a registered id, or an id with its digest."""

from activities.resources import Resources
from seeding.errors import InvalidGraph, UnknownGraph
from seeding.request import RunRequest
from workflows.graph.document import read_graph
from workflows.graph.model import Graph, ResolvedGraph
from workflows.graph.resolution import resolve
from workflows.scheduler import make_plan

SHORTEST_DIGEST = 16
"""Hex digits that ``id@digest`` has at the least."""


def graph_of(resources: Resources, request: RunRequest) -> ResolvedGraph:
    """Return the graph a request names, with its types.

    Raises:
        UnknownGraph: No graph of that name is registered, or in the log.
        InvalidGraph: It cannot run, or this worker does not serve its types.
    """
    if not isinstance(request.graph, str):
        return with_types(resources, read_graph(request.graph))
    return with_types(resources, _registered(resources, request.graph))


def with_types(resources: Resources, graph: Graph) -> ResolvedGraph:
    """Return a graph with its types.

    Raises:
        InvalidGraph: It cannot run, or this worker does not serve its types.
    """
    resolved = resolve(graph, resources.registry.types())
    make_plan(resolved)  # What no plan can be made of is refused here, not in the run.
    return resolved


def named_or_refused(
    resources: Resources, request: RunRequest
) -> ResolvedGraph | UnknownGraph | InvalidGraph:
    """Return the graph a request names, or why it is none: not every start needs it."""
    try:
        return graph_of(resources, request)
    except (UnknownGraph, InvalidGraph) as refusal:
        return refusal


def _registered(resources: Resources, reference: str) -> Graph:
    """Return a graph by id, or by ``id@digest`` also where only the log still has it."""
    try:
        return resources.graphs.find(reference)
    except UnknownGraph:
        graph_id, _, digest = reference.partition("@")
        found = [
            stored
            for stored in resources.log.graphs_named(graph_id)
            if len(digest) >= SHORTEST_DIGEST and stored.digest.startswith(digest)
        ]
        if len(found) != 1:
            raise
        return Graph.model_validate(found[0].body)
