"""ORC-10: a spent budget of passes pauses the run, and lifting that pause renews it."""

import asyncio

from temporalio.client import Client, WorkflowExecutionStatus

from seeding.model import JsonObject
from tests.engine.gone import terminated
from tests.engine.graphs import graph, until_called
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, closed, refused, staged, until, update

CHAIN: JsonObject = graph(
    "chain",
    dict.fromkeys("abcde", "noted"),
    *(f"{one}.value -> {other}.value" for one, other in zip("abcd", "bcde", strict=True)),
)
LOOP: JsonObject = graph(
    "loop",
    {"items": ("value", {"value": [1, 2, 3, 4]}), "each": "for_each", "gather": "merge"},
    "items.value -> each.items",
    "each.current_item -> gather.item",
    "gather.merged -> each.loop_back",
)


def within(passes: int, document: JsonObject, **config: int) -> JsonObject:
    return {"graph": document, "config": {"maxPasses": passes, **config}}


async def paused_by_budget(handle: Handle, number: int = 0) -> JsonObject:
    """Return a run's pause of this number once its budget has made it."""
    for _ in range(400):
        run = (await handle.query("state"))["run"]
        for ticket in run["waitingFor"]:
            if ticket["ticket"].endswith(f"::0:{number}"):
                assert (run["phase"], run["pausedReason"]) == ("paused", "max_passes")
                assert (ticket["kind"], ticket["reason"]) == ("pause", "max_passes")
                return ticket
        await asyncio.sleep(0.025)
    raise AssertionError(f"the run was never paused for the {number + 1}. time")


async def lift(handle: Handle) -> None:
    assert (await update(handle, "resume", {}))["accepted"]


async def test_a_chain_pauses_before_the_step_past_its_budget_and_goes_on_when_told(
    stage: Stage,
) -> None:
    handle = await stage.start("passes-chain", within(2, CHAIN))
    pause = await paused_by_budget(handle)
    assert pause["message"] == "2 steps have called nodes (config.maxPasses)"
    assert CALLS["passes-chain"] == ["a:0", "b:0"]
    state = await handle.query("state")
    assert (state["status"], state["currentNodeId"]) == (None, "c")
    details = (await handle.query("__temporal_workflow_metadata")).current_details
    assert "**Waits** for a pause since" in details
    assert f"> {pause['message']}" in details
    await lift(handle)
    await paused_by_budget(handle, 1)
    assert CALLS["passes-chain"] == ["a:0", "b:0", "c:0", "d:0"]
    await lift(handle)
    result = await handle.result()
    assert (result["status"], list(result["results"])) == ("completed", list("abcde"))
    assert CALLS["passes-chain"] == [f"{node}:0" for node in "abcde"]
    kinds = [row.kind for row in stage.log.checkpoints("passes-chain")]
    assert kinds == ["node", "node", "pause", "node", "node", "pause", "node", "end"]


async def test_just_as_many_passes_as_a_run_needs_do_not_pause_it(stage: Stage) -> None:
    result = await stage.run("passes-enough", within(5, CHAIN))
    assert result["status"] == "completed"
    assert [row.kind for row in stage.log.checkpoints("passes-enough")] == [*["node"] * 5, "end"]


async def test_what_is_dispatched_together_is_one_pass(stage: Stage) -> None:
    fan = graph(
        "fan",
        {**dict.fromkeys("abc", "noted"), "join": "merge"},
        *(f"{node}.value -> join.{node}" for node in "abc"),
    )
    assert (await stage.run("passes-fan", within(1, fan)))["status"] == "completed"


async def test_control_nodes_are_no_passes(stage: Stage) -> None:
    result = await stage.run("passes-control", within(1, LOOP))
    assert (result["status"], result["results"]["each:4"]["total_count"]) == ("completed", 4)


async def test_what_is_in_flight_ends_before_the_pause_is_made(stage: Stage) -> None:
    document = graph(
        "beside",
        {"slow": ("held", {"name": "passes-beside"}), "quick": "noted", "next": "noted"},
        "quick.value -> next.value",
    )
    handle = await stage.start("passes-beside", within(1, document))
    await until_called("passes-beside", "slow:0", "quick:0")
    state = await handle.query("state")
    assert state["run"]["phase"] == "running"
    GATES["passes-beside"].set()
    await paused_by_budget(handle)
    assert sorted(CALLS["passes-beside"]) == ["quick:0", "slow:0"]
    await lift(handle)
    assert sorted((await handle.result())["results"]) == ["next", "quick", "slow"]


async def test_an_answer_is_taken_while_the_budget_is_spent_and_followed_once_it_is_lifted(
    stage: Stage,
) -> None:
    document = graph(
        "gate-beside",
        {"a": "noted", "b": "noted", "gate": "gate", "after": "noted"},
        "a.value -> b.value",
        "gate.answer -> after.answer",
    )
    handle = await stage.start("passes-gate", within(1, document))
    await paused_by_budget(handle)
    gate = f"{handle.first_execution_run_id}:gate:0:0"
    await update(handle, "resume", {"ticket": gate, "decision": "approve"})
    assert await refused(handle, "resume", {"ticket": gate, "decision": "deny"}) == "AlreadyDecided"
    assert CALLS["passes-gate"] == ["a:0"]
    assert (await handle.query("state"))["run"]["phase"] == "paused"
    await lift(handle)
    assert sorted((await handle.result())["results"]) == ["a", "after", "b", "gate"]


