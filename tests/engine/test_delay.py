"""``delay``: a timer that passes its inputs on."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from tests.engine.graphs import count_of_type, graph
from tests.engine.stage import Handle, Stage, failure_of, is_cancelled, staged, until
from workflows.delays import Delays

DELAYED = graph(
    "delayed",
    {"first": "no_op", "wait": ("delay", {"duration": "3d"}), "last": "noted"},
    "first.value -> wait.item",
    "wait.item -> last.item",
)


@pytest_asyncio.fixture(loop_scope="session")
async def skipping(skipping_client: Client, log_url: str) -> AsyncGenerator[Stage]:
    """A stage on the server whose time can be moved."""
    async with staged(skipping_client, log_url) as served:
        yield served


async def test_what_went_in_comes_out_under_the_same_port_three_days_later(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    handle = await skipping.start("delayed", graph=DELAYED)
    await until(handle, "running")
    for _ in range(200):
        if await count_of_type(handle, EventType.EVENT_TYPE_TIMER_STARTED):
            break
    await clock.fast_forward(handle, timedelta(days=2))
    assert (await handle.query("progress"))["wait"] == {"status": "running", "executions": 1}
    await clock.fast_forward(handle, timedelta(days=1, minutes=1))
    result = await handle.result()
    assert result["results"]["wait"] == {"item": 0}
    assert result["results"]["last"]["value"] == {"item": 0}


async def test_a_running_delay_holds_up_no_cancel(stage: Stage) -> None:
    handle = await stage.start("delay-cancelled", graph=DELAYED)
    for _ in range(200):
        if await count_of_type(handle, EventType.EVENT_TYPE_TIMER_STARTED):
            break
    await handle.signal("cancel", {})
    assert await is_cancelled(handle)


async def test_a_delay_goes_on_in_the_next_execution_and_does_not_begin_anew(
    client: Client, log_url: str
) -> None:
    both = graph(
        "delay-beside-loop",
        {
            "wait": ("delay", {"duration": "2s"}),
            "items": "value",
            "each": "for_each",
            "work": "no_op",
            "last": "noted",
        },
        "items.value -> each.items",
        "each.current_item -> work.item",
        "work.value -> each.loop_back",
        "each.collected_results -> last.results",
        "wait.nothing -> last.nothing",
    )
    async with staged(client, log_url, continue_after=40) as stage:
        handle = await stage.start(
            "delay-continued", graph=both, input={"items": {"value": [0] * 25}}
        )
        latest: Handle = client.get_workflow_handle(handle.id)
        assert (await handle.result())["status"] == "completed"
        assert (await latest.describe()).run_id != handle.first_execution_run_id


def test_a_delay_that_a_paused_execution_does_not_begin_goes_along_to_the_next_one() -> None:
    begun = {"wait:0": "2026-03-01T12:00:00+00:00", "rest:1": "2026-03-02T12:00:00+00:00"}
    delays = Delays(begun)
    assert Delays(delays.carry()).carry() == begun
    delays.keep_only(["rest:1"])
    assert delays.carry() == {"rest:1": "2026-03-02T12:00:00+00:00"}
    assert not delays.is_running("rest:1")


@pytest.mark.parametrize("duration", [None, 0, "soon", -1])
async def test_a_delay_without_a_duration_is_refused(stage: Stage, duration: object) -> None:
    handle = await stage.start(
        f"delay-{duration}", graph=graph("d", {"wait": ("delay", {"duration": duration})})
    )
    failure = await failure_of(handle)
    assert failure.type == "InvalidGraph"
    assert "node 'wait'" in failure.message
    assert "duration" in failure.message
