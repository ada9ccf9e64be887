"""``start`` names the run that goes on, or none, and says at once what it warns of."""

import asyncio
import json

import pytest
from live_stage import REVIEW, SOON, Served

from client.looking import Look
from seeding.model import JsonObject

RESTING: JsonObject = {
    "graph": {
        "id": "resting",
        "nodes": [{"id": "rest", "type": "delay", "config": {"duration": "1h"}}],
        "edges": [],
    }
}


async def lost_while_paused(served: Served, thread: str) -> str:
    """Leave a run at its gate, its workflow terminated; return its id."""
    run = await served.threads.start(thread, REVIEW)
    await served.threads.wait(thread, within=SOON)
    await served.client.get_workflow_handle(f"thread/{thread}").terminate(reason="lost")
    return run.run_id


@pytest.mark.parametrize("watch", [(), ("--watch",)], ids=["plain", "watched"])
async def test_a_start_that_takes_a_run_over_prints_that_runs_id(
    here: Served, thread: str, watch: tuple[str, ...]
) -> None:
    run = await lost_while_paused(here, thread)

    answer = await here.answer("start", thread, "fruit-loop", *watch)

    lines = answer.out.splitlines()
    assert lines[:2] == [f"run {run}", f"workflow thread/{thread}"]
    assert [line.split(": ")[:2] for line in answer.err.splitlines() if "warning" in line] == [
        ["warning", "pinned_graph"]
    ]
    if watch:
        assert any(line.startswith("waits for: approval at gate") for line in lines)
        assert lines[-1].startswith("warning pinned_graph: ")


async def test_with_json_a_watched_takeover_has_one_run_id_and_its_warnings(
    here: Served, thread: str
) -> None:
    run = await lost_while_paused(here, thread)

    told = json.loads((await here.answer("start", thread, "fruit-loop", "--watch", "--json")).out)

    assert (told["runId"], told["standing"]["runId"]) == (run, run)
    assert [warning["code"] for warning in told["warnings"]] == ["pinned_graph"]
    assert told["standing"]["warnings"] == told["warnings"]


async def test_a_watched_run_that_was_taken_over_ends_under_its_own_id(
    here: Served, thread: str
) -> None:
    run = await lost_while_paused(here, thread)
    started = await here.threads.start(thread, {"graph": "expense-review"})
    assert started.run_id != run
    waiting = await here.threads.wait(thread, started.run_id, within=SOON)
    assert waiting.run_id == run

    await here.threads.cancel(thread)
    ended = await here.threads.wait(
        thread, started.run_id, within=SOON, answered=[waiting.tickets[0].ticket]
    )

    assert ended.result is not None
    assert (ended.run_id, ended.result["status"]) == (run, "cancelled")


@pytest.mark.parametrize("watch", [(), ("--watch",)], ids=["plain", "watched"])
async def test_a_refused_start_prints_no_run(
    here: Served, thread: str, watch: tuple[str, ...]
) -> None:
    answer = await here.answer("start", thread, "no-such-graph", *watch)

    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("UnknownGraph: ")


async def test_a_watch_says_what_the_start_warned_of_at_once_and_where_the_run_waits(
    here: Served, thread: str
) -> None:
    run = await lost_while_paused(here, thread)
    assert (await here.answer("start", thread, "fruit-loop")).code == 0

    watched = await here.answer("watch", thread)

    told = watched.err.splitlines()
    assert told[0] == f"run {run}: awaiting"
    assert told[1].startswith("warning: pinned_graph: ")
    assert watched.out.splitlines()[-1].startswith("warning pinned_graph: ")
    shown = json.loads((await here.answer("watch", thread, "--json")).out)
    assert (shown["runId"], [item["code"] for item in shown["warnings"]]) == (run, ["pinned_graph"])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"checkpointId": "gone:1"}, "unknown_checkpoint"),
        # This one is no warning of the start activity: the opening step finds it out.
        ({"initialSnapshot": {"iterator": {"items": [1], "index": 0}}}, "iterator_not_used"),
    ],
    ids=["of-the-start", "of-the-first-step"],
)
async def test_a_warning_is_told_while_the_run_goes_on(
    here: Served, thread: str, given: JsonObject, code: str
) -> None:
    looks: list[Look] = []
    seen = asyncio.Event()

    def look(now: Look) -> None:
        looks.append(now)
        seen.set()

    await here.threads.start(thread, {**RESTING, **given})
    waiting = asyncio.create_task(here.threads.wait(thread, within=SOON, on_look=look))
    async with asyncio.timeout(SOON):
        await seen.wait()

    first = [item["code"] for item in looks[0].warnings]
    assert (looks[0].phase, first) == ("running", [code])
    await here.threads.cancel(thread)
    ended = await waiting
    assert (ended.phase, [item["code"] for item in ended.warnings]) == ("ended", [code])


async def test_a_repeated_start_of_a_cancelled_run_names_that_run(
    here: Served, thread: str
) -> None:
    options = ("start", thread, "expense-review", "--input", "items.value=[150]", "--key", "k")
    begun = (await here.answer(*options, "--json")).document
    await here.threads.wait(thread, within=SOON)
    await here.threads.cancel(thread)
    await here.threads.result(thread, within=SOON)

    for watch in ((), ("--watch",)):
        again = await here.answer(*options, *watch)

        assert again.out.splitlines()[0] == f"run {begun['runId']}"
    shown = json.loads((await here.answer(*options, "--watch", "--json")).out)
    assert {shown["runId"], shown["standing"]["runId"], shown["standing"]["result"]["runId"]} == {
        begun["runId"]
    }