async def test_a_run_paused_by_its_budget_takes_no_second_pause_and_can_be_cancelled(
    stage: Stage,
) -> None:
    handle = await stage.start("passes-cancel", within(1, CHAIN))
    await paused_by_budget(handle)
    assert await refused(handle, "pause", {}) == "INWARD_SIGNAL_ALREADY_PENDING"
    await handle.signal("cancel", {"reason": "enough"})
    assert await closed(handle) == WorkflowExecutionStatus.CANCELED
    assert CALLS["passes-cancel"] == ["a:0"]


async def test_a_pause_by_a_person_renews_no_budget(stage: Stage) -> None:
    document = graph(
        "held-first",
        {"a": ("held", {"name": "passes-person"}), "b": "noted"},
        "a.value -> b.value",
    )
    handle = await stage.start("passes-person", within(1, document))
    await until_called("passes-person", "a:0")
    await update(handle, "pause", {"reason": "max_passes"})
    GATES["passes-person"].set()
    state = await until(handle, "paused")
    assert state["run"]["pausedReason"] is None
    await lift(handle)
    await paused_by_budget(handle, 1)
    assert CALLS["passes-person"] == ["a:0"]
    await lift(handle)
    assert (await handle.result())["status"] == "completed"


async def test_each_call_after_an_answer_is_a_pass(stage: Stage) -> None:
    document = graph("asking", {"ask": ("asks", {"wanted": "yes"})})
    handle = await stage.start("passes-asks", within(1, document))
    await until(handle, "awaiting")
    await update(handle, "resume", {"value": "yes", "commandId": "1"})
    await paused_by_budget(handle)
    await lift(handle)
    assert (await handle.result())["results"]["ask"]["answers"] == ["yes"]


async def test_a_new_worker_and_a_takeover_keep_what_is_spent(stage: Stage) -> None:
    handle = await stage.start("passes-kept", within(2, CHAIN))
    await paused_by_budget(handle)
    await stage.restart()
    await paused_by_budget(handle)
    await terminated(handle)
    taken = await stage.start("passes-kept", {"graph": CHAIN})
    await paused_by_budget(taken)
    await lift(taken)
    await paused_by_budget(taken, 1)
    assert CALLS["passes-kept"] == ["a:0", "b:0", "c:0", "d:0"]
    await lift(taken)
    assert (await taken.result())["status"] == "completed"


async def test_continuing_as_new_keeps_what_is_spent(client: Client, log_url: str) -> None:
    async with staged(client, log_url, continue_after=20) as stage:
        handle = await stage.start("passes-continued", within(4, CHAIN))
        await paused_by_budget(handle)
        assert CALLS["passes-continued"] == ["a:0", "b:0", "c:0", "d:0"]
        await lift(handle)
        assert (await handle.result())["status"] == "completed"


async def test_the_next_turn_has_a_budget_of_its_own(stage: Stage) -> None:
    for _ in range(2):
        assert (await stage.run("passes-turns", within(5, CHAIN)))["status"] == "completed"


async def test_a_run_that_starts_at_anothers_position_has_a_budget_of_its_own(stage: Stage) -> None:
    handle = await stage.start("passes-origin", within(3, CHAIN))
    await paused_by_budget(handle)
    point = (await handle.query("state"))["run"]["checkpointId"]
    await handle.signal("cancel", {})
    await closed(handle)
    fork = {"graph": CHAIN, "forkFrom": point, "config": {"maxPasses": 2}}
    assert (await stage.run("passes-forked", fork))["status"] == "completed"
    assert CALLS["passes-forked"] == ["d:0", "e:0"]


async def test_three_budgets_bite_each_in_its_turn_and_lifting_renews_only_its_own(
    stage: Stage,
) -> None:
    """Passes pause, rounds stop the re-entry, iterations end the run (SG-7, SG-14)."""
    document = graph(
        "three",
        {
            "head": ("noted", {"maxRounds": 3}),
            "items": ("value", {"value": [1, 2, 3, 4]}),
            "each": "for_each",
            "work": "noted",
        },
        "head.value -> head.loop_back",
        "items.value -> each.items",
        "each.current_item -> work.item",
        "work.value -> each.loop_back",
    )
    handle = await stage.start("passes-three", within(4, document, maxIterations=6))
    await paused_by_budget(handle)
    await lift(handle)
    result = await handle.result()
    assert result["status"] == "max_iterations_exceeded"
    assert (result["results"], result["metadata"]["current_iterations"]) == ([], 7)
    heads = [call for call in CALLS["passes-three"] if call.startswith("head")]
    assert heads == ["head:0", "head:1", "head:2"]


async def test_a_failure_that_nothing_routes_goes_before_the_pause(stage: Stage) -> None:
    """ORC-11, FD-28: unrouted failure, then question, then budget, then the natural end."""
    document = graph(
        "ladder",
        {"bad": ("fails_with", {"code": "no"}), "good": "noted", "next": "noted"},
        "good.value -> next.value",
    )
    handle = await stage.start("passes-ladder", within(1, document))
    assert await closed(handle) == WorkflowExecutionStatus.FAILED
    (run,) = stage.log.runs("passes-ladder")
    assert run.cause is not None
    assert (run.cause.kind, run.cause.details["code"]) == ("Error", "no")
    assert "pause" not in [row.kind for row in stage.log.checkpoints("passes-ladder")]
    assert CALLS["passes-ladder"] == ["good:0"]


async def test_a_question_and_a_spent_budget_stand_beside_each_other(stage: Stage) -> None:
    document = graph("both", {"a": "noted", "b": "noted", "gate": "gate"}, "a.value -> b.value")
    handle = await stage.start("passes-both", within(1, document))
    await paused_by_budget(handle)
    kinds = [ticket["kind"] for ticket in (await handle.query("tickets"))]
    assert kinds == ["approval", "pause"]
