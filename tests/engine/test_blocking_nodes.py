"""A node that blocks its event loop holds up neither its worker nor other runs."""

import asyncio
import threading

import pytest

import activities.run_node
import tests.engine.failing_nodes as failing_nodes
from tests.engine.graphs import graph, until_called
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage

assert failing_nodes.__name__  # Imported for the node types it declares.

BESIDE = graph(
    "beside",
    {"start": ("value", {"value": 21}), "double": "sync_double"},
    "start.value -> double.value",
)


async def until_heartbeat(handle: Handle) -> None:
    """Wait until the server has a heartbeat of the run's node."""
    for _ in range(400):
        pending = (await handle.describe()).raw_description.pending_activities
        if any(one.HasField("last_heartbeat_time") for one in pending):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no heartbeat came")


async def test_while_a_node_blocks_its_worker_heartbeats_commits_and_answers(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activities.run_node, "HEARTBEAT_SECONDS", 0.05)
    thread = "blocking"
    gate = GATES.setdefault(thread, threading.Event())
    document = graph("blocked", {"a": ("blocks_its_loop", {"name": thread})})
    handle = await stage.start(thread, graph=document)
    await until_called(thread, "a:0")
    try:
        await until_heartbeat(handle)
        beside = await stage.run("beside-a-blocking-one", {"graph": BESIDE})
        state = await handle.query("state")
    finally:
        gate.set()
    assert beside["results"]["double"] == {"value": 42}
    assert state["run"]["phase"] == "running"
    assert (await handle.result())["results"] == {"a": {"released": True}}
    assert CALLS[thread] == ["a:0"]


async def test_a_worker_stops_although_a_node_blocks_and_the_effect_is_run_elsewhere(
    stage: Stage,
) -> None:
    thread = "blocking-stop"
    gate = GATES.setdefault(thread, threading.Event())
    document = graph("blocked", {"a": ("blocks_its_loop", {"name": thread})})
    handle = await stage.start(thread, graph=document)
    await until_called(thread, "a:0")
    try:
        await asyncio.wait_for(stage.stop(), 10)
    finally:
        gate.set()
    await stage.serve()
    assert (await handle.result())["results"] == {"a": {"released": True}}
    assert CALLS[thread] == ["a:0", "a:0"]


@pytest.mark.parametrize("kind", ["knows_its_activity", "knows_its_activity_plainly"])
async def test_a_node_knows_the_activity_it_runs_in(stage: Stage, kind: str) -> None:
    result = await stage.run(kind, {"graph": graph("known", {"a": kind})})
    assert result["results"]["a"] == {"type": "run_node", "workflow": f"thread/{kind}"}
