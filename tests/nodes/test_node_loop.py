"""The event loop of the nodes: cancelled with its caller, ended by nothing but its worker."""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Generator
from typing import Any

import pytest

from activities.node_loop import NodeLoop

WHO = contextvars.ContextVar("who", default="nobody")
EXITS = [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit()]


@pytest.fixture
def nodes() -> Generator[NodeLoop]:
    loop = NodeLoop()
    yield loop
    loop.close()


async def thread_name() -> str:
    return threading.current_thread().name


async def test_a_node_runs_on_a_thread_of_its_own_in_the_context_of_its_caller(
    nodes: NodeLoop,
) -> None:
    async def work() -> Any:
        return [await thread_name(), WHO.get()]

    WHO.set("me")
    assert (await nodes.run(work)).returned == ["node-loop", "me"]


@pytest.mark.parametrize("raised", EXITS, ids=lambda raised: type(raised).__name__)
async def test_whatever_a_node_raises_is_its_outcome_and_the_loop_goes_on(
    nodes: NodeLoop, raised: BaseException
) -> None:
    async def work() -> Any:
        raise raised

    assert (await nodes.run(work)).error is raised
    assert (await nodes.run(thread_name)).returned == "node-loop"


async def test_an_exit_in_a_task_beside_the_node_does_not_end_the_loop(
    nodes: NodeLoop, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)

    async def beside() -> None:
        raise SystemExit(3)

    async def work() -> Any:
        task = asyncio.create_task(beside())
        while not task.done():
            await asyncio.sleep(0)
        return type(task.exception()).__name__

    assert (await nodes.run(work)).returned == "SystemExit"
    assert (await nodes.run(thread_name)).returned == "node-loop"
    assert "the loop of the nodes goes on after" in caplog.text


async def begun(nodes: NodeLoop, work: Any, started: threading.Event) -> "asyncio.Task[Any]":
    """Return a caller whose node has begun."""
    caller = asyncio.create_task(nodes.run(work))
    await asyncio.to_thread(started.wait, 10)
    return caller


async def test_a_cancelled_caller_waits_until_its_node_has_cleaned_up(nodes: NodeLoop) -> None:
    started, notes = threading.Event(), list[str]()

    async def work() -> Any:
        try:
            started.set()
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            notes.append("cleaned up")

    caller = await begun(nodes, work, started)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert notes == ["cleaned up"]


async def test_what_a_node_still_returns_when_cancelled_counts(nodes: NodeLoop) -> None:
    started = threading.Event()

    async def work() -> Any:
        try:
            started.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "just in time"

    caller = await begun(nodes, work, started)
    caller.cancel()
    assert (await caller).returned == "just in time"


async def test_a_caller_does_not_wait_for_ever_for_a_node_that_blocks(
    nodes: NodeLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.node_loop.STOPPING_SECONDS", 0.05)
    started, release = threading.Event(), threading.Event()

    async def work() -> Any:
        started.set()
        release.wait(20)

    caller = await begun(nodes, work, started)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert not release.is_set()
    release.set()


async def test_a_node_that_has_not_begun_when_its_caller_is_cancelled_never_begins(
    nodes: NodeLoop,
) -> None:
    started, release, calls = threading.Event(), threading.Event(), list[str]()

    async def blocking() -> Any:
        started.set()
        release.wait(20)

    async def work() -> Any:
        calls.append("begun")

    blocked = await begun(nodes, blocking, started)
    caller = asyncio.create_task(nodes.run(work))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert (await blocked).error is None
    assert calls == []


async def test_closing_cancels_what_a_node_left_behind_and_ends_the_thread() -> None:
    nodes, notes = NodeLoop(), list[str]()
    left: list[asyncio.Task[None]] = []

    async def behind() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            notes.append("cancelled")

    async def work() -> Any:
        left.append(asyncio.create_task(behind()))
        await asyncio.sleep(0)

    await nodes.run(work)
    nodes.close()
    assert notes == ["cancelled"]
    assert left[0].cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        await nodes.run(thread_name)


def test_a_loop_that_was_never_needed_has_no_thread() -> None:
    before = threading.active_count()
    NodeLoop().close()
    assert threading.active_count() == before
