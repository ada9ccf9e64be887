"""A start sent again under its idempotency key never makes a second turn (contract 2, AW-24)."""

import asyncio

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import WorkflowAlreadyStartedError

from seeding.model import JsonObject
from tests.engine.graphs import graph
from tests.engine.nodes import CALLS
from tests.engine.stage import Stage, closed, failure_of, until

PAYS = graph("pays", {"pay": "noted"})
FAILS = graph("fails", {"pay": ("fails_with", {"code": "no"})})
WAITS = graph("waits", {"gate": "gate", "pay": "noted"}, "gate.answer -> pay.answer")


def keyed(document: JsonObject, key: str = "k-1", **more: object) -> JsonObject:
    return {"graph": document, "message": "pay", "idempotencyKey": key, **more}


async def test_the_same_request_again_closes_with_the_first_result_and_writes_nothing(
    stage: Stage,
) -> None:
    first = await stage.run("again", keyed(PAYS))
    commits = stage.log.commits("again")

    second = await stage.run("again", keyed(PAYS))

    assert second == {**first, "duplicate": True}
    assert "duplicate" not in first
    assert stage.log.commits("again") == commits
    assert CALLS["again"] == ["pay:0"]
    assert [message["content"] for message in stage.log.messages("again")] == ["pay"]


async def test_a_failed_and_a_cancelled_run_are_not_begun_again_either(stage: Stage) -> None:
    first, second = [
        await failure_of(await stage.start("again-failed", keyed(FAILS))) for _ in range(2)
    ]
    assert (first.type, second.type) == ("Error", "Error")
    assert second.details[0] == {**first.details[0], "duplicate": True}
    assert len(stage.log.runs("again-failed")) == 1
    handle = await stage.start("again-cancelled", keyed(WAITS))
    await until(handle, "awaiting")
    await handle.signal("cancel", {})
    assert await closed(handle) == WorkflowExecutionStatus.CANCELED
    repeated = await stage.start("again-cancelled", keyed(WAITS))
    assert await closed(repeated) == WorkflowExecutionStatus.CANCELED
    assert len(stage.log.runs("again-cancelled")) == 1


@pytest.mark.parametrize(
    "other",
    [{"message": "pay more"}, {"input": {"pay": {"x": 1}}}, {"config": {"maxIterations": 5}}],
    ids=["message", "input", "config"],
)
async def test_the_same_key_with_another_request_is_refused(
    stage: Stage, other: JsonObject, request: pytest.FixtureRequest
) -> None:
    thread = f"again-other-{request.node.callspec.id}"
    run = await stage.run(thread, keyed(PAYS))
    refused = await failure_of(await stage.start(thread, {**keyed(PAYS), **other}))
    assert refused.type == "IdempotencyKeyReuse"
    assert refused.details[0]["details"] == {"runId": run["runId"]}
    assert CALLS[thread] == ["pay:0"]


async def test_a_later_turn_changes_nothing_of_it(stage: Stage) -> None:
    first = await stage.run("again-later", keyed(PAYS))
    await stage.run("again-later", keyed(PAYS, "k-2"))
    await stage.run("again-later", {"graph": PAYS, "message": "pay"})
    assert (await stage.run("again-later", keyed(PAYS)))["runId"] == first["runId"]
    assert CALLS["again-later"] == ["pay:0"] * 3
    assert [run.idempotency_key for run in stage.log.runs("again-later")] == ["k-1", "k-2", None]


async def test_without_a_key_two_equal_messages_are_two_turns(stage: Stage) -> None:
    for _ in range(2):
        await stage.run("again-plain", {"graph": PAYS, "message": "pay"})
    assert CALLS["again-plain"] == ["pay:0", "pay:0"]


async def test_the_same_key_on_another_thread_is_another_turn(stage: Stage) -> None:
    runs = [(await stage.run(f"again-{name}", keyed(PAYS)))["runId"] for name in ("one", "two")]
    assert runs[0] != runs[1]


async def test_while_the_run_is_open_a_repeated_start_is_told_so(stage: Stage) -> None:
    handle = await stage.start("again-open", keyed(WAITS))
    await until(handle, "awaiting")
    with pytest.raises(WorkflowAlreadyStartedError):
        await stage.client.start_workflow(
            "Run", keyed(WAITS), id="thread/again-open", task_queue=stage.task_queue
        )
    await handle.terminate(reason="lost")
    refused = await failure_of(await stage.start("again-open", keyed(WAITS)))
    assert refused.type == "ThreadBusy"
    assert refused.details[0]["details"]["runId"] == handle.first_execution_run_id
    taken = await stage.start("again-open", graph=WAITS)
    await until(taken, "awaiting")
    await taken.signal("resume", {"decision": "approve"})
    result = await taken.result()
    assert (await stage.run("again-open", keyed(WAITS))) == {**result, "duplicate": True}


async def test_of_two_front_ends_at_once_one_begins_the_turn(stage: Stage) -> None:
    async def begun() -> JsonObject | None:
        try:
            return await stage.run("again-both", keyed(PAYS))
        except (WorkflowAlreadyStartedError, WorkflowFailureError):
            return None

    results = await asyncio.gather(*(begun() for _ in range(8)))
    assert CALLS["again-both"] == ["pay:0"]
    assert len(stage.log.runs("again-both")) == 1
    assert any(result is not None for result in results)


async def test_a_key_outlives_worker_and_workflow(stage: Stage) -> None:
    first = await stage.run("again-restarted", keyed(PAYS))
    await stage.restart()
    assert (await stage.run("again-restarted", keyed(PAYS)))["runId"] == first["runId"]
