"""Small graphs that several tests run, and waiting for their nodes to be called."""

import asyncio
from typing import Any

from temporalio.api.enums.v1 import EventType

from seeding.model import JsonObject
from tests.engine.nodes import CALLS
from tests.engine.stage import Handle

REVIEW: JsonObject = {"graph": "expense-review"}


def review(*amounts: int) -> JsonObject:
    """Return a start of the expense review; an amount above 100 waits at the gate."""
    return {**REVIEW, "input": {"items": {"value": list(amounts)}}}


def graph(name: str, nodes: dict[str, Any], *edges: str) -> JsonObject:
    """Return a graph document; a node is its type, or its type and config."""
    listed: list[JsonObject] = []
    for node_id, given in nodes.items():
        if isinstance(given, str):
            listed.append({"id": node_id, "type": given})
        else:
            listed.append({"id": node_id, "type": given[0], "config": given[1]})
    return {"id": name, "nodes": listed, "edges": list(edges)}


def held_chain(name: str) -> JsonObject:
    """Return a chain whose first node ends when the event ``name`` is set."""
    return graph(
        "held-chain",
        {"first": ("held", {"name": name}), "second": "noted"},
        "first.value -> second.value",
    )


GATE_THEN_HELD: JsonObject = graph(
    "gate-then-held",
    {"gate": "gate", "after": ("held", {"name": "never"})},
    "gate.answer -> after.answer",
)

TWO_GATES: JsonObject = graph(
    "two-gates",
    {
        "left": ("gate", {"message": "Left?"}),
        "right": ("gate", {"message": "Right?"}),
        "told": ("reply", {"message": "{left} {right}"}),
    },
    "left.answer -> told.left",
    "right.answer -> told.right",
)


async def until_called(thread: str, *names: str) -> None:
    """Wait until the nodes have been called on the thread, each ``node:occurrence``."""
    for _ in range(400):
        if all(name in CALLS.get(thread, []) for name in names):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{names} were not all called on {thread}: {CALLS.get(thread)}")


async def until_completed(handle: Handle, node_id: str, status: str = "completed") -> None:
    """Wait until a node's newest execution is committed with this status."""
    for _ in range(400):
        if (await handle.query("progress"))[node_id]["status"] == status:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"node {node_id} was never {status}")


async def until_waiting_for(handle: Handle, *tickets: str) -> list[JsonObject]:
    """Wait until just these tickets of the run are open, each ``node:occurrence:n``."""
    wanted = [f"{handle.first_execution_run_id}:{ticket}" for ticket in tickets]
    for _ in range(400):
        listed = await handle.query("tickets")
        if [ticket["ticket"] for ticket in listed] == wanted:
            return listed
        await asyncio.sleep(0.01)
    raise AssertionError(f"the run never waited for just {wanted}")


async def count_of_type(handle: Handle, event_type: "EventType.ValueType") -> int:
    """How many events of a type a run's history holds."""
    events = (await handle.fetch_history()).events
    return sum(event.event_type == event_type for event in events)


async def count_events(handle: Handle) -> int:
    """Return how many events the run's history has."""
    return len((await handle.fetch_history()).events)
