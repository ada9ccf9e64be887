"""ORC-10: what the verbs say of a run that paused by itself, its passes being spent."""

import json

from live_stage import SOON, Served

from seeding.model import JsonObject

TWO_STEPS: JsonObject = {
    "graph": {
        "id": "two-steps",
        "nodes": [
            {"id": "first", "type": "noop"},
            {"id": "second", "type": "noop"},
        ],
        "edges": ["first.value -> second.value"],
    },
    "config": {"maxPasses": 1},
}
SAID = "1 step has called nodes (config.maxPasses)"


async def test_every_verb_names_why_it_paused_and_the_line_that_lifts_it(
    here: Served, thread: str
) -> None:
    started = await here.threads.start(thread, TWO_STEPS)
    await here.threads.wait(thread, within=SOON)
    line = f"  fermata resume {thread} --ticket {started.run_id}::0:0"

    watched = (await here.answer("watch", thread)).out.splitlines()
    assert watched[0].startswith("waits for: pause before the next node, since ")
    assert watched[1:] == [f"  {SAID}", line]

    state = await here.answer("state", thread)
    assert "paused: max_passes" in state.out
    assert f"  {SAID}" in state.out.splitlines()
    assert (await here.answer("state", thread, "--json")).document["run"]["pausedReason"] == (
        "max_passes"
    )

    (ticket,) = (await here.answer("tickets", thread, "--json")).document
    assert (ticket["kind"], ticket["reason"], ticket["message"]) == ("pause", "max_passes", SAID)
    assert ticket["ticket"] == f"{started.run_id}::0:0"
    assert line.strip() in (await here.answer("tickets", thread)).out


async def test_resume_lifts_it_and_another_pause_is_refused(here: Served, thread: str) -> None:
    await here.threads.start(thread, TWO_STEPS)
    await here.threads.wait(thread, within=SOON)

    second = await here.answer("pause", thread)
    assert (second.code, second.err.split(":")[0]) == (1, "INWARD_SIGNAL_ALREADY_PENDING")

    lifted = await here.answer("resume", thread)
    assert (lifted.code, lifted.out) == (0, "the pause is lifted\n")
    result = await here.threads.result(thread, within=SOON)
    assert (result["status"], list(result["results"])) == ("completed", ["first", "second"])


async def test_start_takes_the_budget_as_config_and_ends_where_the_run_pauses(
    here: Served, thread: str
) -> None:
    items = '{"items": {"value": [50, 60]}}'
    answer = await here.answer(
        *("start", thread, "expense-review", "--input", items),
        *("--config", '{"maxPasses": 1}', "--watch", "--json"),
    )
    standing = json.loads(answer.out)["standing"]
    assert (answer.code, standing["phase"]) == (0, "paused")
    assert [ticket["reason"] for ticket in standing["tickets"]] == ["max_passes"]
    await here.threads.cancel(thread)
    assert (await here.threads.result(thread, within=SOON))["status"] == "cancelled"
