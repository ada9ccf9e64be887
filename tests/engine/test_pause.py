"""A person's pause: it stacks with gates, holds back what is next, and is lifted by ``{}``."""

from typing import Any

import pytest

from seeding.model import JsonObject
from tests.engine.graphs import (
    TWO_GATES,
    graph,
    held_chain,
    review,
    until_called,
    until_completed,
    until_waiting_for,
)
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, is_cancelled, refused, until, update


async def send(handle: Handle, door: str, name: str, argument: JsonObject) -> None:
    if door == "signal":
        await handle.signal(name, argument)
    else:
        assert (await update(handle, name, argument))["accepted"] is True


def pause_ticket(handle: Handle, created_at: str, n: int = 0) -> JsonObject:
    return {
        "ticket": f"{handle.first_execution_run_id}::0:{n}",
        "nodeId": "",
        "occurrence": 0,
        "kind": "pause",
        "message": None,
        "input": None,
        "schema": None,
        "allowed": None,
        "createdAt": created_at,
        "deadline": None,
        "reason": "lunch",
    }


def phases(state: JsonObject) -> tuple[str, Any]:
    return state["run"]["phase"], state["run"]["pausedReason"]


@pytest.mark.parametrize("door", ["signal", "update"])
async def test_paused_during_an_effect_it_ends_and_is_committed_and_nothing_later_starts(
    stage: Stage, door: str
) -> None:
    """INT-5, INT-16."""
    thread = f"pause-effect-{door}"
    handle = await stage.start(thread, graph=held_chain(thread))
    await until_called(thread, "first:0")
    await send(handle, door, "pause", {"reason": "lunch"})
    state = await until(handle, "paused")
    assert phases(state) == ("paused", None)
    (ticket,) = state["run"]["waitingFor"]
    assert ticket == pause_ticket(handle, ticket["createdAt"])

    GATES[thread].set()
    await until_completed(handle, "first")
    after = await handle.query("state")
    assert phases(after) == ("paused", None)
    assert after["run"]["waitingFor"] == [ticket]
    assert CALLS[thread] == ["first:0"]

    await send(handle, door, "resume", {})
    assert (await handle.result())["status"] == "completed"
    assert CALLS[thread] == ["first:0", "second:0"]
    assert [(row.ordinal, row.node_id, row.kind) for row in stage.log.checkpoints(thread)] == [
        (1, None, "pause"),
        (2, "first", "node"),
        (4, "second", "node"),
        (5, None, "end"),
    ]


async def test_a_pause_stacks_with_a_gate_whose_answer_is_committed_and_followed_by_nothing(
    stage: Stage,
) -> None:
    thread = "pause-gate"
    document = graph("gate-noted", {"gate": "gate", "after": "noted"}, "gate.answer -> after.a")
    handle = await stage.start(thread, graph=document)
    (gate,) = (await until(handle, "awaiting"))["run"]["waitingFor"]
    assert await update(handle, "pause", {"reason": "lunch"}) == {
        "accepted": True,
        "runId": handle.first_execution_run_id,
        "ticket": None,
        "duplicate": False,
        "pending": False,
    }
    state = await until(handle, "paused")
    pause = state["run"]["waitingFor"][1]
    assert state["run"]["waitingFor"] == [gate, pause_ticket(handle, pause["createdAt"])]

    await update(handle, "resume", {"decision": "approve"})
    await until_waiting_for(handle, ":0:0")
    state = await handle.query("state")
    assert phases(state) == ("paused", None)
    assert (await handle.query("progress"))["gate"] == {"status": "completed", "executions": 1}
    assert thread not in CALLS
    assert stage.log.latest_run(thread).last_ordinal == 3  # pyright: ignore[reportOptionalMemberAccess]

    lifted = await update(handle, "resume", {"actor": "ann", "ticket": pause["ticket"]})
    assert lifted["ticket"] == pause["ticket"]
    await handle.result()
    assert CALLS[thread] == ["after:0"]
    outcomes = stage.log.closed_tickets(str(handle.first_execution_run_id), 10)
    assert [(each.ticket, each.outcome, each.actor) for each in outcomes] == [
        (gate["ticket"], "answered", None),
        (pause["ticket"], "answered", "ann"),
    ]


