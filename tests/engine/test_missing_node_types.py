"""A worker that lacks a node's type leaves the call to one that has it, and ends nothing."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import Failure
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.graph_folder import GraphFolder
from activities.nodes import REGISTRY, NodeRegistry
from client.failures import DATA_CONVERTER
from seeding.model import JsonObject
from tests.engine.graphs import count_of_type, graph, review, until_called, until_completed
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, is_cancelled, until, update
from tests.engine.test_replay import replayed
from workflows.wire import RUN_NODE

APPROVED: JsonObject = graph(
    "approved", {"gate": "gate", "pay": "noted"}, "gate.answer -> pay.answer"
)


class OlderInbound(ActivityInboundInterceptor):
    """Fails node calls as the SDK of a worker does that cannot read their newer form."""

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        """Refuse a node call, and let every other activity through."""
        if activity.info().activity_type == RUN_NODE:
            raise ApplicationError("Failed decoding arguments")
        return await super().execute_activity(input)


class OlderWorker(Interceptor):
    """Makes a worker one of an earlier version."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Return what fails node calls."""
        return OlderInbound(next)


def registry_without(*names: str) -> NodeRegistry:
    """Return what a worker serves whose FERMATA_NODES lacks the module of some types."""
    registry = NodeRegistry()
    for name in REGISTRY.types():
        registered = REGISTRY.find(name)
        if registered is not None and name not in names:
            registry.add(registered)
    return registry


def lack(stage: Stage, *names: str) -> None:
    """Have the stage's next worker lack node types; the log stays the same."""
    assert stage.resources is not None
    stage.resources = replace(stage.resources, registry=registry_without(*names))


@asynccontextmanager
async def another_worker(stage: Stage) -> AsyncGenerator[Stage]:
    """Serve the stage's queue and log by one more worker, which has every type."""
    # One client registers no two workers on a queue.
    client = await Client.connect(
        stage.client.service_client.config.target_host, data_converter=DATA_CONVERTER
    )
    other = Stage(client, stage.log_url, task_queue=stage.task_queue)
    await other.serve()
    try:
        yield other
    finally:
        await other.close()


async def until_given_back(handle: Handle, times: int = 1) -> Failure:
    """Return why a worker gave the pending call back, once so many tries did."""
    for _ in range(1000):
        described = await handle.describe()
        for pending in described.raw_description.pending_activities:
            if pending.HasField("last_failure") and pending.attempt > times:
                return pending.last_failure
        await asyncio.sleep(0.02)
    raise AssertionError("no worker gave the call back")


async def answered_without_the_type(
    stage: Stage, thread: str, document: JsonObject, *lacking: str
) -> Handle:
    """Return a run that waited, and was answered when the only worker lacked a type."""
    handle = await stage.start(thread, graph=document)
    await until(handle, "awaiting")
    lack(stage, *lacking)
    await stage.restart()
    reply = await update(handle, "resume", {"decision": "approve"})
    assert reply["accepted"] is True
    return handle


# --- waiting --------------------------------------------------------------------------------


async def test_an_answered_run_waits_for_a_worker_with_the_type_and_the_node_runs_once(
    idle: Stage,
) -> None:
    thread = "lacking-answered"
    await idle.serve()
    handle = await answered_without_the_type(idle, thread, APPROVED, "noted")
    shown = await until_given_back(handle)
    assert shown.message == (
        "node 'pay' waits for a worker that serves node type 'noted': this one does not; "
        "name the type's module in FERMATA_NODES"
    )
    assert shown.application_failure_info.type == "UnknownNodeType"
    assert thread not in CALLS
    assert idle.log.effects(thread) == []
    async with another_worker(idle):
        result = await handle.result()
    assert result["status"] == "completed"
    assert list(result["results"]) == ["gate", "pay"]
    assert CALLS[thread] == ["pay:0"]
    assert [(row.node_id, row.status, row.attempts) for row in idle.log.effects(thread)] == [
        ("pay", "done", 1)
    ]
    assert (await handle.query("progress"))["pay"] == {"status": "completed", "executions": 1}
    assert [row.kind for row in idle.log.checkpoints(thread)] == ["pause", "node", "node", "end"]


