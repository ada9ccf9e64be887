"""What the tests of queued turns share: graphs, and waiting for a thread's turns to be over."""

import asyncio
from typing import Any

from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from activities.log import StoredRun
from seeding.model import JsonObject
from tests.engine.graphs import graph
from tests.engine.stage import Handle, Stage, update

GATED: JsonObject = graph(
    "gated", {"gate": ("gate", {"message": "Go on?"}), "pay": "noted"}, "gate.answer -> pay.answer"
)
ECHO: JsonObject = graph("echo", {"pay": "noted"})


async def send(handle: Handle, text: str, **more: Any) -> dict[str, Any]:
    """Send a message to the open run by update, to be queued."""
    return await update(handle, "message", {"message": text, "onBusy": "queue", **more})


async def ended_runs(stage: Stage, thread: str, count: int) -> list[StoredRun]:
    """Return the thread's runs once ``count`` of them have ended."""
    runs: list[StoredRun] = []
    for _ in range(1200):
        runs = await stage.log.runs_async(thread)
        if sum(run.phase == "ended" for run in runs) >= count:
            return runs
        await asyncio.sleep(0.025)
    raise AssertionError(f"{thread}: {[(run.run_id, run.phase) for run in runs]}")


async def queue_closed(stage: Stage, thread: str) -> WorkflowExecutionStatus:
    """Return how the thread's queue closed."""
    handle = stage.client.get_workflow_handle(f"queue/{thread}")
    await handle.result()
    status = (await handle.describe()).status
    assert status is not None
    return status


async def has_queue(stage: Stage, thread: str) -> bool:
    """Return whether the server knows a queue of the thread."""
    try:
        await stage.client.get_workflow_handle(f"queue/{thread}").describe()
    except RPCError:
        return False
    return True


def said(stage: Stage, thread: str) -> list[Any]:
    """Return what the thread's messages say."""
    return [message["content"] for message in stage.log.messages(thread)]


def states(stage: Stage, thread: str) -> list[str]:
    """Return what became of the thread's queued turns."""
    return [turn.state for turn in stage.log.queued_turns(thread)]


async def until_turn(stage: Stage, thread: str, number: int, state: str) -> None:
    """Wait until a queued turn is in a state."""
    turn = None
    for _ in range(1200):
        turn = await stage.log.queued_turn_async(thread, number)
        if turn is not None and turn.state == state:
            return
        await asyncio.sleep(0.025)
    raise AssertionError(f"turn {number} of {thread} never was {state}: {turn}")


async def until_refused(handle: Handle, count: int) -> list[dict[str, Any]]:
    """Return the refused signals of a run once there are so many."""
    entries: list[dict[str, Any]] = []
    for _ in range(400):
        entries = await handle.query("refusals")
        if len(entries) >= count:
            return entries
        await asyncio.sleep(0.025)
    raise AssertionError(f"{entries}")
