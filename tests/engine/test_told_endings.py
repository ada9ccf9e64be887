"""Every cancel is told once, by whatever way it came: ORC-15, INT-5, INT-13."""

from collections.abc import Sequence

import pytest

from seeding.model import Json
from tests.engine.gone import gone_while_paused, terminated
from tests.engine.graphs import held_chain, review, until_called, until_completed
from tests.engine.nodes import GATES
from tests.engine.stage import Stage, is_cancelled, until, update
from tests.engine.test_cancel import cancel


def told(stage: Stage, thread: str, run_id: str | None) -> Sequence[Json]:
    """Return the states that the events tell of a run, in order."""
    return [
        event.body["state"]
        for event in stage.log.events(thread, run_id=run_id)
        if event.kind == "run"
    ]


def outcome(stage: Stage, run_id: str) -> tuple[str | None, bool]:
    """Return the kind of a run's cause, and whether its end is recorded as after its beginning."""
    run = stage.log.run(run_id)
    assert run is not None
    assert run.cause is not None
    return run.cause.kind, run.ended_at is not None and run.opened_at <= run.ended_at


@pytest.mark.parametrize("door", ["signal", "update", "native"])
async def test_a_cancel_during_a_node_is_told_once_with_the_runs_end(
    stage: Stage, door: str
) -> None:
    """FD-23."""
    thread = f"told-{door}"
    handle = await stage.start(thread, graph=held_chain(thread))
    await until_called(thread, "first:0")
    await cancel(handle, door)
    GATES[thread].set()
    assert await is_cancelled(handle)
    run_id = str(handle.first_execution_run_id)
    assert told(stage, thread, run_id) == ["Running", "Cancelled"]
    assert outcome(stage, run_id) == ("Cancelled", True)


async def test_a_pause_is_told_once_and_as_no_end_and_a_cancel_after_it_once(stage: Stage) -> None:
    """FD-24."""
    thread = "told-paused"
    handle = await stage.start(thread, graph=held_chain(thread))
    await until_called(thread, "first:0")
    await update(handle, "pause", {})
    state = await until(handle, "paused")
    assert (state["status"], state["isComplete"]) == (None, False)
    GATES[thread].set()
    await until_completed(handle, "first")
    run_id = str(handle.first_execution_run_id)
    assert told(stage, thread, run_id) == ["Running", "Awaiting"]
    opened = [row.body["kind"] for row in stage.log.events(thread) if row.kind == "ticketOpened"]
    assert opened == ["pause"]
    assert [row.name for row in stage.log.checkpoints(thread)] == [None, None]
    await handle.signal("cancel", {})
    assert await is_cancelled(handle)
    assert told(stage, thread, run_id) == ["Running", "Awaiting", "Cancelled"]


async def test_a_run_that_a_later_start_abandons_is_told_once(stage: Stage) -> None:
    gone = await gone_while_paused(stage, "told-abandoned")
    await stage.run("told-abandoned", {**review(50), "abandon": True})
    assert told(stage, "told-abandoned", gone.run_id) == ["Running", "Awaiting", "Cancelled"]
    assert outcome(stage, gone.run_id) == ("Cancelled", True)


async def test_a_run_that_a_rewind_supersedes_is_told_once(stage: Stage) -> None:
    gone = await gone_while_paused(stage, "told-superseded")
    handle = await stage.start("told-superseded", review(50), checkpointId=f"{gone.run_id}:1")
    await until(handle, "awaiting")
    assert told(stage, "told-superseded", gone.run_id) == ["Running", "Awaiting", "Cancelled"]
    await terminated(handle)
