"""A message while a run is open becomes the thread's next turn (contract 5, KU-34..44, PB-E)."""

import asyncio

from temporalio.client import WorkflowExecutionStatus

from tests.engine.nodes import CALLS
from tests.engine.queues import (
    ECHO,
    GATED,
    ended_runs,
    queue_closed,
    said,
    send,
    states,
    until_refused,
    until_turn,
)
from tests.engine.stage import Stage, refused, until, update


async def test_it_starts_when_the_run_ends_on_the_graph_of_that_run(stage: Stage) -> None:
    handle = await stage.start("queued", {"graph": GATED, "message": "first"})
    waiting = await until(handle, "awaiting")

    reply = await send(handle, "second")

    assert reply == {
        "accepted": True,
        "runId": waiting["run"]["runId"],
        "ticket": None,
        "duplicate": False,
        "pending": True,
        "queuedTurn": 1,
    }
    assert (await handle.query("state"))["run"]["phase"] == "awaiting"
    assert said(stage, "queued") == ["first"]
    await update(handle, "resume", {"decision": "approve"})
    next_handle = stage.client.get_workflow_handle("thread/queued")
    runs = await ended_runs(stage, "queued", 1)
    await until(next_handle, "awaiting")
    runs = stage.log.runs("queued")
    assert [run.phase for run in runs] == ["ended", "awaiting"]
    assert runs[1].graph_digest == runs[0].graph_digest
    assert said(stage, "queued") == ["first", "second"]
    assert states(stage, "queued") == ["started"]
    assert stage.log.queued_turns("queued")[0].run_id == runs[1].run_id
    await update(next_handle, "resume", {"decision": "approve"})
    assert (await next_handle.result())["status"] == "completed"
    assert await queue_closed(stage, "queued") == WorkflowExecutionStatus.COMPLETED
    assert CALLS["queued"] == ["pay:0", "pay:0"]


async def test_turns_keep_their_order_and_each_run_has_its_own_outcome(stage: Stage) -> None:
    handle = await stage.start("ordered", {"graph": GATED, "message": "0"})
    await until(handle, "awaiting")
    numbers = [(await send(handle, str(n), graph=ECHO))["queuedTurn"] for n in (1, 2, 3)]
    await handle.signal("message", {"message": "4", "graph": ECHO, "onBusy": "queue"})
    await handle.signal("cancel", {"reason": "enough"})

    runs = await ended_runs(stage, "ordered", 5)

    assert numbers == [1, 2, 3]
    assert said(stage, "ordered") == ["0", "1", "2", "3", "4"]
    causes = [run.cause.kind for run in runs if run.cause is not None]
    assert causes == ["Cancelled", *["NaturalEnd"] * 4]
    assert await queue_closed(stage, "ordered") == WorkflowExecutionStatus.COMPLETED
    assert states(stage, "ordered") == ["started"] * 4


async def test_a_message_passes_no_gate_and_no_pause(stage: Stage) -> None:
    handle = await stage.start("passes", {"graph": GATED, "message": "first"})
    (ticket,) = (await until(handle, "awaiting"))["run"]["waitingFor"]
    await update(handle, "pause", {})
    await until(handle, "paused")

    await send(handle, "approve")

    assert ticket["ticket"] in [item["ticket"] for item in await handle.query("tickets")]
    await update(handle, "resume", {})
    assert (await until(handle, "awaiting"))["run"]["waitingFor"] == [ticket]
    assert states(stage, "passes") == ["queued"]
    await handle.signal("cancel", {})
    await ended_runs(stage, "passes", 1)
    await until_turn(stage, "passes", 1, "started")
    assert states(stage, "passes") == ["started"]


async def test_without_being_asked_to_queue_a_run_rejects_it(stage: Stage) -> None:
    handle = await stage.start("rejects", {"graph": GATED})
    await until(handle, "awaiting")

    assert await refused(handle, "message", {"message": "second"}) == "ThreadBusy"
    await handle.signal("message", {"message": "third"})

    entries = await handle.query("refusals")
    assert [(entry["name"], entry["code"]) for entry in entries] == [("message", "ThreadBusy")]
    assert stage.log.queued_turns("rejects") == []


async def test_the_runs_config_decides_where_the_message_does_not(stage: Stage) -> None:
    queues = {"graph": GATED, "config": {"onBusy": "queue"}}
    handle = await stage.start("config", queues)
    await until(handle, "awaiting")

    assert (await update(handle, "message", {"message": "x"}))["queuedTurn"] == 1
    assert await refused(handle, "message", {"message": "y", "onBusy": "reject"}) == "ThreadBusy"
    assert states(stage, "config") == ["queued"]


