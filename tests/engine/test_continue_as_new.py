"""A run continues as new through the restore path, and nobody outside can tell."""

import asyncio
from typing import Any

from temporalio.client import Client

from tests.engine.nodes import CALLS
from tests.engine.stage import Handle, staged, until

ROUNDS = 25
ONE_OVER = {"items": {"value": [150]}}

LOOP: dict[str, Any] = {
    "id": "long-loop",
    "nodes": [
        {"id": "items", "type": "value"},
        {"id": "each", "type": "for_each"},
        {"id": "work", "type": "noted"},
        {"id": "gate", "type": "gate", "config": {"kind": "approval", "message": "Well?"}},
        {"id": "tell", "type": "reply", "config": {"message": "{results}"}},
    ],
    "edges": [
        "items.value -> each.items",
        "each.current_item -> work.item",
        "work.value -> each.loop_back",
        "each.collected_results -> gate.results",
        "gate.answer -> tell.results",
    ],
}


async def test_a_loop_over_several_executions_is_one_run_with_one_dense_log(
    client: Client, log_url: str
) -> None:
    async with staged(client, log_url, continue_after=40) as stage:
        handle = await stage.start(
            "continued", graph=LOOP, input={"items": {"value": list(range(ROUNDS))}}
        )
        latest: Handle = client.get_workflow_handle(handle.id)
        # An answer to a gate that opens many executions later, and a copy of it.
        early = {"ticket": f"{handle.first_execution_run_id}:gate:0:0", "decision": "approve"}
        await latest.signal("resume", {**early, "commandId": "c1"})
        await latest.signal("resume", {**early, "commandId": "c1"})
        await latest.signal("resmue", {})
        result = await handle.result()

        assert (await latest.describe()).run_id != handle.first_execution_run_id
        assert result["runId"] == handle.first_execution_run_id
        assert result["results"]["tell"] == {"message": "approve"}
        assert len(result["results"]) == 1 + (ROUNDS + 1) + ROUNDS + 1 + 1
        assert CALLS["continued"] == [f"work:{number}" for number in range(ROUNDS)]
        commits = stage.log.commits("continued")
        assert [commit.operation.ordinal for commit in commits] == list(range(len(commits)))
        assert [refusal["name"] for refusal in await latest.query("refusals")] == ["resmue"]
        state = stage.log.state("continued").state
        assert (state.iteration_count, state.status) == (ROUNDS, "completed")


async def test_the_paused_state_is_the_same_on_both_sides_of_continue_as_new(
    client: Client, log_url: str
) -> None:
    paused: list[dict[str, Any]] = []
    for continue_after in (1000, 40):
        async with staged(client, log_url, continue_after=continue_after) as stage:
            thread = f"both-sides-{continue_after}"
            handle = await stage.start(
                thread, graph=LOOP, input={"items": {"value": list(range(ROUNDS))}}
            )
            latest: Handle = client.get_workflow_handle(handle.id)
            state = await until(latest, "awaiting")
            continued = (await latest.describe()).run_id != handle.first_execution_run_id
            assert continued == (continue_after == 40)
            run = state.pop("run")
            for name in ("threadId", "messages"):
                state.pop(name)
            paused.append({**state, "ordinal": run["checkpointId"].split(":")[1]})
            await latest.signal("cancel", {})
    assert paused[0] == paused[1]


async def test_a_run_that_only_waits_outlives_any_flood_of_bad_signals(
    client: Client, log_url: str
) -> None:
    """Refused signals fill the history; the waiting run goes on in a new one, again and again."""
    async with staged(client, log_url, continue_after=100) as stage:
        handle = await stage.start("flooded", graph="expense-review", input=ONE_OVER)
        latest: Handle = client.get_workflow_handle(handle.id)
        before = await until(latest, "awaiting")
        executions = {(await latest.describe()).run_id}
        for _ in range(20):
            await asyncio.gather(
                *(latest.signal("bogus", {"n": number, "text": "x" * 5000}) for number in range(60))
            )
            await until(latest, "awaiting")
            executions.add((await latest.describe()).run_id)
            if len(executions) == 4:
                break
        assert len(executions) == 4
        assert await until(latest, "awaiting") == before
        assert len(await latest.query("refusals")) == 100
        ticket = before["run"]["waitingFor"][0]["ticket"]
        await latest.signal("resume", {"ticket": ticket, "decision": "approve"})
        assert (await handle.result())["status"] == "completed"
