"""``start`` names the run that goes on, or none, and says at once what it warns of."""

import json

import pytest
from live_stage import REVIEW, SOON, Served


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
        assert not any(line.startswith("warning") for line in lines)


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


async def test_a_watch_says_what_the_start_warned_of_where_the_run_waits(
    here: Served, thread: str
) -> None:
    run = await lost_while_paused(here, thread)
    assert (await here.answer("start", thread, "fruit-loop")).code == 0

    watched = await here.answer("watch", thread)

    assert any(line.startswith("warning pinned_graph: ") for line in watched.out.splitlines())
    told = json.loads((await here.answer("watch", thread, "--json")).out)
    assert (told["runId"], [item["code"] for item in told["warnings"]]) == (run, ["pinned_graph"])
