"""Runs that leave a node waiting for a port that nothing can fill any more (SG-20)."""

from typing import Any

from seeding.model import JsonObject
from workflows.graph.model import Graph

from .graphs import graph
from .runs import Node, Run


def taking(*rounds: list[str]) -> Node:
    """Return a router that takes these branches, one list per execution, the last for ever."""
    return lambda inputs, n: {"active_branches": rounds[min(n, len(rounds) - 1)]}


WRITING = (
    "load.out -> fact_check.texts",
    "head.out -> planner.in",
    "planner.yes -> fact_check.in",
    "planner.no -> write.in",
    "fact_check.out -> assembler.citations",
    "write.out -> assembler.draft",
    "assembler.out -> review.in",
    "review.yes -> head.loop_back",
    "review.no -> done.in",
)
"""A planner that may send a round past the check whose citations the assembler needs."""

TYPES = {"planner": "router", "review": "router"}
BOTH_THEN_WRITE: dict[str, Node] = {
    "planner": taking(["yes", "no"], ["no"]),
    "review": taking(["yes"]),
}
IN: dict[str, JsonObject] = {"head": {"topic": "x"}}


def writing(*more: str, **given: Any) -> Graph:
    types = {**TYPES, **given.pop("types", {})}
    return graph(*WRITING, *more, types=types, **given)


def unfillable(**changed: Any) -> JsonObject:
    told: JsonObject = {
        "port": "citations",
        "round": 1,
        "loop": "head",
        "sources": ["fact_check"],
        "gateway": "planner",
    }
    return {key: value for key, value in {**told, **changed}.items() if value is not None}


def failed(run: Run) -> JsonObject:
    """Return what the unrouted failure that ended the run says."""
    assert run.cause is not None
    return run.cause.details["details"]
