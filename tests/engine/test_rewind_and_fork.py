"""Starts at a stored checkpoint: rewinding an open run, forking anywhere (PB-C1, PB-C2, SG-12)."""

from seeding.model import JsonObject
from tests.engine.gone import gone_while_paused, terminated
from tests.engine.graphs import graph, review, until_waiting_for
from tests.engine.nodes import CALLS
from tests.engine.refused_starts import GOOD, refused_start
from tests.engine.stage import Handle, Stage, until, update

AGAIN: JsonObject = {"graph": "expense-review"}

PAY: JsonObject = graph(
    "pay",
    {
        "draft": "noted",
        "gate": ("gate", {"message": "Pay?"}),
        "pay": "noted",
        "done": ("reply", {"message": "paid"}),
    },
    "draft.value -> gate.value",
    "gate.approve -> pay.value",
    "pay.value -> done.value",
)

SECOND_GATE: JsonObject = graph(
    "second-gate",
    {"one": ("gate", {"message": "One?"}), "pay": "noted", "two": ("gate", {"message": "Two?"})},
    "one.approve -> pay.value",
    "pay.value -> two.value",
)


async def approve(handle: Handle, ticket: str) -> None:
    await update(handle, "resume", {"ticket": ticket, "decision": "approve"})


def waits(state: JsonObject) -> list[str]:
    return [item["ticket"] for item in state["run"]["waitingFor"]]


async def test_a_rewind_ends_the_old_run_and_asks_the_same_questions_anew(stage: Stage) -> None:
    thread = "rewound"
    first = await stage.start(thread, graph=SECOND_GATE, message="start", data={"kept": 1})
    run = str(first.first_execution_run_id)
    await until_waiting_for(first, "one:0:0")
    await approve(first, f"{run}:one:0:0")
    await until_waiting_for(first, "two:0:0")
    await terminated(first)
    asked = stage.log.checkpoints(thread)[0]
    assert (asked.node_id, asked.kind) == ("one", "pause")

    second = await stage.start(thread, graph=SECOND_GATE, checkpointId=asked.id, message="again")
    new = str(second.first_execution_run_id)
    state = await until(second, "awaiting")

    assert waits(state) == [f"{new}:one:0:0"]
    assert state["currentNodeId"] == "one"
    assert (state["run"]["branch"], state["run"]["runEpoch"]) == ("b2", 2)
    provenance = await second.query("provenance")
    assert provenance["start"]["source"] == "checkpoint"
    assert [warning["code"] for warning in provenance["warnings"]] == ["effects_run_again"]
    assert "pay:0 (done)" in provenance["warnings"][0]["message"]

    old, _ = stage.log.runs(thread)
    assert old.cause is not None
    assert (old.run_id, old.cause.kind, old.cause.message) == (run, "Cancelled", "superseded")
    assert [item.body.ticket for item in stage.log.open_tickets(thread)] == [f"{new}:one:0:0"]

    await approve(second, f"{new}:one:0:0")
    await until_waiting_for(second, "two:0:0")
    await approve(second, f"{new}:two:0:0")
    result = await second.result()
    assert result["status"] == "completed"
    assert CALLS[thread] == ["pay:0", "pay:0"]
    assert [message["content"] for message in stage.log.messages(thread)] == ["start", "again"]
    assert stage.log.state(thread).state.data == {"kept": 1}


async def test_the_old_branch_of_a_rewind_stays_listed_and_readable(stage: Stage) -> None:
    gone = await gone_while_paused(stage, "rewound-kept")
    before = stage.log.state("rewound-kept", f"{gone.run_id}:4")
    handle = await stage.start("rewound-kept", AGAIN, checkpointId=f"{gone.run_id}:1")
    state = await until(handle, "awaiting")
    rows = stage.log.checkpoints("rewound-kept")
    assert [(row.run_id, row.branch) for row in rows] == [
        *[(gone.run_id, "main")] * 5,
        *[(handle.first_execution_run_id, "b2")] * 3,
    ]
    assert rows[5].parent == f"{gone.run_id}:1"
    assert stage.log.state("rewound-kept", f"{gone.run_id}:4").state == before.state
    assert waits(state) == [f"{handle.first_execution_run_id}:gate:0:0"]
    assert state["iterator"] == {"items": [500], "index": 0, "results": []}


