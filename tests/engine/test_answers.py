"""Answers by signal and by update: one winner a ticket, copies harmless, early ones kept."""

import asyncio
from datetime import datetime
from typing import Any

import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from seeding.model import JsonObject
from tests.engine.graphs import (
    GATE_THEN_HELD,
    TWO_GATES,
    graph,
    held_chain,
    review,
    until_called,
    until_completed,
    until_waiting_for,
)
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, refused, until, update


def tickets(state: JsonObject) -> list[str]:
    return [ticket["ticket"] for ticket in state["run"]["waitingFor"]]


async def refusals(handle: Handle) -> list[tuple[str, str]]:
    return [(entry["name"], entry["code"]) for entry in await handle.query("refusals")]


@pytest.mark.parametrize("door", ["signal", "update"])
async def test_an_answer_that_names_its_ticket_completes_the_gate(stage: Stage, door: str) -> None:
    handle = await stage.start(f"answer-{door}", review(150))
    (ticket,) = tickets(await until(handle, "awaiting"))
    answer = {"ticket": ticket, "decision": "deny", "value": {"note": "no"}, "actor": "ann"}
    if door == "signal":
        await handle.signal("resume", answer)
    else:
        assert await update(handle, "resume", answer) == {
            "accepted": True,
            "runId": handle.first_execution_run_id,
            "ticket": ticket,
            "duplicate": False,
            "pending": False,
        }
    result = await handle.result()
    assert result["results"]["gate"] == {
        "answer": {"note": "no"},
        "decision": "deny",
        "actor": "ann",
        "expired": False,
    }
    assert result["results"]["each:1"]["collected_results"] == [{"note": "no"}]
    (closing,) = stage.log.closed_tickets(str(handle.first_execution_run_id), 10)
    assert closing.to_json() == {
        "ticket": ticket,
        "outcome": "answered",
        "decision": "deny",
        "value": {"note": "no"},
        "actor": "ann",
        "commandId": None,
    }


async def test_a_null_value_beside_no_decision_counts_as_an_answer(stage: Stage) -> None:
    """Contract 5: ``value: null`` counts as given; an approval still needs its decision."""
    document = graph("text", {"ask": ("asks_as_configured", {"ask": {"kind": "text"}})})
    handle = await stage.start("answer-null", graph=document)
    (first,) = tickets(await until(handle, "awaiting"))
    reply = await update(handle, "resume", {"ticket": first, "value": None})
    assert (reply["accepted"], reply["pending"]) == (True, False)
    await handle.signal("cancel", {})


async def test_an_unnamed_answer_binds_to_the_one_open_ticket_and_its_copy_to_nothing(
    stage: Stage,
) -> None:
    """Prototypes, A2: one approval delivered twice approves one thing."""
    handle = await stage.start("answer-twice", review(150, 250))
    await until(handle, "awaiting")
    await handle.signal("resume", {"decision": "approve"})
    second = (await until_waiting_for(handle, "gate:1:0"))[0]["ticket"]
    await handle.signal("resume", {"decision": "approve"})
    assert tickets(await until(handle, "awaiting")) == [second]
    (entry,) = await handle.query("refusals")
    assert (entry["name"], entry["code"]) == ("resume", "AmbiguousAnswer")
    assert second in entry["message"]
    assert await refused(handle, "resume", {"decision": "approve"}) == "AmbiguousAnswer"

    await handle.signal("resume", {"decision": "deny", "commandId": "c-2"})
    result = await handle.result()
    assert result["results"]["each:2"]["collected_results"] == ["approve", "deny"]


async def test_copies_of_a_named_answer_change_nothing(stage: Stage) -> None:
    """PB-E10: the same answer once or three times gives the same log."""
    handle = await stage.start("answer-copies", review(150, 250))
    (first,) = tickets(await until(handle, "awaiting"))
    for _ in range(3):
        await handle.signal("resume", {"ticket": first, "decision": "approve"})
    (second,) = await until_waiting_for(handle, "gate:1:0")
    assert await refusals(handle) == [("resume", "AlreadyDecided")] * 2
    await handle.signal("resume", {"ticket": second["ticket"], "decision": "approve"})
    result = await handle.result()
    assert result["results"]["each:2"]["collected_results"] == ["approve", "approve"]
    rows = stage.log.checkpoints("answer-copies")
    assert [row.node_id for row in rows if row.kind == "pause"] == ["gate", "gate"]


