"""Deadlines of tickets, on a server whose time can be moved forward."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from tests.engine.graphs import count_of_type, held_chain, until_called
from tests.engine.nodes import GATES
from tests.engine.queues import ECHO, ended_runs, send
from tests.engine.stage import Handle, Stage, refused, staged, until


@pytest_asyncio.fixture(loop_scope="session")
async def skipping(skipping_client: Client, log_url: str) -> AsyncGenerator[Stage]:
    """A stage on the server whose time can be moved."""
    async with staged(skipping_client, log_url) as served:
        yield served


def gated(**config: Any) -> dict[str, Any]:
    return {
        "id": "gated",
        "nodes": [
            {"id": "gate", "type": "gate", "config": {"message": "Well?", **config}},
            *({"id": name, "type": "noted"} for name in ("yes", "no", "late")),
        ],
        "edges": ["gate.approve -> yes.in", "gate.deny -> no.in", "gate.expired -> late.in"],
    }


@pytest.mark.parametrize(
    ("choice", "follows", "decision"),
    [(None, "late", None), ("expire", "late", None), ("deny", "no", "deny")],
)
async def test_two_days_later_nobody_has_answered_and_the_gate_goes_on_by_its_choice(
    skipping: Stage, clock: WorkflowEnvironment, choice: str | None, follows: str, decision: str
) -> None:
    thread = f"deadline-{choice}"
    handle = await skipping.start(thread, graph=gated(deadline="2d", onDeadline=choice))
    state = await until(handle, "awaiting")
    await clock.fast_forward(handle, timedelta(days=2, minutes=1))
    result = await handle.result()
    assert result["results"]["gate"] == {
        "answer": decision,
        "decision": decision,
        "actor": None,
        "expired": True,
    }
    assert [key for key in result["results"] if key != "gate"] == [follows]
    ticket = state["run"]["waitingFor"][0]["ticket"]
    closing = skipping.log.closed_tickets(result["runId"], 1)[0]
    assert (closing.ticket, closing.outcome, closing.decision) == (ticket, "expired", decision)


async def test_answered_in_time_the_losing_timer_is_cancelled(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    """PB-D7."""
    handle = await skipping.start("deadline-won", graph=gated(deadline="7d"))
    state = await until(handle, "awaiting")
    await clock.fast_forward(handle, timedelta(days=6))
    ticket = state["run"]["waitingFor"][0]["ticket"]
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    result = await handle.result()
    assert result["results"]["gate"]["decision"] == "approve"
    assert await count_of_type(handle, EventType.EVENT_TYPE_TIMER_CANCELED) == 1
    assert await count_of_type(handle, EventType.EVENT_TYPE_TIMER_FIRED) == 0


async def test_an_answer_after_the_deadline_meets_the_expiry(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    graph = gated(deadline="1h")
    graph["nodes"].append({"id": "next", "type": "gate", "config": {"message": "And now?"}})
    graph["edges"].append("late.value -> next.in")
    handle = await skipping.start("deadline-late", graph=graph)
    ticket = (await until(handle, "awaiting"))["run"]["waitingFor"][0]["ticket"]
    await clock.fast_forward(handle, timedelta(hours=2))
    for _ in range(200):
        waiting = await handle.query("tickets")
        if waiting and waiting[0]["nodeId"] == "next":
            break
    assert (
        await refused(handle, "resume", {"ticket": ticket, "decision": "approve"})
        == "AlreadyDecided"
    )


@pytest.mark.parametrize("never", [None, 0])
async def test_null_and_zero_are_no_deadline(stage: Stage, never: int | None) -> None:
    handle = await stage.start(f"deadline-{never}-never", graph=gated(deadline=never))
    state = await until(handle, "awaiting")
    assert state["run"]["waitingFor"][0]["deadline"] is None
    assert await count_of_type(handle, EventType.EVENT_TYPE_TIMER_STARTED) == 0


async def test_the_deadline_counts_from_the_moment_the_log_recorded_the_ticket(
    stage: Stage,
) -> None:
    handle = await stage.start("deadline-base", graph=gated(deadline="90m"))
    ticket = (await until(handle, "awaiting"))["run"]["waitingFor"][0]
    opened, due = (datetime.fromisoformat(ticket[key]) for key in ("createdAt", "deadline"))
    assert due - opened == timedelta(minutes=90)


async def test_a_question_nobody_answers_in_time_fails_its_node_as_expired(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    graph = {
        "id": "asking",
        "nodes": [
            {"id": "asks", "type": "asks", "config": {"wanted": "x", "deadline": "1d"}},
            {"id": "handler", "type": "noted"},
        ],
        "edges": ["asks.error -> handler.error"],
    }
    handle = await skipping.start("deadline-ask", graph=graph)
    await until(handle, "awaiting")
    await clock.fast_forward(handle, timedelta(days=1, minutes=1))
    result = await handle.result()
    assert result["status"] == "completed"
    assert result["results"]["asks"]["error"]["code"] == "expired"


async def test_a_deadline_survives_the_restart_of_its_worker(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    handle = await skipping.start("deadline-restart", graph=gated(deadline="2d"))
    await until(handle, "awaiting")
    await skipping.restart()
    await clock.fast_forward(handle, timedelta(days=2, minutes=1))
    assert (await handle.result())["results"]["gate"]["expired"] is True


async def test_a_queue_that_nobody_woke_looks_by_itself(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    handle = await skipping.start("unwoken", {"graph": held_chain("unwoken"), "message": "0"})
    await until_called("unwoken", "first:0")
    await send(handle, "1", graph=ECHO)
    queue = skipping.client.get_workflow_handle("queue/unwoken")
    await until_timer(queue)
    await handle.terminate()

    await clock.fast_forward(queue, timedelta(seconds=31))

    runs = await ended_runs(skipping, "unwoken", 2)
    causes = [run.cause.kind for run in runs if run.cause is not None]
    assert causes == ["Indeterminate", "NaturalEnd"]
    GATES["unwoken"].set()


async def until_timer(handle: Handle) -> None:
    """Wait until a workflow waits for a timer."""
    for _ in range(400):
        if await count_of_type(handle, EventType.EVENT_TYPE_TIMER_STARTED):
            return
        await asyncio.sleep(0.025)
    raise AssertionError("no timer was started")