async def test_a_rewind_into_a_loop_goes_on_with_its_round_and_results(stage: Stage) -> None:
    """PB-C1: nested parts have the state of that moment."""
    thread = "rewound-loop"
    first = await stage.start(thread, review(50, 150, 60))
    state = await until(first, "awaiting")
    named = state["run"]["checkpointId"]
    await update(first, "resume", {"ticket": waits(state)[0], "decision": "deny"})
    assert (await first.result())["status"] == "completed"

    handle = await stage.start(thread, AGAIN, forkFrom=named)
    again = await until(handle, "awaiting")
    assert again["iterator"] == {"items": [50, 150, 60], "index": 1, "results": [50]}
    assert again["iterationCount"] == 2
    assert waits(again) == [f"{handle.first_execution_run_id}:gate:0:0"]
    await stage.restart()
    await approve(handle, waits(again)[0])
    result = await handle.result()
    assert result["start"]["source"] == "forkFrom"
    assert result["results"]["summary"]["message"] == 'Done: [50,"approve",60]'
    assert sorted(result["results"])[:3] == ["check", "check:1", "check:2"]


async def test_a_fork_of_a_fork_reads_through_both(stage: Stage) -> None:
    first = await stage.start("fork-one", review(150, 250, 350))
    at_first = await until(first, "awaiting")
    await approve(first, waits(at_first)[0])
    await until_waiting_for(first, "gate:1:0")
    named = (await first.query("state"))["run"]["checkpointId"]

    second = await stage.start("fork-two", AGAIN, forkFrom=named)
    at_second = await until(second, "awaiting")
    await update(second, "resume", {"ticket": waits(at_second)[0], "decision": "deny"})
    await until_waiting_for(second, "gate:2:0")
    named = (await second.query("state"))["run"]["checkpointId"]

    third = await stage.start("fork-three", AGAIN, forkFrom=named)
    at_third = await until(third, "awaiting")
    assert at_third["iterator"] == {
        "items": [150, 250, 350],
        "index": 2,
        "results": ["approve", "deny"],
    }
    await approve(third, waits(at_third)[0])
    result = await third.result()
    assert result["results"]["summary"]["message"] == 'Done: ["approve","deny","approve"]'
    for handle, ticket in ((first, "gate:1:0"), (second, "gate:2:0")):
        assert [item["ticket"] for item in await handle.query("tickets")] == [
            f"{handle.first_execution_run_id}:{ticket}"
        ]


async def test_a_node_that_asks_is_asked_with_the_answers_it_had(stage: Stage) -> None:
    asks = graph("asks", {"ask": ("asks", {"wanted": "yes"})})
    first = await stage.start("fork-asks", graph=asks)
    await until_waiting_for(first, "ask:0:0")
    await update(first, "resume", {"ticket": waits(await first.query("state"))[0], "value": "no"})
    await until_waiting_for(first, "ask:0:1")
    named = (await first.query("state"))["run"]["checkpointId"]

    second = await stage.start("fork-asked", graph=asks, forkFrom=named)
    state = await until(second, "awaiting")
    assert waits(state) == [f"{second.first_execution_run_id}:ask:0:1"]
    await update(second, "resume", {"ticket": waits(state)[0], "value": "yes"})
    result = await second.result()
    assert result["results"]["ask"] == {
        "answers": ["no", "yes"],
        "interrupt": f"{second.first_execution_run_id}:ask:0:1",
    }


