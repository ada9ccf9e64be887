"""Records the histories that later releases must replay; run once a release.

``python -m tests.engine.record_histories`` writes ``tests/histories/<version>-<shape>.json``.
"""

import asyncio
import re
import tempfile
from importlib.metadata import version
from pathlib import Path

from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from settings import server_settings, temporal_binary
from tests.engine.gone import gone_while_paused
from tests.engine.graphs import held_chain, until_called
from tests.engine.nodes import GATES
from tests.engine.queues import ECHO, GATED, ended_runs, send
from tests.engine.stage import Handle, Stage, is_cancelled, staged, until, update
from tests.engine.test_replay import HISTORIES, recorded_run

IDENTITY = re.compile(r'"identity": "[^"]*"')


async def keep(handle: Handle, shape: str) -> None:
    """Write a run's history, without the name of the machine it ran on."""
    text = IDENTITY.sub('"identity": "worker@host"', (await handle.fetch_history()).to_json())
    text = re.sub(r'"\d+@[^"-]+-', '"1@host-', text)
    (HISTORIES / f"{version('fermata')}-{shape}.json").write_text(text + "\n")


async def main() -> None:
    """Record one run of each shape."""
    HISTORIES.mkdir(exist_ok=True)
    async with await WorkflowEnvironment.start_local(  # pyright: ignore[reportUnknownMemberType]
        data_converter=pydantic_data_converter,
        dev_server_existing_path=str(temporal_binary()),
        dev_server_extra_args=server_settings(for_tests=True),
        dev_server_log_level="error",
    ) as environment:
        url = f"sqlite:///{Path(tempfile.mkdtemp()) / 'log.db'}"
        async with staged(environment.client, url) as stage:
            await keep(await recorded_run(stage, environment.client, "parallel"), "parallel")
            handle = await stage.start(
                "loop", graph="expense-review", input={"items": {"value": [50, 150]}}
            )
            state = await until(handle, "awaiting")
            await handle.signal("pause", {"reason": "lunch"})
            await until(handle, "paused")
            await handle.signal("resume", {})
            ticket = state["run"]["waitingFor"][0]["ticket"]
            await handle.signal("resume", {"ticket": ticket, "decision": "deny"})
            await handle.result()
            await keep(handle, "loop-gate-pause")
            await keep(await adopted(stage), "adopted")
            await keep(await forked(stage, ticket.split(":")[0]), "forked")
            await keep(await cancelled_in_its_node(stage), "cancelled-in-node")
            await keep(await queued(stage), "queued")
            await keep(stage.client.get_workflow_handle("queue/queued"), "turn-queue")


async def adopted(stage: Stage) -> Handle:
    """Take over a run that waits, and answer it."""
    gone = await gone_while_paused(stage, "adopted")
    handle = await stage.start("adopted", graph="expense-review")
    await until(handle, "awaiting")
    await handle.signal("resume", {"ticket": gone.ticket, "decision": "approve"})
    await handle.result()
    return handle


async def forked(stage: Stage, run_id: str) -> Handle:
    """Start in the middle of a run that has ended, and answer its question anew."""
    handle = await stage.start("forked", graph="expense-review", forkFrom=f"{run_id}:6")
    state = await until(handle, "awaiting")
    ticket = state["run"]["waitingFor"][0]["ticket"]
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    await handle.result()
    return handle


async def cancelled_in_its_node(stage: Stage) -> Handle:
    """Cancel a run whose node is running, and let the node come to its end."""
    handle = await stage.start("cancelled-in-node", graph=held_chain("recorded"))
    await until_called("cancelled-in-node", "first:0")
    await handle.signal("cancel", {"reason": "enough"})
    await handle.query("state")  # Answered once the run has taken the signal.
    GATES["recorded"].set()
    assert await is_cancelled(handle)
    return handle


async def queued(stage: Stage) -> Handle:
    """Queue messages behind a run by both doors, one of them twice, and supersede it."""
    handle = await stage.start("queued", {"graph": GATED, "message": "0"})
    await until(handle, "awaiting")
    for _ in range(2):
        await send(handle, "1", graph=ECHO, idempotencyKey="k")
    await handle.signal("message", {"message": "2", "graph": "nowhere", "onBusy": "queue"})
    await update(handle, "message", {"message": "3", "graph": ECHO, "onBusy": "supersede"})
    await ended_runs(stage, "queued", 3)
    await stage.client.get_workflow_handle("queue/queued").result()
    return handle


if __name__ == "__main__":
    asyncio.run(main())
