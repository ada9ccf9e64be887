"""Graphs whose first node fails, and what such a run leaves behind."""

from typing import Any

from seeding.model import JsonObject
from tests.engine.graphs import graph
from tests.engine.stage import Handle, Stage, failure_of


def handled(kind: str, config: JsonObject | None = None, *more: str) -> JsonObject:
    """A graph whose first node has an error edge to a handler, and a successor."""
    return graph(
        "handled",
        {"risky": (kind, config or {}), "handler": "noted", "after": "noted"},
        "risky.error -> handler.error",
        "risky.value -> after.value",
        *more,
    )


def alone(kind: str, config: JsonObject | None = None) -> JsonObject:
    return graph("alone", {"risky": (kind, config or {}), "after": "noted"}, "risky.v -> after.v")


async def failed_run(stage: Stage, thread: str, document: JsonObject) -> JsonObject:
    """Run a graph that fails and return the result in the failure's details."""
    handle = await stage.start(thread, graph=document)
    failure = await failure_of(handle)
    assert failure.type == "Error"
    assert failure.non_retryable
    (result,) = failure.details
    assert failure.message == stage.log.state(thread).state.error
    return result


async def cause_of(stage: Stage, thread: str) -> JsonObject:
    run = stage.log.latest_run(thread)
    assert run is not None
    assert run.cause is not None
    return run.cause.to_json()


def effect_calls(events: Any) -> list[str]:
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]


async def calls_of(handle: Handle) -> int:
    return effect_calls((await handle.fetch_history()).events).count("run_node")
