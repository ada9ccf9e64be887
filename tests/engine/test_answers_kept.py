"""An answer outlives what comes after it; what is sent by mistake changes nothing (PB-B, KU)."""

import asyncio
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowExecutionStatus

import tests.engine.paying_nodes as paying_nodes
from tests.engine.charges import Charges
from tests.engine.crashing import crashed, died_on, paying_after_gate
from tests.engine.gone import terminated
from tests.engine.graphs import graph
from tests.engine.nodes import CALLS
from tests.engine.queues import ECHO, ended_runs, said, send
from tests.engine.stage import Stage, closed, refused, until, update

assert paying_nodes.__name__  # Imported for the node types it declares.


async def test_ku_3_approved_and_killed_before_the_effect_it_runs_once_and_then_comes_the_message(
    idle: Stage, tmp_path: Path
) -> None:
    service = tmp_path / "service"
    thread = died_on(idle)
    answering = asyncio.create_task(_approve(idle, thread))
    handle = await crashed(
        idle,
        thread,
        {"graph": paying_after_gate(service), "message": "pay"},
        "before charge pay:0",
    )
    await answering
    await handle.signal("message", {"message": "paid?", "graph": ECHO, "onBusy": "queue"})

    await idle.serve()

    await ended_runs(idle, thread, 2)
    assert Charges(service).charged(thread) == {"pay:0": 1}
    assert said(idle, thread) == ["pay", "approve: paid pay:0", "paid?"]


async def test_pb_b5_the_node_after_a_gate_is_tried_again_with_the_same_answer(
    stage: Stage,
) -> None:
    document = graph(
        "tried-again",
        {"gate": "gate", "pay": ("flaky", {"failures": 1})},
        "gate.answer -> pay.answer",
    )
    handle = await stage.start("tried-again", {"graph": document})
    await until(handle, "awaiting")

    await update(handle, "resume", {"decision": "approve"})

    result: Any = await handle.result()
    assert result["status"] == "completed"
    (key, again) = CALLS["tried-again"]
    assert key == again
    assert len(stage.log.closed_tickets(str(handle.first_execution_run_id), 10)) == 1


async def test_pb_b17_answering_the_middle_one_of_three_leaves_the_others_as_they_were(
    stage: Stage,
) -> None:
    document = graph("three", {name: ("gate", {"message": name}) for name in "abc"})
    handle = await stage.start("three", {"graph": document})
    before = {item["nodeId"]: item for item in await _tickets(handle, 3)}

    await update(handle, "resume", {"ticket": before["b"]["ticket"], "decision": "deny"})

    after = {item["nodeId"]: item for item in await _tickets(handle, 2)}
    assert after == {"a": before["a"], "c": before["c"]}


async def test_pb_b25_only_what_follows_the_answer_runs_from_the_point_of_the_pause(
    stage: Stage,
) -> None:
    document = graph(
        "branches",
        {"before": "noted", "gate": "gate", "yes": "noted", "no": "noted"},
        "before.value -> gate.value",
        "gate.approve -> yes.in",
        "gate.deny -> no.in",
    )
    handle = await stage.start("branches", {"graph": document})
    await until(handle, "awaiting")
    await stage.restart()

    await update(handle, "resume", {"decision": "deny"})

    await handle.result()
    assert CALLS["branches"] == ["before:0", "no:0"]


async def test_pb_f11_what_is_over_waits_for_nobody_and_what_was_lost_still_does(
    stage: Stage,
) -> None:
    document = graph("gate-alone", {"gate": "gate"})
    over = await stage.start("listed-over", {"graph": document})
    lost = await stage.start("listed-lost", {"graph": document})
    for handle in (over, lost):
        await until(handle, "awaiting")
    await over.signal("cancel", {})
    assert await closed(over) == WorkflowExecutionStatus.CANCELED
    await terminated(lost)

    assert [item.body.thread_id for item in stage.log.open_tickets()] == ["listed-lost"]


async def test_ku_40_the_key_of_a_message_and_the_id_of_an_answer_are_two_things(
    stage: Stage,
) -> None:
    handle = await stage.start("same-name", {"graph": graph("gate-alone", {"gate": "gate"})})
    await until(handle, "awaiting")

    sent = await send(handle, "hello", graph=ECHO, idempotencyKey="same")
    answered = await update(handle, "resume", {"decision": "approve", "commandId": "same"})

    assert (sent["duplicate"], sent["queuedTurn"]) == (False, 1)
    assert (answered["duplicate"], answered["ticket"]) == (
        False,
        f"{handle.first_execution_run_id}:gate:0:0",
    )
    await ended_runs(stage, "same-name", 2)


async def test_pb_b2_the_answer_to_a_cancelled_turn_does_not_touch_the_next_one(
    stage: Stage,
) -> None:
    document = graph("gate-alone", {"gate": "gate"})
    first = await stage.start("late", {"graph": document})
    ((old),) = await _tickets(first, 1)
    await first.signal("cancel", {})
    await closed(first)
    second = await stage.start("late", {"graph": document})
    (ticket,) = await _tickets(second, 1)

    answer = {"ticket": old["ticket"], "decision": "approve"}

    assert await refused(second, "resume", answer) == "UnknownTicket"
    assert await _tickets(second, 1) == [ticket]


async def _approve(stage: Stage, thread: str) -> None:
    while True:
        for ticket in stage.log.open_tickets(thread):
            handle = stage.client.get_workflow_handle(f"thread/{thread}")
            answer = {"ticket": ticket.body.ticket, "decision": "approve"}
            await handle.signal("resume", answer)
            return
        await asyncio.sleep(0.05)


async def _tickets(handle: Any, count: int) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = []
    for _ in range(400):
        shown = await handle.query("tickets")
        if len(shown) == count:
            return shown
        await asyncio.sleep(0.025)
    raise AssertionError(f"{shown}")
