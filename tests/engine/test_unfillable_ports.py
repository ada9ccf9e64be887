"""SG-20 live: a node that waits for a port nothing can fill any more ends as a failure."""

import asyncio
from collections.abc import Sequence
from typing import Any

from temporalio.client import Client

from seeding.model import JsonObject
from tests.engine.gone import terminated
from tests.engine.graphs import graph, until_called, until_completed
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, failure_of, staged, until, update

TOLD: JsonObject = {
    "port": "citations",
    "round": 1,
    "loop": "head",
    "sources": ["fact_check"],
    "gateway": "planner",
}


def writing(
    *more: str,
    rounds: int = 1,
    last: Sequence[str] = ("no",),
    nodes: dict[str, Any] | None = None,
) -> JsonObject:
    """Return a graph whose planner leaves out the fact check after some rounds."""
    return graph(
        "writing",
        {
            "head": "noted",
            "planner": ("routes", {"rounds": [*[["yes", "no"]] * rounds, list(last)]}),
            "fact_check": "noted",
            "write": "noted",
            "assembler": "noted",
            "review": ("routes", {"rounds": [["yes"]]}),
            **(nodes or {}),
        },
        "head.value -> planner.in",
        "planner.yes -> fact_check.in",
        "planner.no -> write.in",
        "fact_check.value -> assembler.citations",
        "write.value -> assembler.draft",
        "assembler.value -> review.in",
        "review.yes -> head.loop_back",
        *more,
    )


async def until_completions(handle: Handle, node_id: str, count: int) -> None:
    """Wait until as many executions of a node are committed as completed."""
    for _ in range(400):
        shown = (await handle.query("progress"))[node_id]
        if shown == {"status": "completed", "executions": count}:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"node {node_id} was never executed {count} times")


async def test_the_run_fails_and_names_port_round_source_and_gateway(stage: Stage) -> None:
    """FD-21."""
    handle = await stage.start("unfillable", graph=writing())
    error = await failure_of(handle)
    result = error.details[0]
    assert "port 'citations' any more in round 1 of loop 'head'" in error.message
    assert "its source 'fact_check' did not run" in error.message
    assert "gateway 'planner' led elsewhere" in error.message
    assert result["status"] == "failed"
    assert "assembler:1" not in result["results"]
    assert CALLS["unfillable"].count("assembler:1") == 0
    run = stage.log.latest_run("unfillable")
    assert run is not None
    assert run.cause is not None
    assert run.cause.details == {
        "code": "unfillable_port",
        "node_id": "assembler",
        "occurrence": 1,
        "details": TOLD,
    }
    assert (await handle.query("progress"))["assembler"] == {"status": "failed", "executions": 2}


async def test_an_error_edge_routes_it_and_the_run_completes(stage: Stage) -> None:
    told = ("reply", {"message": "no draft"})
    built = writing("assembler.error -> told.error", nodes={"told": told})
    result = await stage.run("unfillable-routed", {"graph": built})
    assert result["status"] == "completed"
    assert result["results"]["assembler:1"]["error"]["details"] == TOLD
    assert result["results"]["told"] == {"message": "no draft"}
    rows = stage.log.checkpoints("unfillable-routed")
    assert [row.node_id for row in rows][-4:] == ["write", "assembler", "told", None]


async def paused_as_it_is_dispatched(stage: Stage, thread: str) -> Handle:
    """Return a run that was paused while the last node that led to the port was running.

    It led there over an edge that its completion does not follow.
    """
    built = writing(
        "planner.aside -> slow.in",
        "slow.error -> head.loop_back",
        last=["no", "aside"],
        nodes={"slow": ("held", {"name": thread})},
    )
    handle = await stage.start(thread, graph=built)
    await until_called(thread, "slow:0")
    await until_completions(handle, "write", 2)
    await update(handle, "pause", {"reason": "lunch"})
    GATES[thread].set()
    await until_completed(handle, "slow")
    return handle


async def test_a_pause_in_the_middle_holds_the_failure_back_and_changes_nothing(
    stage: Stage,
) -> None:
    handle = await paused_as_it_is_dispatched(stage, "unfillable-paused")
    state = await until(handle, "paused")
    assert state["currentNodeId"] == "assembler"
    assert (await handle.query("progress"))["assembler"] == {"status": "running", "executions": 2}
    await stage.restart()
    await update(handle, "resume", {})
    assert (await failure_of(handle)).details[0]["status"] == "failed"
    run = stage.log.latest_run("unfillable-paused")
    assert run is not None
    assert run.cause is not None
    assert run.cause.details["details"] == TOLD


async def test_a_run_that_is_adopted_in_the_middle_fails_in_the_same_way(stage: Stage) -> None:
    handle = await paused_as_it_is_dispatched(stage, "unfillable-adopted")
    before = await until(handle, "paused")
    await terminated(handle)
    second = await stage.start("unfillable-adopted", graph="expense-review")
    assert await until(second, "paused") == before
    await update(second, "resume", {})
    error = await failure_of(second)
    assert error.details[0]["runId"] == handle.first_execution_run_id
    assert "gateway 'planner' led elsewhere" in error.message


async def test_over_several_executions_of_the_chain_it_is_the_same_failure(
    client: Client, log_url: str
) -> None:
    seen: list[Any] = []
    for continue_after in (1000, 30):
        thread = f"unfillable-continued-{continue_after}"
        async with staged(client, log_url, continue_after=continue_after) as stage:
            handle = await stage.start(thread, graph=writing(rounds=6))
            error = await failure_of(handle)
            latest: Handle = client.get_workflow_handle(handle.id)
            continued = (await latest.describe()).run_id != handle.first_execution_run_id
            assert continued == (continue_after == 30)
            run = stage.log.latest_run(thread)
            assert run is not None
            assert run.cause is not None
            seen.append((error.message, run.cause.details, error.details[0]["results"]))
    assert seen[0] == seen[1]
    assert seen[0][1]["details"] == {**TOLD, "round": 6}
