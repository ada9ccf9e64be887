"""SG-7, SG-13, SG-17: rounds, counters and iterators outlast whatever interrupts a loop."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from temporalio.client import Client

from seeding.model import JsonObject
from tests.engine.gone import terminated
from tests.engine.graphs import graph
from tests.engine.stage import Handle, Stage, staged, until, update

LOOPS = graph(
    "loops-in-a-loop",
    {
        "outer": ("noted", {"maxRounds": 3}),
        "route": ("routes", {"rounds": [["yes"], ["no"], ["yes"]]}),
        "list": ("returns", {"outputs": {"value": ["a", "b", "c"]}}),
        "each": "for_each",
        "work": "noted",
        "count": ("set", {"state_update": {"data": {"last": "{in}"}}}),
        "ask": ("gate", {"message": "Go on?"}),
        "pass": "noted",
    },
    "outer.value -> route.in",
    "route.yes -> list.in",
    "list.value -> each.items",
    "each.current_item -> work.in",
    "work.value -> count.in",
    "count.value -> each.loop_back",
    "each.collected_results -> ask.in",
    "route.no -> pass.in",
    "ask.answer -> outer.loop_back",
    "pass.value -> outer.loop_back",
)
"""Three outer rounds; a ``for_each`` and a question in the first and the last of them."""

Interruption = Callable[[Stage, Handle], Awaitable[Handle]]


async def nothing(stage: Stage, handle: Handle) -> Handle:
    """Let the run wait."""
    return handle


async def paused_and_served_anew(stage: Stage, handle: Handle) -> Handle:
    """Pause the run, replace its worker, and lift the pause."""
    await update(handle, "pause", {})
    await until(handle, "paused")
    await stage.restart()
    await update(handle, "resume", {})
    return handle


async def adopted(stage: Stage, handle: Handle) -> Handle:
    """Terminate the run's workflow and start another that adopts it."""
    await terminated(handle)
    return await stage.start(handle.id.removeprefix("thread/"), graph="expense-review")


async def outcome_of(
    stage: Stage, thread: str, interrupt: Interruption
) -> tuple[JsonObject, list[JsonObject]]:
    """Run the loops, interrupted at each question; return what became of them."""
    handle = await stage.start(thread, graph=LOOPS)
    run_id = handle.first_execution_run_id
    shown: list[JsonObject] = []
    continued: list[bool] = []
    for occurrence in (0, 1):
        ticket = f"{run_id}:ask:{occurrence}:0"
        await until_asked(handle, ticket)
        continued.append(await went_on(handle))
        handle = await interrupt(stage, handle)
        state = await until_asked(handle, ticket)
        shown.append(
            {name: state[name] for name in ("currentNodeId", "iterationCount", "iterator", "data")}
        )
        await update(
            handle,
            "resume",
            {"ticket": ticket, "decision": "approve", "value": f"answer {occurrence}"},
        )
    result = await handle.result()
    continued.append(await went_on(handle))
    assert any(continued) == (stage.continue_after < 1000)
    shown.append({"progress": await handle.query("progress"), "status": result["status"]})
    shown.append({"results": result["results"], "metadata": result["metadata"]})
    return stage.log.state(thread).state.to_json(), shown


async def went_on(handle: Handle) -> bool:
    """Return whether a start's first execution has continued as new."""
    return (await handle.describe()).run_id != handle.first_execution_run_id


async def until_asked(handle: Handle, ticket: str) -> JsonObject:
    """Return the run's state once it waits for an answer to a ticket."""
    for _ in range(100):
        state = await until(handle, "awaiting")
        if state["run"]["waitingFor"][0]["ticket"] == ticket:
            return state
    raise AssertionError(f"the run never waited for {ticket}")


def steps(stage: Stage, thread: str) -> list[JsonObject]:
    """Return what each completion of a thread's run committed; pauses are left out."""
    return [
        {
            "node": commit.operation.commit.node_id,
            "position": commit.operation.commit.position.model_dump(exclude={"counters"}),
            "counters": {
                name: commit.operation.commit.position.counters[name]
                for name in ("order", "passes")
            },
            "state": [command.model_dump() for command in commit.operation.commit.state],
        }
        for commit in stage.log.commits(thread)
        if commit.operation.commit.node_id is not None
    ]


@pytest.mark.parametrize(
    ("interrupt", "continue_after"),
    [(nothing, 25), (paused_and_served_anew, 1000), (adopted, 1000), (adopted, 25)],
)
async def test_an_interrupted_run_of_loops_does_what_an_undisturbed_one_does(
    client: Client, log_url: str, interrupt: Interruption, continue_after: int
) -> None:
    async with staged(client, log_url) as stage:
        calm_thread = f"calm-{interrupt.__name__}-{continue_after}"
        calm = await outcome_of(stage, calm_thread, nothing)
        calm_steps = steps(stage, calm_thread)
    thread = f"interrupted-{interrupt.__name__}-{continue_after}"
    async with staged(client, log_url, continue_after=continue_after) as stage:
        state, shown = await outcome_of(stage, thread, interrupt)
        assert steps(stage, thread) == calm_steps
    assert shown == calm[1]
    assert own(state) == own(calm[0])
    assert state["iterationCount"] == 2 * 3 + 3
    assert list(shown[-1]["results"])[-1] == "ask:1"
    assert list(shown[-1]["results"]).count("outer:2") == 1
    assert shown[2]["progress"]["each"] == {"status": "completed", "executions": 8}


def own(state: JsonObject) -> dict[str, Any]:
    """Return a state without what names its run and thread."""
    return {name: value for name, value in state.items() if name not in ("threadId", "run")}