async def test_a_gate_of_a_paused_run_does_not_open_until_the_pause_is_lifted(
    stage: Stage,
) -> None:
    thread = "pause-opens-none"
    document = graph(
        "held-gate", {"first": ("held", {"name": thread}), "gate": "gate"}, "first.value -> gate.v"
    )
    handle = await stage.start(thread, graph=document)
    await until_called(thread, "first:0")
    await update(handle, "pause", {"reason": "lunch"})
    GATES[thread].set()
    await until_completed(handle, "first")
    assert await until_waiting_for(handle, ":0:0")
    await update(handle, "resume", {})
    (ticket,) = await until_waiting_for(handle, "gate:0:0")
    await handle.signal("resume", {"ticket": ticket["ticket"], "decision": "approve"})
    assert (await handle.result())["status"] == "completed"


async def test_a_second_pause_is_pending_already_and_a_lifted_one_may_follow(stage: Stage) -> None:
    """INT-16."""
    handle = await stage.start("pause-twice", review(150))
    (gate,) = (await until(handle, "awaiting"))["run"]["waitingFor"]
    assert await refused(handle, "resume", {}) == "NO_ACTIVE_PAUSE"
    await update(handle, "pause", {"reason": "lunch"})
    assert await refused(handle, "pause", {"reason": "tea"}) == "INWARD_SIGNAL_ALREADY_PENDING"
    await until(handle, "paused")  # Before the pause is committed the gate waits alone as well.
    await update(handle, "resume", {})
    assert await until_waiting_for(handle, "gate:0:0") == [gate]
    assert phases(await handle.query("state")) == ("awaiting", None)
    assert await refused(handle, "resume", {}) == "NO_ACTIVE_PAUSE"

    await update(handle, "pause", {"reason": "lunch"})
    pause = (await until_waiting_for(handle, "gate:0:0", ":0:1"))[1]
    assert pause == pause_ticket(handle, pause["createdAt"], n=1)
    await handle.signal("cancel", {})
    assert await is_cancelled(handle)


@pytest.mark.parametrize("door", ["signal", "native"])
async def test_a_paused_run_can_be_cancelled(stage: Stage, door: str) -> None:
    thread = f"pause-cancel-{door}"
    handle = await stage.start(thread, graph=TWO_GATES)
    await until(handle, "awaiting")
    await update(handle, "pause", {"reason": "lunch"})
    await until(handle, "paused")
    if door == "signal":
        await handle.signal("cancel", {"reason": "enough"})
    else:
        await handle.cancel()
    assert await is_cancelled(handle)
    outcomes = stage.log.closed_tickets(str(handle.first_execution_run_id), 10)
    assert [each.outcome for each in outcomes] == ["cancelled"] * 3
    state = await handle.query("state")
    assert (state["status"], state["run"]["phase"], state["run"]["waitingFor"]) == (
        "cancelled",
        "ended",
        [],
    )


async def test_signalled_with_the_start_a_pause_holds_the_run_before_its_first_node(
    stage: Stage,
) -> None:
    thread = "pause-at-start"
    handle = await stage.client.start_workflow(
        "Run",
        {"graph": graph("one", {"only": "noted"})},
        id=f"thread/{thread}",
        task_queue=stage.task_queue,
        start_signal="pause",
        start_signal_args=[{"reason": "lunch"}],
    )
    state = await until(handle, "paused")
    assert (state["currentNodeId"], thread in CALLS) == ("", False)
    await handle.signal("resume", {})
    assert (await handle.result())["results"] == {"only": {"value": {}}}


async def test_at_the_end_of_a_paused_loop_the_run_waits_for_the_lift(stage: Stage) -> None:
    """A run whose last node ended while it was paused ends only once the pause is lifted."""
    thread = "pause-last"
    handle = await stage.start(thread, graph=graph("held", {"only": ("held", {"name": thread})}))
    await until_called(thread, "only:0")
    await update(handle, "pause", {})
    GATES[thread].set()
    await until_completed(handle, "only")
    assert phases(await handle.query("state")) == ("paused", None)
    await update(handle, "resume", {})
    assert (await handle.result())["status"] == "completed"