async def test_one_that_supersedes_cancels_the_run_and_goes_behind_what_was_queued(
    stage: Stage,
) -> None:
    handle = await stage.start("supersedes", {"graph": GATED, "message": "0"})
    await until(handle, "awaiting")
    await send(handle, "1", graph=ECHO)
    sent = {"message": "2", "graph": ECHO, "onBusy": "supersede", "idempotencyKey": "k"}

    reply = await update(handle, "message", sent)

    assert reply["queuedTurn"] == 2
    runs = await ended_runs(stage, "supersedes", 3)
    assert runs[0].cause is not None
    assert (runs[0].cause.kind, runs[0].cause.message) == ("Cancelled", "superseded")
    assert said(stage, "supersedes") == ["0", "1", "2"]


async def test_the_same_supersede_again_cancels_nothing(stage: Stage) -> None:
    handle = await stage.start("supersedes-twice", {"graph": GATED})
    await until(handle, "awaiting")
    sent = {"message": "2", "onBusy": "supersede", "idempotencyKey": "k"}
    first = await update(handle, "message", sent)
    await ended_runs(stage, "supersedes-twice", 1)
    handle = stage.client.get_workflow_handle("thread/supersedes-twice")
    await until(handle, "awaiting")

    assert await update(handle, "message", sent) == {**first, "duplicate": True}

    assert (await handle.query("state"))["run"]["phase"] == "awaiting"
    assert len(stage.log.runs("supersedes-twice")) == 2


class TestIdempotencyKeys:
    async def test_the_same_key_gets_the_first_answer_also_after_the_run_and_the_turn(
        self, stage: Stage
    ) -> None:
        handle = await stage.start("keyed", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        first = await send(handle, "1", graph=ECHO, idempotencyKey="k")

        again = [await send(handle, "1", graph=ECHO, idempotencyKey="k") for _ in range(2)]

        assert again == [{**first, "duplicate": True}] * 2
        await handle.signal("cancel", {})
        await ended_runs(stage, "keyed", 2)
        await queue_closed(stage, "keyed")
        later = await stage.start("keyed", {"graph": GATED, "message": "2"})
        await until(later, "awaiting")
        assert await send(later, "1", graph=ECHO, idempotencyKey="k") == again[0]
        await later.signal("cancel", {})
        await ended_runs(stage, "keyed", 3)
        assert said(stage, "keyed") == ["0", "1", "2"]

    async def test_the_same_key_with_another_message_is_refused(self, stage: Stage) -> None:
        handle = await stage.start("keyed-other", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        await send(handle, "1", idempotencyKey="k")

        sent = {"message": "2", "onBusy": "queue", "idempotencyKey": "k"}

        assert await refused(handle, "message", sent) == "IdempotencyKeyReuse"
        await handle.signal("message", sent)
        (entry,) = await until_refused(handle, 1)
        assert (entry["name"], entry["code"]) == ("message", "IdempotencyKeyReuse")
        assert entry["payload"] == {"message": "2", "idempotencyKey": "k"}
        assert len(stage.log.queued_turns("keyed-other")) == 1

    async def test_two_front_ends_at_once_make_one_turn(self, stage: Stage) -> None:
        handle = await stage.start("front-ends", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")

        replies = await asyncio.gather(
            *(send(handle, "1", idempotencyKey="k", graph=ECHO) for _ in range(4))
        )

        assert sorted(reply["duplicate"] for reply in replies) == [False, True, True, True]
        assert {reply["queuedTurn"] for reply in replies} == {1}

    async def test_a_start_and_a_message_under_one_key_are_one_turn(self, stage: Stage) -> None:
        ran = await stage.run("one-key", {"graph": ECHO, "message": "1", "idempotencyKey": "k"})
        handle = await stage.start("one-key", {"graph": GATED, "message": "2"})
        await until(handle, "awaiting")

        known = await send(handle, "1", graph=ECHO, idempotencyKey="k")

        assert known == {
            "accepted": True,
            "runId": ran["runId"],
            "ticket": None,
            "duplicate": True,
            "pending": False,
        }
        assert stage.log.queued_turns("one-key") == []

    async def test_without_a_key_two_equal_messages_are_two_turns(self, stage: Stage) -> None:
        handle = await stage.start("equal", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        for _ in range(2):
            await send(handle, "1", graph=ECHO)
        await handle.signal("cancel", {})
        await ended_runs(stage, "equal", 3)
        assert said(stage, "equal") == ["0", "1", "1"]


class TestRefusals:
    async def test_a_graph_that_is_not_there_is_refused_at_once(self, stage: Stage) -> None:
        handle = await stage.start("no-graph", {"graph": GATED})
        await until(handle, "awaiting")

        sent = {"message": "1", "onBusy": "queue", "graph": "nowhere"}

        assert await refused(handle, "message", sent) == "UnknownGraph"
        await handle.signal("message", sent)
        (entry,) = await until_refused(handle, 1)
        assert (entry["name"], entry["code"]) == ("message", "UnknownGraph")