async def test_a_fork_at_a_runs_end_is_the_next_turn_of_that_prefix(stage: Stage) -> None:
    first = await stage.start("origin", {**review(50), "message": "one", "data": {"k": 1}})
    end = (await first.result())["checkpointId"]
    await stage.run("origin", {**GOOD, "message": "two", "data": {"k": 2}})

    result = await stage.run("branched", {**GOOD, "message": "other", "forkFrom": end})

    assert result["start"]["source"] == "forkFrom"
    state = stage.log.state("branched").state
    assert [message["content"] for message in state.messages] == ["one", "Done: [50]", "other"]
    assert (state.data, state.iteration_count, state.thread_id) == ({"k": 1}, 0, "branched")
    assert len(stage.log.state("origin").state.messages) == 3


async def test_a_fork_on_the_same_thread_moves_its_head(stage: Stage) -> None:
    first = await stage.start("same", {**GOOD, "message": "one"})
    end = (await first.result())["checkpointId"]
    await stage.run("same", {**GOOD, "message": "two"})
    await stage.run("same", {**GOOD, "message": "instead", "forkFrom": end})
    await stage.run("same", {**GOOD, "message": "after"})
    said = [message["content"] for message in stage.log.messages("same")]
    assert said == ["one", "instead", "after"]
    assert [branch.name for branch in stage.log.branches("same")] == ["main", "b2"]
    assert [run.run_epoch for run in stage.log.runs("same")] == [1, 2, 3, 4]


async def test_the_name_of_an_end_means_that_of_the_threads_last_run(stage: Stage) -> None:
    await stage.run("named-end", {**GOOD, "message": "one"})
    refusal = await refused_start(stage, "named-end", {**GOOD, "checkpointId": "workflow_end"})
    assert refusal.code == "CheckpointOfEndedRun"
    result = await stage.run("named-end", {**GOOD, "message": "two", "forkFrom": "workflow_end"})
    assert result["start"]["source"] == "forkFrom"
    assert [message["content"] for message in stage.log.messages("named-end")] == ["one", "two"]


async def test_forks_from_one_point_share_no_id(stage: Stage) -> None:
    """PB-C2."""
    first = await stage.start("shared", graph=PAY)
    await until_waiting_for(first, "gate:0:0")
    named = (await first.query("state"))["run"]["checkpointId"]
    rows: list[str] = []
    for thread in ("shared-a", "shared-b"):
        handle = await stage.start(thread, graph=PAY, forkFrom=named)
        await approve(handle, waits(await until(handle, "awaiting"))[0])
        await handle.result()
        rows += [row.id for row in stage.log.checkpoints(thread)]
        keys = [effect.effect_key for effect in stage.log.effects(thread)]
        rows += keys
    assert len(rows) == len(set(rows)) == 12


async def test_a_thread_made_by_the_fork_verb_starts_from_its_point(stage: Stage) -> None:
    first = await stage.start("forked-from", {**review(50), "message": "one"})
    end = (await first.result())["checkpointId"]
    branch = stage.log.fork(end, "forked-to")
    assert stage.log.fork(end, "forked-to") == branch
    result = await stage.run("forked-to", {**GOOD, "message": "two"})
    assert result["start"] == {
        "source": "forkFrom",
        "passedOver": [
            {"source": "initialSnapshot", "why": "not given"},
            {"source": "checkpoint", "why": "not given"},
            {"source": "thread", "why": "no run yet"},
        ],
    }
    said = [message["content"] for message in stage.log.messages("forked-to")]
    assert said == ["one", "Done: [50]", "two"]
    assert [run.branch for run in stage.log.runs("forked-to")] == ["main"]


async def test_a_fork_from_an_ephemeral_run_is_refused(stage: Stage) -> None:
    handle = await stage.start(
        "passing", {**review(150), "config": {"checkpointStore": "ephemeral"}}
    )
    state = await until(handle, "awaiting")
    named = state["run"]["checkpointId"]
    refusal = await refused_start(stage, "on-sand", {**GOOD, "forkFrom": named})
    assert refusal.code == "InvalidRequest"
    assert "ephemeral run, which leaves nothing to stand on" in refusal.message
