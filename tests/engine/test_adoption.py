"""A run whose workflow is gone goes on untouched under its own id (SG-12, AW-49, PB-D11)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType

from activities.log import Execution, Takeover
from seeding.model import JsonObject
from tests.engine.gone import deleted, gone_while_paused, gone_while_running, terminated
from tests.engine.graphs import graph, held_chain, review, until_called
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, failure_of, is_cancelled, until, update
from tests.engine.test_log_ahead import reset_before

AGAIN: JsonObject = {"graph": "expense-review"}


async def timed_out(handle: Handle) -> None:
    """Wait until the run's execution timeout has closed it."""
    for _ in range(400):
        if (await handle.describe()).close_time is not None:
            return
        await asyncio.sleep(0.025)
    raise AssertionError("it never timed out")


WAYS: dict[str, Callable[[Handle], Awaitable[None]]] = {
    "terminated": terminated,
    "timed out": timed_out,
    "deleted": deleted,
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_paused_run_is_adopted_untouched_and_its_answer_goes_through(
    stage: Stage, way: str
) -> None:
    thread = f"adopted-{way.replace(' ', '-')}"
    options: dict[str, Any] = (
        {"execution_timeout": timedelta(seconds=1.5)} if way == "timed out" else {}
    )
    first = await stage.client.start_workflow(
        "Run",
        {**review(50, 150, 99), "message": "please", "data": {"budget": 7}},
        id=f"thread/{thread}",
        task_queue=stage.task_queue,
        **options,
    )
    before = await until(first, "awaiting")
    await WAYS[way](first)
    logged, state = stage.log.commits(thread), stage.log.state(thread)

    second = await stage.start(thread, AGAIN)
    after = await until(second, "awaiting")

    assert after == before
    assert stage.log.commits(thread) == logged
    assert stage.log.state(thread).state == state.state
    run_id = str(first.first_execution_run_id)
    assert [owner.owner_epoch for owner in stage.log.owners(run_id)] == [1, 2]

    ticket = after["run"]["waitingFor"][0]["ticket"]
    answered = await update(second, "resume", {"ticket": ticket, "decision": "approve"})
    assert answered["runId"] == run_id
    result = await second.result()
    assert (result["runId"], result["status"]) == (run_id, "completed")
    assert result["start"]["source"] == "paused"
    assert result["results"]["summary"]["message"] == 'Done: [50,"approve",99]'
    assert [run.run_id for run in stage.log.runs(thread)] == [run_id]
    assert len(stage.log.commits(thread, after=len(logged))) == 6


async def test_an_adopted_run_is_adopted_again_and_keeps_its_id(stage: Stage) -> None:
    gone = await gone_while_paused(stage, "adopted-twice")
    for _ in range(2):
        handle = await stage.start("adopted-twice", AGAIN)
        assert await until(handle, "awaiting") == gone.state
        await terminated(handle)
    last = await stage.start("adopted-twice", AGAIN)
    await until(last, "awaiting")
    await update(last, "resume", {"ticket": gone.ticket, "decision": "deny"})
    assert (await last.result())["runId"] == gone.run_id
    run = stage.log.run(gone.run_id)
    assert run is not None
    assert run.owner_epoch == 4


async def test_an_adopting_start_says_what_it_did(stage: Stage) -> None:
    gone = await gone_while_paused(stage, "adopted-told")
    other: JsonObject = {"id": "other", "nodes": [{"id": "one", "type": "value"}]}
    handle = await stage.start("adopted-told", graph=other, config={"maxIterations": 3})
    await until(handle, "awaiting")
    provenance = await handle.query("provenance")
    assert provenance["runId"] == gone.run_id
    assert provenance["start"] == {
        "source": "paused",
        "passedOver": [
            {"source": "initialSnapshot", "why": "not given"},
            {"source": "checkpoint", "why": "not given"},
        ],
    }
    assert [warning["code"] for warning in provenance["warnings"]] == [
        "pinned_graph",
        "pinned_config",
    ]
    assert "not 3" in provenance["warnings"][1]["message"]


async def test_what_an_adopting_start_said_survives_continue_as_new(stage: Stage) -> None:
    """The provenance is the owner's, kept in the log; not what the first execution recalled."""
    gone = await gone_while_paused(stage, "adopted-kept")
    handle = await stage.start("adopted-kept", AGAIN)
    await until(handle, "awaiting")
    chain = str(handle.first_execution_run_id)
    owner = stage.log.owners(gone.run_id)[-1]
    assert (owner.chain_id, owner.last_ordinal) == (chain, 4)
    assert owner.takeover is not None
    assert owner.takeover.start["source"] == "paused"
    await stage.restart()
    await update(handle, "resume", {"ticket": gone.ticket, "decision": "approve"})
    assert (await handle.result())["start"]["source"] == "paused"


async def test_a_run_is_adopted_by_its_last_checkpoint_whatever_graph_is_named(
    stage: Stage,
) -> None:
    gone = await gone_while_paused(stage, "adopted-named")
    handle = await stage.start(
        "adopted-named", graph="no-such-graph", checkpointId=f"{gone.run_id}:4"
    )
    assert await until(handle, "awaiting") == gone.state
    assert (await handle.query("provenance"))["start"]["source"] == "checkpoint"


async def test_an_abandoned_run_ends_as_cancelled_and_the_next_turn_starts(stage: Stage) -> None:
    gone = await gone_while_paused(stage, "abandoned")
    result = await stage.run("abandoned", {**review(50), "abandon": True})
    assert result["start"]["source"] == "thread"
    old, new = stage.log.runs("abandoned")
    assert old.cause is not None
    assert (old.run_id, old.cause.kind, old.cause.message) == (
        gone.run_id,
        "Cancelled",
        "abandoned",
    )
    assert (new.run_epoch, new.phase) == (2, "ended")
    assert stage.log.open_tickets("abandoned") == ()


async def test_a_cancel_that_comes_with_an_adopting_start_ends_the_adopted_run(
    stage: Stage,
) -> None:
    """Prototypes, A6: never swallowed, and the thread is free for the next turn."""
    gone = await gone_while_paused(stage, "adopted-cancelled")
    handle = await stage.client.start_workflow(
        "Run",
        AGAIN,
        id="thread/adopted-cancelled",
        task_queue=stage.task_queue,
        start_signal="cancel",
        start_signal_args=[{"reason": "no longer"}],
    )
    assert await is_cancelled(handle)
    (run,) = stage.log.runs("adopted-cancelled")
    assert run.cause is not None
    assert (run.run_id, run.cause.kind, run.cause.message) == (
        gone.run_id,
        "Cancelled",
        "no longer",
    )


async def test_an_execution_that_is_reset_after_another_took_its_run_over_owns_it_again(
    stage: Stage,
) -> None:
    """The server lets one of them be open: the other is fenced, whatever it still sends."""
    gone = await gone_while_paused(stage, "adopted-reset")
    second = await stage.start("adopted-reset", AGAIN)
    await until(second, "awaiting")
    commits = stage.log.commits("adopted-reset")
    first = stage.client.get_workflow_handle("thread/adopted-reset", run_id=gone.run_id)
    await reset_before(stage.client, first, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)

    handle: Handle = stage.client.get_workflow_handle("thread/adopted-reset")
    assert await until(handle, "awaiting") == gone.state
    assert [owner.chain_id for owner in stage.log.owners(gone.run_id)] == [
        gone.run_id,
        second.first_execution_run_id,
        gone.run_id,
    ]
    assert stage.log.commits("adopted-reset") == commits
    await update(handle, "resume", {"ticket": gone.ticket, "decision": "approve"})
    result = await handle.result()
    assert (result["runId"], result["start"]["source"]) == (gone.run_id, "fresh")


async def test_a_chain_that_is_reset_takes_nothing_back_from_another_namespace(
    stage: Stage,
) -> None:
    gone = await gone_while_paused(stage, "adopted-abroad")
    stage.log.take_over(
        gone.run_id, "another chain", Execution(execution_run_id="x", namespace="elsewhere")
    )
    first = stage.client.get_workflow_handle("thread/adopted-abroad", run_id=gone.run_id)
    await reset_before(stage.client, first, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)

    handle: Handle = stage.client.get_workflow_handle("thread/adopted-abroad")
    failure = await failure_of(handle)

    assert failure.type == "ThreadBusy"
    assert "it belongs to namespace 'elsewhere'" in failure.message
    assert [owner.chain_id for owner in stage.log.owners(gone.run_id)] == [
        gone.run_id,
        "another chain",
    ]


def asking(message: str) -> JsonObject:
    """A graph of one name that asks in the words given."""
    return {
        "id": "published",
        "nodes": [{"id": "gate", "type": "gate", "config": {"message": message}}],
    }


async def test_a_run_goes_on_with_the_graph_it_was_opened_with_whatever_its_name_means_now(
    stage: Stage,
) -> None:
    """AW-67, SG-13: also after its workflow was lost; the next turn takes the newer one."""
    first = await stage.start("published-1", graph=asking("v1?"))
    before = await until(first, "awaiting")
    await stage.start("published-2", graph=asking("v2?"))
    await terminated(first)
    second = await stage.start("published-1", graph=asking("v2?"))
    assert await until(second, "awaiting") == before
    assert before["run"]["waitingFor"][0]["message"] == "v1?"
    ticket = before["run"]["waitingFor"][0]["ticket"]
    await update(second, "resume", {"ticket": ticket, "decision": "approve"})
    await second.result()
    third = await stage.start("published-1", graph=asking("v2?"))
    assert (await until(third, "awaiting"))["run"]["waitingFor"][0]["message"] == "v2?"


# --- a run left running ---------------------------------------------------------------------------


async def test_a_run_left_running_is_ended_as_indeterminate_and_the_next_turn_starts(
    stage: Stage,
) -> None:
    """SG-12, design section 3: both in one transaction, with Temporal's reason."""
    run = await gone_while_running(stage, "gone-running")
    result = await stage.run("gone-running", review(50))
    assert result["start"]["source"] == "thread"
    assert [warning["code"] for warning in result["warnings"]] == ["run_was_lost"]
    assert result["warnings"][0]["message"].startswith(
        f"run {run} was left running at {run}:0 and its workflow is gone (reason: terminated: "
        "lost); "
    )
    old, new = stage.log.runs("gone-running")
    assert old.cause is not None
    assert (old.phase, old.cause.kind, old.last_ordinal) == ("ended", "Indeterminate", 1)
    assert old.cause.details == {"reason": "terminated: lost"}
    assert (new.run_epoch, new.phase) == (2, "ended")
    assert stage.log.state("gone-running").state.data == {"kept": 1}


async def test_where_temporal_no_longer_knows_the_reason_is_unknown(stage: Stage) -> None:
    """Prototypes, B18."""
    thread = "gone-forgotten"
    first = await stage.start(thread, graph=held_chain(thread))
    await until_called(thread, "first:0")
    await deleted(first)
    GATES[thread].set()
    await stage.run(thread, review(50))
    old, _ = stage.log.runs(thread)
    assert old.cause is not None
    assert old.cause.details == {"reason": "unknown"}


async def test_a_recovered_run_goes_on_from_its_last_commit(stage: Stage) -> None:
    """What the position lists as dispatched and not completed is dispatched again."""
    thread = "recovered"
    three = graph(
        "three",
        {"first": "noted", "second": ("held", {"name": thread}), "third": "noted"},
        "first.value -> second.value",
        "second.value -> third.value",
    )
    handle = await stage.start(thread, graph=three)
    run = str(handle.first_execution_run_id)
    await until_called(thread, "second:0")
    await terminated(handle)
    GATES[thread].set()

    result = await stage.run(thread, {"graph": three, "recover": True})

    assert (result["runId"], result["status"]) == (run, "completed")
    assert result["start"]["source"] == "recovered"
    assert CALLS[thread].count("first:0") == 1
    assert CALLS[thread].count("third:0") == 1
    assert [row.kind for row in stage.log.checkpoints(thread)] == ["node", "node", "node", "end"]


async def test_five_takeovers_without_a_commit_end_a_run_and_a_sixth_is_not_started(
    stage: Stage,
) -> None:
    """AW-14."""
    thread = "spent"
    run = await gone_while_running(stage, thread)
    recovered = Takeover(start={"source": "recovered", "passedOver": []})
    for n in range(5):
        stage.log.take_over(run, f"chain-{n}", Execution(), recovered)
    result = await stage.run(thread, {**review(50), "recover": True})
    assert result["runId"] != run
    old, _ = stage.log.runs(thread)
    assert old.cause is not None
    assert (old.cause.kind, old.cause.details) == (
        "Indeterminate",
        {"reason": "no progress", "takeovers": 5},
    )
    assert (old.owner_epoch, old.last_ordinal) == (6, 1)
