"""A start that no worker can take up yet: every verb says what it waits for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from live_stage import REVIEW, SOON, Served
from temporalio.client import Client

from client.command import beginning
from client.failures import DATA_CONVERTER
from client.worker import build_worker, open_resources
from seeding.errors import ThreadBusy
from tests.engine.test_missing_node_types import registry_without

LACKED = "expense_policy"


@asynccontextmanager
async def worker(served: Served, *lacking: str) -> AsyncGenerator[None]:
    """Serve the queue by a worker that lacks node types."""
    # One client registers no two workers on a queue.
    client = await Client.connect(
        served.client.service_client.config.target_host, data_converter=DATA_CONVERTER
    )
    queue = served.configured.task_queue
    async with open_resources(served.configured) as resources:
        limited = replace(resources, registry=registry_without(*lacking))
        async with build_worker(client, limited, queue):
            yield


async def lost_while_paused(served: Served, thread: str) -> str:
    """Leave a run at its gate, its workflow terminated and its worker gone; return its id."""
    async with worker(served):
        run = await served.threads.start(thread, REVIEW)
        await served.threads.wait(thread, within=SOON)
        await served.client.get_workflow_handle(f"thread/{thread}").terminate(reason="lost")
    return run.run_id


async def why_waiting(served: Served, thread: str) -> str:
    """Return what holds up the start, once a worker has tried it."""
    for _ in range(1000):
        why = await served.threads.why_waiting(thread)
        if why is not None:
            return why
        await asyncio.sleep(0.02)
    raise AssertionError("no worker tried the start")


async def test_each_verb_names_the_node_type_that_the_taking_over_waits_for(
    nobody_here: Served, thread: str
) -> None:
    here = nobody_here
    run = await lost_while_paused(here, thread)
    async with worker(here, LACKED):
        chain = (await here.threads.start(thread, {"graph": "expense-review"})).run_id
        why = await why_waiting(here, thread)

        assert why.startswith(
            "its start waits for a worker that can take it up; the last that tried says: graph "
            f"'expense-review' cannot run: node 'check': unknown type '{LACKED}'"
        )
        assert "FERMATA_NODES" in why
        not_open = (
            "the run is not open yet: a worker that serves its node types has to take its start up "
            "(the Temporal UI shows what the start activity last failed with); name"
        )
        answered = (await here.answer("resume", thread, "--decision", "approve")).refusal
        assert answered == (f"NothingToAnswer: {not_open} the ticket to answer it early; {why}")
        lifted = (await here.answer("resume", thread)).refusal
        assert lifted == f"NO_ACTIVE_PAUSE: {not_open} the pause's ticket to lift it early; {why}"
        watched = await here.answer("watch", thread, "--timeout", "2")
        assert (watched.code, watched.err.splitlines()) == (
            1,
            [
                f"run {chain}: starting",
                why,
                f"StillOpen: run {chain} of thread '{thread}' neither waits nor ended within 2 "
                f"s; {why}",
            ],
        )
        with pytest.raises(ThreadBusy) as busy:
            await here.threads.start(thread, {"graph": "expense-review"})
        assert busy.value.message == f"run {chain} of thread '{thread}' has not begun: {why}"

        early = await here.answer(
            *("resume", thread, "--ticket", f"{run}:gate:0:0", "--decision", "approve")
        )
        assert early.out.startswith("the answer is kept for the ticket, which is not open yet")
    # The worker that lacks the type has gone: it would take every second try again.
    async with worker(here):
        ended = await here.threads.result(thread, within=SOON)
    assert (ended["runId"], ended["status"]) == (run, "completed")


@pytest.mark.parametrize("verb", ["start", "reconcile"])
async def test_who_takes_a_run_over_is_told_what_that_waits_for(
    nobody_here: Served, thread: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = nobody_here
    await lost_while_paused(here, thread)
    monkeypatch.setattr(beginning, "OPEN_SECONDS", 3.0)
    monkeypatch.setattr("client.reconciling.REPAIR_SECONDS", 3.0)
    async with worker(here, LACKED):
        if verb == "start":
            said = (await here.answer("start", thread, "expense-review")).err
            assert said.startswith("no worker has taken the run up within 3 s; its start waits ")
        else:
            (finding,) = (await here.answer("reconcile", thread, "--repair", "--json")).document
            said = finding["repaired"]
            assert said.startswith("its start waits for a worker that can take it up; ")
    assert f"unknown type '{LACKED}'" in said


async def test_a_start_that_nobody_has_tried_yet_waits_for_any_worker(
    nobody_here: Served, thread: str
) -> None:
    await nobody_here.threads.start(thread, REVIEW)
    assert await nobody_here.threads.why_waiting(thread) is None
