"""The log does not answer for a while: the run waits, stays answerable, and guesses nothing."""

import asyncio
import sqlite3
import time

from tests.engine.nodes import GATES
from tests.engine.stage import Stage, until, update

GRAPH = {
    "id": "log-away",
    "nodes": [
        {"id": "first", "type": "held", "config": {"name": "log-away"}},
        {"id": "second", "type": "noted"},
    ],
    "edges": ["first.value -> second.value"],
}


async def test_while_another_process_holds_the_log_the_run_answers_and_then_goes_on(
    stage: Stage,
) -> None:
    handle = await stage.start("log-away", graph=GRAPH)
    await until(handle, "running")
    path = stage.log_url.removeprefix("sqlite:///")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    try:
        GATES["log-away"].set()
        await asyncio.sleep(1.5)
        before = time.monotonic()
        state = await handle.query("state")
        answered_in = time.monotonic() - before
        assert state["run"]["checkpointId"].endswith(":0"), "nothing was adopted"
        await update(handle, "pause", {"reason": "meanwhile"})
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert answered_in < 1.5, "a query does not wait for the log"
    await until(handle, "paused")
    await handle.signal("resume", {})
    result = await handle.result()
    assert list(result["results"]) == ["first", "second"]
    assert [row.node_id for row in stage.log.checkpoints("log-away")] == [
        "first",
        None,
        "second",
        None,
    ]
