"""The log does not answer for a while: the run waits, stays answerable, and guesses nothing."""

import asyncio
import sqlite3
from contextlib import closing

from temporalio.api.failure.v1 import Failure

from seeding.model import JsonObject
from tests.engine.graphs import graph, until_called
from tests.engine.nodes import GATES
from tests.engine.stage import Handle, Stage, until, update

VALUE = {"id": "a", "type": "value", "config": {"value": 1}}


def held_until(gate: str) -> JsonObject:
    """A graph whose first node waits for a gate of its own."""
    return {
        "id": gate,
        "nodes": [
            {"id": "first", "type": "held", "config": {"name": gate}},
            {"id": "second", "type": "noted"},
        ],
        "edges": ["first.value -> second.value"],
    }


async def last_failure(handle: Handle) -> Failure:
    """Return what the server shows of the pending activity's last failure, once there is one."""
    for _ in range(400):
        described = await handle.describe()
        for pending in described.raw_description.pending_activities:
            if pending.HasField("last_failure"):
                return pending.last_failure
        await asyncio.sleep(0.05)
    raise AssertionError("no pending activity has failed")


async def test_what_the_log_said_is_shown_while_an_activity_is_retried(stage: Stage) -> None:
    document = graph("log-said", {"first": "gate", "second": "noted"}, "first.answer -> second.a")
    handle = await stage.start("log-said", graph=document)
    await until(handle, "awaiting")
    path = stage.log_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await handle.signal("resume", {"decision": "approve"})
        shown = await last_failure(handle)
        other.execute("ROLLBACK")
    assert shown.message == (
        f"the log at {stage.log_url} did not answer while appending: database is locked"
    )
    assert shown.application_failure_info.type == "CommitUnavailable"
    assert not shown.application_failure_info.non_retryable
    assert not shown.HasField("cause")
    assert list((await handle.result())["results"]) == ["first", "second"]


async def test_a_start_that_finds_the_log_locked_says_so_and_goes_on(stage: Stage) -> None:
    path = stage.log_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        handle = await stage.start("log-shut", graph={"id": "one", "nodes": [VALUE], "edges": []})
        shown = await last_failure(handle)
        other.execute("ROLLBACK")
    assert shown.message.endswith("database is locked")
    assert shown.application_failure_info.type == "CommitUnavailable"
    assert (await handle.result())["status"] == "completed"


async def test_while_another_process_holds_the_log_the_run_answers_and_then_goes_on(
    stage: Stage,
) -> None:
    handle = await stage.start("log-away", graph=held_until("log-away"))
    await until(handle, "running")
    await until_called("log-away", "first:0")
    path = stage.log_url.removeprefix("sqlite:///")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    try:
        GATES["log-away"].set()
        await asyncio.sleep(1.5)
        state = await handle.query("state")
        assert state["run"]["checkpointId"].endswith(":0"), "nothing was adopted"
        await update(handle, "pause", {"reason": "meanwhile"})
    finally:
        other.execute("ROLLBACK")
        other.close()
    await until(handle, "paused")
    await handle.signal("resume", {})
    result = await handle.result()
    assert list(result["results"]) == ["first", "second"]
    made = [row.node_id for row in stage.log.checkpoints("log-away")]
    # The outcome of the node and the pause both wait for the log; either may reach it first.
    assert made in (["first", None, "second", None], [None, "first", "second", None])
