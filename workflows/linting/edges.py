"""Edges that do not do what they look like."""

from collections.abc import Iterator

from workflows.linting.advice import Advice
from workflows.linting.starting import cannot_fail
from workflows.linting.ways import Ways
from workflows.plan import Plan
from workflows.state_updates import CONTROL_OUTPUTS


def edge_advice(plan: Plan, ways: Ways) -> Iterator[Advice]:
    """Yield the warnings of the document, and edges without the effect they seem to have."""
    del ways
    graph = plan.resolved.graph
    for said in sorted(graph.warnings):
        yield Advice(code="document", message=said)
    for edge in sorted(graph.edges, key=str):
        if edge.condition is not None:
            yield Advice(
                code="edge_condition",
                message=f"edge '{edge}' has a condition, which is kept and gates nothing (SG-9); "
                "put a branch or a switch before it",
                edge=str(edge),
            )
    for node in plan.nodes.values():
        wires = (*graph.incoming[node.node.id], *graph.outgoing[node.node.id])
        if wires and all(edge.kind == "tool" for edge in wires):
            yield Advice(
                code="tool_runs_at_once",
                message=f"node {node.node.id!r} hangs on tool edges alone, which are ignored: it "
                "runs once, when the run starts",
                node=node.node.id,
            )
        for edge in graph.outgoing[node.node.id]:
            if edge.source_port in node.hidden:
                yield Advice(
                    code="hidden_port_wired",
                    message=f"edge '{edge}' leaves a hidden port: it orders the two nodes and "
                    "delivers nothing (DATA-8)",
                    node=node.node.id,
                    edge=str(edge),
                )
        for edge in graph.outgoing[node.node.id]:
            if edge.source_port in CONTROL_OUTPUTS:
                yield Advice(
                    code="control_output_wired",
                    message=f"edge '{edge}' leaves {edge.source_port!r}, which tells the engine "
                    "something and is no output: it orders the two nodes at most, "
                    "and delivers nothing; wire another port",
                    node=node.node.id,
                    edge=str(edge),
                )
        for edge in node.errors:
            source = plan.nodes[edge.source]
            if cannot_fail(source):
                yield Advice(
                    code="error_edge_never_followed",
                    message=f"edge '{edge}' waits for a failure that type {source.node.type!r} "
                    "does not have",
                    node=source.node.id,
                    edge=str(edge),
                )
