"""Ports that nobody feeds, and texts that name one."""

from collections.abc import Iterator, Mapping

from seeding.model import Json
from workflows.control.templates import template_ports
from workflows.linting.advice import Advice
from workflows.linting.ways import Ways, excludes
from workflows.plan import NodePlan, Plan

NEEDED: Mapping[str, tuple[str, ...]] = {
    "for_each": ("items",),
    "foreach": ("items",),
    "branch": ("data",),
    "if_else": ("data",),
    "http_request": ("url",),
}
"""Ports without which a node of a built-in type fails; config stands in for those it names."""

TEMPLATES: Mapping[str, str] = {
    "gate": "message",
    "reply": "message",
    "chat_output": "message",
    "text_output": "message",
}
"""The config key that is filled in from the ports, by type."""


def port_advice(plan: Plan, ways: Ways) -> Iterator[Advice]:
    """Yield what is missing at ports, and which are fed by more than one."""
    for node in plan.nodes.values():
        yield from _unfed(node)
        yield from _unfed_template(node)
        yield from _fed_by_many(plan, ways, node)


def _fed(node: NodePlan) -> dict[str, bool]:
    edges = (*(edge for _, edges in node.ports for edge in edges), *node.errors, *node.returns)
    return {edge.target_port: True for edge in edges}


def _unfed(node: NodePlan) -> Iterator[Advice]:
    fed = _fed(node)
    for port in NEEDED.get(node.node.type, ()):
        if port not in fed and not node.node.config.get(port):
            yield Advice(
                code="port_not_fed",
                message=f"node {node.node.id!r} ({node.node.type}) needs port {port!r}, which "
                "nothing feeds: it fails in every run whose request does not give "
                f"input.{node.node.id}.{port}",
                node=node.node.id,
            )


def _unfed_template(node: NodePlan) -> Iterator[Advice]:
    key = TEMPLATES.get(node.node.type)
    text: Json = node.node.config.get(key) if key is not None else None
    if not isinstance(text, str):
        return
    fed = _fed(node)
    for port in template_ports(text):
        if port not in fed:
            yield Advice(
                code="text_names_unfed_port",
                message=f"node {node.node.id!r}: {key} names {{{port}}}, and nothing feeds that "
                "port: it stays in the text as it stands, where the request does not give "
                f"input.{node.node.id}.{port}",
                node=node.node.id,
            )


def _fed_by_many(plan: Plan, ways: Ways, node: NodePlan) -> Iterator[Advice]:
    """DATA-2: of several values the newest execution's wins; arms that exclude each other pass."""
    for port, edges in node.ports:
        for index, edge in enumerate(edges):
            others = [
                other
                for other in edges[:index]
                if other.source != edge.source
                and not any(
                    excludes(plan, gateway, name, other_name)
                    for gateway, name in sorted(ways.of_edge[edge])
                    for other_gateway, other_name in sorted(ways.of_edge[other])
                    if gateway == other_gateway
                )
            ]
            if others:
                named = ", ".join(repr(source) for source in sorted({e.source: 0 for e in edges}))
                yield Advice(
                    code="port_fed_by_many",
                    message=f"port {port!r} of node {node.node.id!r} is fed by {named}: the node "
                    "runs at the first of them, and the newest value is taken (DATA-2); give "
                    "each a port of its own, or join them in a merge",
                    node=node.node.id,
                )
                break