async def test_however_long_it_waits_its_history_does_not_grow(idle: Stage) -> None:
    await idle.serve()
    handle = await answered_without_the_type(idle, "lacking-long", APPROVED, "noted")
    await until_given_back(handle)
    before = len((await handle.fetch_history()).events)
    await until_given_back(handle, times=6)
    assert len((await handle.fetch_history()).events) == before
    async with another_worker(idle):
        assert (await handle.result())["status"] == "completed"


async def test_the_tries_on_workers_without_the_type_are_none_of_the_nodes_retries(
    idle: Stage,
) -> None:
    """ERR-11: a node with two retries fails twice after four such tries, and still completes."""
    thread = "lacking-retries"
    document = graph(
        "retried",
        {"gate": "gate", "try": ("flaky", {"failures": 2})},
        "gate.answer -> try.answer",
    )
    await idle.serve()
    handle = await answered_without_the_type(idle, thread, document, "flaky")
    await until_given_back(handle, times=4)
    async with another_worker(idle) as other:
        await idle.stop()
        result = await handle.result()
        rows = other.log.effects(thread)
    assert len(result["results"]["try"]["keys"]) == 3
    assert [(row.status, row.attempts) for row in rows] == [("done", 3)]


async def test_a_worker_that_cannot_read_the_call_leaves_it_to_another_one_too(
    idle: Stage,
) -> None:
    thread = "lacking-version"
    idle.interceptors = [OlderWorker()]
    await idle.serve()
    handle = await idle.start(thread, graph=graph("one", {"only": "noted"}))
    assert (await until_given_back(handle)).message == "Failed decoding arguments"
    async with another_worker(idle) as other:
        assert list((await handle.result())["results"]) == ["only"]
        assert [row.attempts for row in other.log.effects(thread)] == [1]
    assert CALLS[thread] == ["only:0"]


async def test_with_both_kinds_of_workers_every_call_soon_reaches_one_that_has_the_type(
    idle: Stage,
) -> None:
    lack(idle, "noted")
    async with another_worker(idle):
        # A start without the type is refused, so the worker that lacks it comes after them.
        handles = [
            await idle.start(f"lacking-both-{number}", graph=APPROVED) for number in range(10)
        ]
        for handle in handles:
            await until(handle, "awaiting")
        await idle.serve()
        for handle in handles:
            await handle.signal("resume", {"decision": "approve"})
        results = await asyncio.gather(*(handle.result() for handle in handles))
    assert [result["status"] for result in results] == ["completed"] * 10
    assert [CALLS[f"lacking-both-{number}"] for number in range(10)] == [["pay:0"]] * 10


async def test_a_run_can_be_paused_and_lifted_while_its_call_waits(idle: Stage) -> None:
    thread = "lacking-paused"
    document = graph(
        "paid-and-told",
        {"gate": "gate", "pay": "noted", "tell": "noted"},
        "gate.answer -> pay.answer",
        "pay.value -> tell.value",
    )
    await idle.serve()
    handle = await answered_without_the_type(idle, thread, document, "noted")
    await until_given_back(handle)
    await update(handle, "pause", {"reason": "hold on"})
    assert (await until(handle, "paused"))["currentNodeId"] == "pay"
    async with another_worker(idle):
        await until_completed(handle, "pay")
        assert CALLS[thread] == ["pay:0"]
        await update(handle, "resume", {})
        result = await handle.result()
    assert list(result["results"]) == ["gate", "pay", "tell"]
    assert CALLS[thread] == ["pay:0", "tell:0"]


# --- taking a run over ----------------------------------------------------------------------


async def test_a_paused_run_is_taken_over_only_by_a_worker_with_all_of_its_types(
    idle: Stage,
) -> None:
    thread = "lacking-adopted"
    await idle.serve()
    gone = await idle.start(thread, graph=APPROVED)
    ticket = (await until(gone, "awaiting"))["run"]["waitingFor"][0]["ticket"]
    await gone.terminate()
    lack(idle, "noted")
    await idle.restart()
    handle = await idle.start(thread, graph=APPROVED)
    shown = await until_given_back(handle)
    assert shown.application_failure_info.type == "InvalidGraph"
    assert shown.message.startswith("graph 'approved' cannot run: node 'pay': unknown type 'noted'")
    assert "FERMATA_NODES" in shown.message
    async with another_worker(idle):
        state = await until(handle, "awaiting")
        assert state["run"]["waitingFor"][0]["ticket"] == ticket
        await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
        assert list((await handle.result())["results"]) == ["gate", "pay"]
    assert CALLS[thread] == ["pay:0"]


