"""Branches that are chosen nowhere, missing or misspelt."""

from collections.abc import Iterator
from difflib import get_close_matches

from workflows.graph.branch_lists import BRANCHING_TYPES, listed_branches
from workflows.linting.advice import Advice
from workflows.linting.ways import Ways
from workflows.plan import NodePlan, Plan, branch_name

_ALIKE = 0.75


def branching_advice(plan: Plan, ways: Ways) -> Iterator[Advice]:
    """Yield what is odd about the branches of a graph."""
    del ways
    for node in plan.nodes.values():
        yield from _without_default(node)
        yield from _misspelt(node)


def _without_default(node: NodePlan) -> Iterator[Advice]:
    if node.node.type not in BRANCHING_TYPES or node.routes_errors:
        return
    branches = listed_branches(node.node)
    values = [branch.given.get("value") for branch in branches]
    if not branches or any(branch.is_default for branch in branches):
        return
    if True in values and False in values:
        return
    yield Advice(
        code="no_default_branch",
        message=f"node {node.node.id!r} ({node.node.type}) has no default: where no branch "
        "matches it fails with NoBranch, and the run with it; mark one isDefault, or wire "
        f"{node.node.id}.error",
        node=node.node.id,
    )


def _misspelt(node: NodePlan) -> Iterator[Advice]:
    """A port of a type that declares branches, spelt almost as one of them, is never gated."""
    if node.type.kind != "effect" or not node.branches:
        return
    for edge in (*node.outgoing, *node.loopbacks):
        name = branch_name(edge.source_port)
        if name is None or name in node.branches:
            continue
        alike = get_close_matches(name, sorted(node.branches), n=1, cutoff=_ALIKE)
        if alike:
            yield Advice(
                code="misspelt_branch",
                message=f"edge '{edge}' leaves port {edge.source_port!r}, which is no branch of "
                f"type {node.node.type!r}, so nothing gates it; is {alike[0]!r} meant?",
                node=node.node.id,
                edge=str(edge),
            )
