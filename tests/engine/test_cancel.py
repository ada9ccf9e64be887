"""A cancel, by whatever door, is never lost, and Temporal and the log never disagree."""

import asyncio
import contextlib
import random
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.service import RPCError

from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, is_cancelled, until, update

CHAIN = {
    "id": "chain",
    "nodes": [
        {"id": "a", "type": "noted"},
        {"id": "b", "type": "noted"},
    ],
    "edges": ["a.value -> b.value"],
}


def held_chain(name: str) -> dict[str, Any]:
    return {
        "id": "held-chain",
        "nodes": [
            {"id": "first", "type": "held", "config": {"name": name}},
            {"id": "second", "type": "noted"},
        ],
        "edges": ["first.value -> second.value"],
    }


async def cancel(handle: Handle, door: str) -> None:
    if door == "signal":
        await handle.signal("cancel", {"reason": "enough"})
    elif door == "update":
        await update(handle, "cancel", {"reason": "enough"})
    else:
        await handle.cancel()


async def until_called(thread: str, name: str) -> None:
    for _ in range(400):
        if name in CALLS.get(thread, []):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{name} was never called on {thread}")


@pytest.mark.parametrize("door", ["signal", "update", "native"])
async def test_cancelled_during_a_node_the_node_ends_and_nothing_later_starts(
    stage: Stage, door: str
) -> None:
    """INT-5, INT-13, FD-23."""
    thread = f"cancel-during-{door}"
    handle = await stage.start(thread, graph=held_chain(thread))
    await until_called(thread, "first:0")
    await cancel(handle, door)
    await asyncio.sleep(0.1)
    GATES[thread].set()
    assert await is_cancelled(handle)
    assert CALLS[thread] == ["first:0"]
    rows = stage.log.checkpoints(thread)
    assert [(row.node_id, row.kind, row.name) for row in rows] == [
        ("first", "node", None),
        (None, "end", "workflow_end"),
    ]
    state = stage.log.state(thread).state
    assert (state.status, state.is_complete, state.error) == ("cancelled", True, None)
    run = stage.log.latest_run(thread)
    assert run is not None
    assert run.cause is not None
    assert run.cause.kind == "Cancelled"
    if door != "native":
        assert run.cause.message == "enough"


@pytest.mark.parametrize("door", ["signal", "native"])
async def test_cancelled_while_it_waits_the_ticket_is_retired(stage: Stage, door: str) -> None:
    thread = f"cancel-waiting-{door}"
    handle = await stage.start(thread, graph="expense-review", input={"items": {"value": [500]}})
    await until(handle, "awaiting")
    await cancel(handle, door)
    assert await is_cancelled(handle)
    assert stage.log.open_tickets(thread) == ()
    assert (await handle.query("state"))["run"]["phase"] == "ended"


@pytest.mark.parametrize("door", ["signal", "native"])
async def test_cancelled_before_it_opened_the_run_ends_with_ordinal_0_and_runs_no_node(
    stage: Stage, door: str
) -> None:
    """PB-D10: one cause, Cancelled, nodes never ran."""
    thread = f"cancel-early-{door}"
    await stage.stop()
    handle = await stage.start(thread, graph=CHAIN, message="hello")
    await cancel(handle, door)
    await stage.serve()
    assert await is_cancelled(handle)
    assert thread not in CALLS
    run = stage.log.latest_run(thread)
    assert run is not None
    assert (run.last_ordinal, run.phase) == (0, "ended")
    assert [message["content"] for message in stage.log.messages(thread)] == ["hello"]


async def test_a_cancelled_run_leaves_its_thread_open_for_the_next_turn(stage: Stage) -> None:
    handle = await stage.start(
        "cancel-next", graph="expense-review", input={"items": {"value": [500]}}
    )
    await until(handle, "awaiting")
    await handle.cancel()
    assert await is_cancelled(handle)
    result = await stage.run("cancel-next", {"graph": CHAIN})
    assert result["status"] == "completed"
    assert result["start"]["source"] == "thread"


async def _cancelled_near_its_end(stage: Stage, number: int, offset: float) -> tuple[str, str]:
    """Let a run's last node end, and cancel the run so many seconds later, or before."""
    thread = f"near-end-{number}"
    last = {"id": "first", "type": "held", "config": {"name": thread}}
    handle = await stage.start(thread, graph={"id": "last-node", "nodes": [last], "edges": []})
    await until_called(thread, "first:0")
    if offset > 0:
        GATES[thread].set()
        await asyncio.sleep(offset)
    with contextlib.suppress(RPCError):  # It may have closed before.
        if number % 2:
            await handle.cancel()
        else:
            await handle.signal("cancel", {})
    await asyncio.sleep(max(0.0, -offset))
    GATES[thread].set()
    with contextlib.suppress(WorkflowFailureError):
        await handle.result()
    status = (await handle.describe()).status
    run = stage.log.latest_run(thread)
    assert run is not None
    assert run.cause is not None
    return str(status.name if status else None), run.cause.kind


async def test_of_100_runs_cancelled_near_their_end_none_tells_two_outcomes(stage: Stage) -> None:
    """Half by signal, half by the server's own cancel, at random moments around the end."""
    chance = random.Random(2)
    outcomes: list[tuple[str, str]] = []
    for first in range(0, 100, 10):
        outcomes += await asyncio.gather(
            *(
                _cancelled_near_its_end(stage, number, chance.uniform(-0.02, 0.12))
                for number in range(first, first + 10)
            )
        )
    outcomes.append(await _cancelled_near_its_end(stage, 100, -0.1))
    assert len(outcomes) == 101
    assert outcomes[-1] == (WorkflowExecutionStatus.CANCELED.name, "Cancelled")
    assert set(outcomes) <= {
        (WorkflowExecutionStatus.COMPLETED.name, "NaturalEnd"),
        (WorkflowExecutionStatus.CANCELED.name, "Cancelled"),
    }