async def test_a_repeated_command_id_gets_the_first_answer_again(stage: Stage) -> None:
    handle = await stage.start("answer-repeated", graph=GATE_THEN_HELD)
    (ticket,) = tickets(await until(handle, "awaiting"))
    answer = {"decision": "approve", "commandId": "c-1"}
    first = await update(handle, "resume", answer)
    await until_called("answer-repeated", "after:0")
    again = await update(handle, "resume", {**answer, "decision": "deny"})
    assert first["ticket"] == ticket
    assert again == {**first, "duplicate": True}
    await handle.signal("resume", answer)
    assert await handle.query("refusals") == []
    assert (await handle.query("progress"))["gate"] == {"status": "completed", "executions": 1}
    await handle.signal("cancel", {})
    GATES["never"].set()


async def test_of_many_deciders_at_once_exactly_one_wins_and_the_others_learn_who(
    stage: Stage,
) -> None:
    handle = await stage.start("answer-race", graph=GATE_THEN_HELD)
    (ticket,) = tickets(await until(handle, "awaiting"))
    decisions = ["approve", "deny"] * 5

    async def decide(number: int) -> str | ApplicationError:
        answer = {
            "ticket": ticket,
            "decision": decisions[number],
            "actor": f"person-{number}",
            "commandId": f"c-{number}",
        }
        try:
            await update(handle, "resume", answer)
        except WorkflowUpdateFailedError as error:
            assert isinstance(error.cause, ApplicationError)
            return error.cause
        return f"person-{number}"

    outcomes = await asyncio.gather(*(decide(number) for number in range(10)))
    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, str)]
    losers = [outcome for outcome in outcomes if isinstance(outcome, ApplicationError)]
    assert {loser.type for loser in losers} == {"AlreadyDecided"}
    assert all(f"by '{winner}'" in loser.message for loser in losers)
    await until_called("answer-race", "after:0")
    (closing,) = stage.log.closed_tickets(str(handle.first_execution_run_id), 10)
    assert closing.actor == winner
    assert CALLS["answer-race"] == ["after:0"]
    await handle.signal("cancel", {})
    GATES["never"].set()


async def test_of_two_open_gates_each_answer_touches_its_own_ticket_only(stage: Stage) -> None:
    handle = await stage.start("answer-parallel", graph=TWO_GATES)
    state = await until(handle, "awaiting")
    left, right = state["run"]["waitingFor"]
    run = handle.first_execution_run_id
    assert [left["ticket"], right["ticket"]] == [f"{run}:left:0:0", f"{run}:right:0:0"]
    assert await refused(handle, "resume", {"decision": "approve"}) == "AmbiguousAnswer"

    await update(handle, "resume", {"ticket": left["ticket"], "decision": "approve"})
    await until_completed(handle, "left")
    assert (await handle.query("state"))["run"]["waitingFor"] == [right]
    assert await handle.query("tickets") == [right]

    await handle.signal("resume", {"decision": "deny"})
    assert (await handle.result())["results"]["told"] == {"message": "approve deny"}


# --- early answers ----------------------------------------------------------------------------


async def test_answers_signalled_before_the_first_task_are_kept_for_their_tickets(
    stage: Stage,
) -> None:
    await stage.stop()
    handle = await stage.start("early-start", review(150, 250))
    run = handle.first_execution_run_id
    await handle.signal("resume", {"ticket": f"{run}:gate:1:0", "decision": "deny"})
    await handle.signal("resume", {"ticket": f"{run}:gate:0:0", "decision": "approve"})
    await handle.signal("resume", {"ticket": f"{run}:check:7", "decision": "approve"})
    await stage.serve()
    result = await handle.result()
    assert result["results"]["each:2"]["collected_results"] == ["approve", "deny"]
    assert await refusals(handle) == [("resume", "UnknownTicket")]


async def test_an_early_answer_by_update_is_pending_and_goes_through(stage: Stage) -> None:
    document = graph(
        "held-then-gate",
        {"first": ("held", {"name": "early-update"}), "gate": "gate"},
        "first.value -> gate.value",
    )
    handle = await stage.start("early-update", graph=document)
    await until_called("early-update", "first:0")
    run = handle.first_execution_run_id
    ticket = f"{run}:gate:0:0"
    answer = {"ticket": ticket, "decision": "approve", "commandId": "c"}
    expected = {
        "accepted": True,
        "runId": run,
        "ticket": ticket,
        "duplicate": False,
        "pending": True,
    }
    assert await update(handle, "resume", answer) == expected
    assert await update(handle, "resume", answer) == {**expected, "duplicate": True}
    GATES["early-update"].set()
    assert (await handle.result())["results"]["gate"]["decision"] == "approve"


