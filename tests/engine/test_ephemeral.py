"""The ephemeral store: nothing outlives the run (SG-11, FD-53)."""

import pytest
from temporalio.client import Client

from activities.log import CommitLog
from seeding.errors import InvalidCommit
from tests.engine.graphs import review
from tests.engine.refused_starts import dump
from tests.engine.stage import Handle, Stage, is_cancelled, staged, until

EPHEMERAL = {"config": {"checkpointStore": "ephemeral"}}


async def test_an_ephemeral_turn_leaves_the_thread_exactly_as_it_was(stage: Stage) -> None:
    await stage.run("ephemeral", {**review(50), "message": "keep this", "data": {"k": 1}})
    before = dump(stage, "ephemeral")
    result = await stage.run(
        "ephemeral", {**review(60), **EPHEMERAL, "message": "not this", "data": {"k": 2}}
    )
    assert result["status"] == "completed"
    assert result["results"]["summary"] == {"message": "Done: [60]"}
    assert result["start"]["source"] == "thread"
    assert dump(stage, "ephemeral") == before
    assert stage.log.state("ephemeral").state.data == {"k": 1}


async def test_the_only_run_of_a_thread_leaves_no_thread(stage: Stage) -> None:
    await stage.run("ephemeral-only", {**review(50), **EPHEMERAL})
    assert stage.log.threads() == []
    assert dump(stage, "ephemeral-only") == [0, [], [], []]


async def test_while_it_is_open_it_pauses_restarts_and_continues_like_any_other(
    client: Client, log_url: str
) -> None:
    async with staged(client, log_url, continue_after=30, cached=0) as stage:
        handle = await stage.start("ephemeral-open", {**review(*[50] * 20, 150), **EPHEMERAL})
        latest: Handle = client.get_workflow_handle(handle.id)
        state = await until(latest, "awaiting")
        assert (await latest.describe()).run_id != handle.first_execution_run_id
        await stage.restart()
        assert await until(latest, "awaiting") == state
        ticket = state["run"]["waitingFor"][0]["ticket"]
        await latest.signal("resume", {"ticket": ticket, "decision": "deny"})
        assert (await handle.result())["status"] == "completed"
        assert stage.log.latest_run("ephemeral-open") is None


async def test_a_cancelled_one_is_forgotten_too(stage: Stage) -> None:
    handle = await stage.start("ephemeral-cancel", {**review(150), **EPHEMERAL})
    await until(handle, "awaiting")
    await handle.signal("cancel", {})
    assert await is_cancelled(handle)
    assert stage.log.latest_run("ephemeral-cancel") is None
    assert stage.log.open_tickets() == ()


async def test_a_durable_run_is_never_forgotten(stage: Stage) -> None:
    result = await stage.run("durable", review(50))
    with pytest.raises(InvalidCommit, match="only an ended ephemeral run"):
        stage.log.forget_run(result["runId"])
    assert isinstance(stage.log, CommitLog)
    assert stage.log.latest_run("durable") is not None