async def test_a_run_is_taken_over_with_its_graph_from_the_log_by_a_worker_without_the_folder(
    idle: Stage,
) -> None:
    """SG-13."""
    await idle.serve()
    gone = await idle.start("lacking-folder", **review(500))
    ticket = (await until(gone, "awaiting"))["run"]["waitingFor"][0]["ticket"]
    await gone.terminate()
    assert idle.resources is not None
    idle.resources = replace(idle.resources, graphs=GraphFolder([]))
    await idle.restart()
    handle = await idle.start("lacking-folder", graph="expense-review")
    assert (await until(handle, "awaiting"))["run"]["waitingFor"][0]["ticket"] == ticket
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    assert (await handle.result())["status"] == "completed"


# --- cancelled ------------------------------------------------------------------------------


@pytest.mark.parametrize("door", ["signal", "native"])
async def test_cancelled_while_its_call_waits_the_run_is_canceled_and_the_node_never_runs(
    idle: Stage, door: str, tmp_path: Path
) -> None:
    thread = f"lacking-cancelled-{door}"
    await idle.serve()
    handle = await answered_without_the_type(idle, thread, APPROVED, "noted")
    await until_given_back(handle)
    if door == "signal":
        await handle.signal("cancel", {"reason": "enough"})
    else:
        await handle.cancel()
    assert await is_cancelled(handle)
    assert await count_of_type(handle, EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED) == 1
    assert [row.kind for row in idle.log.checkpoints(thread)] == ["pause", "node", "end"]
    assert idle.log.effects(thread) == []
    run = idle.log.latest_run(thread)
    assert run is not None
    assert run.cause is not None
    assert run.cause.kind == "Cancelled"
    path = tmp_path / "history.json"
    path.write_text((await handle.fetch_history()).to_json())
    assert [shown["state"]["status"] for shown in replayed(0, path)] == ["cancelled"]
    async with another_worker(idle):
        following = await idle.run(thread, {"graph": graph("next", {"only": "no_op"})})
    assert following["start"]["source"] == "thread"
    assert thread not in CALLS


async def cancelled_in_its_node(stage: Stage, thread: str) -> Handle:
    """Return a run whose node goes on although its worker was told of the run's cancel."""
    GATES[thread] = threading.Event()
    await stage.serve()
    handle = await stage.start(thread, graph=graph("deaf", {"first": "hears_cancel"}))
    await until_called(thread, "called")
    await handle.signal("cancel", {"reason": "enough"})
    await until_called(thread, "heard")
    return handle


async def test_a_node_that_runs_when_its_run_is_cancelled_comes_to_its_end(idle: Stage) -> None:
    """INT-5: also once its worker has heard of the cancel."""
    thread = "cancelled-in-node"
    handle = await cancelled_in_its_node(idle, thread)
    GATES[thread].set()
    assert await is_cancelled(handle)
    assert CALLS[thread] == ["called", "heard"]
    assert [(row.node_id, row.kind) for row in idle.log.checkpoints(thread)] == [
        ("first", "node"),
        (None, "end"),
    ]
    assert [(row.status, row.attempts) for row in idle.log.effects(thread)] == [("done", 1)]


async def test_such_a_node_does_not_hold_up_its_workers_stop_and_goes_on_at_the_next(
    idle: Stage,
) -> None:
    thread = "cancelled-in-node-stopped"
    handle = await cancelled_in_its_node(idle, thread)
    await idle.stop()
    GATES[thread].set()
    await idle.serve()
    assert await is_cancelled(handle)
    assert CALLS[thread] == ["called", "heard", "called", "heard nothing"]
    assert [(row.status, row.attempts) for row in idle.log.effects(thread)] == [("done", 2)]
    assert [row.kind for row in idle.log.checkpoints(thread)] == ["node", "end"]


async def test_where_the_next_worker_lacks_the_type_the_cancelled_run_ends_without_its_outcome(
    idle: Stage,
) -> None:
    thread = "cancelled-in-node-lacking"
    handle = await cancelled_in_its_node(idle, thread)
    await idle.stop()
    lack(idle, "hears_cancel")
    await idle.serve()
    assert await is_cancelled(handle)
    assert CALLS[thread] == ["called", "heard"]
    assert [row.status for row in idle.log.effects(thread)] == ["begun"]
    assert [row.kind for row in idle.log.checkpoints(thread)] == ["end"]