async def test_an_early_answer_is_judged_when_its_ticket_opens(stage: Stage) -> None:
    document = graph(
        "held-then-gate",
        {"first": ("held", {"name": "early-wrong"}), "gate": "gate"},
        "first.value -> gate.value",
    )
    handle = await stage.start("early-wrong", graph=document)
    await until_called("early-wrong", "first:0")
    ticket = f"{handle.first_execution_run_id}:gate:0:0"
    early = {"ticket": ticket, "decision": "perhaps"}
    assert (await update(handle, "resume", early))["pending"] is True
    GATES["early-wrong"].set()
    assert tickets(await until(handle, "awaiting")) == [ticket]
    (entry,) = await handle.query("refusals")
    assert (entry["code"], entry["payload"]) == ("DecisionNotAllowed", early)
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    assert (await handle.result())["status"] == "completed"


async def signal_with_start(
    stage: Stage, thread: str, request: JsonObject, name: str, argument: Any
) -> Handle:
    return await stage.client.start_workflow(
        "Run",
        request,
        id=f"thread/{thread}",
        task_queue=stage.task_queue,
        start_signal=name,
        start_signal_args=[argument],
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )


async def test_signal_with_start_on_an_open_run_answers_it_and_starts_nothing(
    stage: Stage,
) -> None:
    request = review(150)
    first = await stage.start("early-with", request)
    (ticket,) = tickets(await until(first, "awaiting"))
    answer = {"ticket": ticket, "decision": "approve"}
    again = await signal_with_start(stage, "early-with", request, "resume", answer)
    assert (await again.result())["runId"] == first.first_execution_run_id
    assert len(stage.log.runs("early-with")) == 1


async def test_signal_with_start_of_a_new_run_meets_no_ticket_and_the_run_goes_on(
    stage: Stage,
) -> None:
    handle = await signal_with_start(
        stage, "early-unnamed", review(150), "resume", {"decision": "approve"}
    )
    (ticket,) = tickets(await until(handle, "awaiting"))
    assert await refusals(handle) == [("resume", "NothingToAnswer")]
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    assert (await handle.result())["status"] == "completed"


# --- after the end ----------------------------------------------------------------------------


async def test_after_the_end_the_server_says_that_the_run_is_closed(stage: Stage) -> None:
    """Contract 5: the client maps this to PIPELINE_TERMINAL."""
    handle = await stage.start("answer-late", review(50))
    await handle.result()
    with pytest.raises(RPCError, match="workflow execution already completed") as signalled:
        await handle.signal("resume", {"decision": "approve"})
    assert signalled.value.status == RPCStatusCode.NOT_FOUND
    with pytest.raises(RPCError, match="workflow execution already completed"):
        await update(handle, "resume", {"decision": "approve"})
    assert (await handle.query("state"))["run"]["phase"] == "ended"


async def test_an_early_answer_to_an_execution_that_asked_nothing_is_listed(stage: Stage) -> None:
    thread = "answer-needless"
    handle = await stage.start(thread, graph=held_chain(thread))
    await until_called(thread, "first:0")
    answer = {"ticket": f"{handle.first_execution_run_id}:second:0:0", "value": 1}
    assert (await update(handle, "resume", answer))["pending"] is True
    GATES[thread].set()
    assert (await handle.result())["status"] == "completed"
    (entry,) = await handle.query("refusals")
    assert (entry["code"], entry["payload"]) == ("UnknownTicket", answer)


async def test_an_early_answer_that_the_end_overtakes_is_listed(stage: Stage) -> None:
    await stage.stop()
    handle = await stage.start("answer-overtaken", review(50))
    answer = {"ticket": f"{handle.first_execution_run_id}:gate:0:0", "decision": "approve"}
    await handle.signal("resume", answer)
    await stage.serve()
    assert (await handle.result())["status"] == "completed"
    (entry,) = await handle.query("refusals")
    assert (entry["name"], entry["code"], entry["payload"]) == (
        "resume",
        "PIPELINE_TERMINAL",
        answer,
    )
    assert entry["message"] == "the run ended first (NaturalEnd)"
    assert datetime.fromisoformat(entry["at"]).tzinfo is not None
