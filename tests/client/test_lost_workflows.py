"""Commands to a thread whose workflow the server has lost say what the log says of it."""

import asyncio

import pytest
from live_stage import REVIEW, SOON, WITHIN_LIMIT, Served
from temporalio.api.enums.v1 import EventType

from tests.engine.gone import deleted
from tests.engine.test_log_ahead import reset_before

VERBS = (
    ("resume", "--decision", "approve"),
    ("resume",),
    ("pause",),
    ("cancel",),
    ("watch",),
)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
async def test_a_paused_run_whose_workflow_was_deleted_names_what_makes_it_answerable(
    here: Served, thread: str, verb: tuple[str, ...]
) -> None:
    await here.threads.start(thread, REVIEW)
    await here.threads.wait(thread, within=SOON)
    handle = here.client.get_workflow_handle(f"thread/{thread}")
    described = await handle.describe()
    await deleted(
        here.client.get_workflow_handle(
            f"thread/{thread}",
            run_id=described.run_id,
            first_execution_run_id=described.run_id,
        )
    )

    refusal = (await here.answer(verb[0], thread, *verb[1:])).refusal

    assert refusal == (
        f"PIPELINE_TERMINAL: no run of thread '{thread}' is open: start the next turn on the "
        "thread, or, where its workflow was lost while it waited, take it over: fermata reconcile "
        f"{thread} --repair"
    )
    repaired = await here.answer("reconcile", thread, "--repair", "--json")
    assert [finding["repaired"] for finding in repaired.document] == ["it goes on"]
    await here.threads.wait(thread, within=SOON)
    if verb[0] == "resume" and len(verb) > 1:
        assert (await here.answer(verb[0], thread, *verb[1:])).code == 0


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
async def test_a_run_that_has_ended_and_that_the_server_forgot_is_not_called_lost(
    here: Served, thread: str, verb: tuple[str, ...]
) -> None:
    run = await here.threads.start(thread, WITHIN_LIMIT)
    await here.threads.result(thread, within=SOON)
    await deleted(
        here.client.get_workflow_handle(
            f"thread/{thread}", run_id=run.run_id, first_execution_run_id=run.run_id
        )
    )

    assert (await here.answer(verb[0], thread, *verb[1:])).refusal == (
        f"PIPELINE_TERMINAL: no run of thread '{thread}' is open: its last one, {run.run_id}, has "
        "ended; start the next turn on the thread"
    )


async def test_watching_a_terminated_run_names_what_makes_it_answerable(
    here: Served, thread: str
) -> None:
    run = await here.threads.start(thread, REVIEW)
    await here.threads.wait(thread, within=SOON)
    await here.client.get_workflow_handle(f"thread/{thread}").terminate(reason="power cut")

    assert (await here.answer("watch", thread)).err.splitlines()[-1] == (
        f"RunLost: the workflow of run {run.run_id} of thread '{thread}' is gone: power cut; "
        f"`fermata state {thread}` shows what the log has of it; it has not ended, take "
        f"it over: fermata reconcile {thread} --repair"
    )


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
async def test_a_forked_thread_without_a_run_names_its_first(
    here: Served, thread: str, verb: tuple[str, ...]
) -> None:
    await here.threads.start(thread, REVIEW)
    await here.threads.wait(thread, within=SOON)
    point = (await here.answer("state", thread, "--json")).document["run"]["checkpointId"]
    assert (await here.answer("fork", thread, "--at", point, "--to", f"{thread}-2")).code == 0

    refusal = (await here.answer(verb[0], f"{thread}-2", *verb[1:])).refusal

    assert refusal == (
        f"UnknownThread: thread '{thread}-2' was forked and has no run yet; its first: "
        f"fermata start {thread}-2 GRAPH"
    )


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
async def test_a_thread_that_nobody_knows_stays_unknown(
    here: Served, thread: str, verb: tuple[str, ...]
) -> None:
    refusal = (await here.answer(verb[0], thread, *verb[1:])).refusal
    assert refusal.startswith(
        f"UnknownThread: the Temporal server knows no run of thread '{thread}'"
    )


async def test_a_run_that_was_reset_is_followed_to_its_end(here: Served, thread: str) -> None:
    started = await here.threads.start(thread, REVIEW)
    await here.threads.wait(thread, within=SOON)
    asked = asyncio.create_task(here.threads.result(thread, started.run_id, within=SOON))
    handle = here.client.get_workflow_handle(f"thread/{thread}")

    await reset_before(here.client, handle, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
    await here.threads.wait(thread, within=SOON)
    await here.threads.resume(thread, decision="approve")

    result = await asked
    assert (result["runId"], result["status"]) == (started.run_id, "completed")
    assert await here.threads.result(thread, started.run_id, within=SOON) == result
