"""What a run tells of its nodes, while it lives and afterwards (SG-15, PIPE-4, BR-7)."""

from client.reading import runs_document
from seeding.model import JsonObject
from tests.engine.graphs import graph, review, until_called, until_waiting_for
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Stage, failure_of, is_cancelled, until

ROUNDS: JsonObject = graph(
    "rounds",
    {"head": ("noted", {"maxRounds": 3}), "tail": "noted"},
    "head.value -> tail.in",
    "tail.value -> head.loop_back",
)


async def test_progress_has_one_key_for_a_node_and_results_one_for_each_of_its_executions(
    stage: Stage,
) -> None:
    """SG-15, SG-8, PIPE-4, FD-48; whatever execution id the caller gives."""
    handle = await stage.start("reports-rounds", graph=ROUNDS, executionId="mine")
    result = await handle.result()
    assert result["runId"] == handle.first_execution_run_id
    assert result["runId"] != "mine"
    assert list(result["results"]) == ["head", "tail", "head:1", "tail:1", "head:2", "tail:2"]
    assert await handle.query("progress") == {
        "head": {"status": "completed", "executions": 3},
        "tail": {"status": "completed", "executions": 3},
    }


async def test_the_status_is_that_of_the_newest_execution(stage: Stage) -> None:
    """PIPE-4: a gate that was answered in the first round waits again in the second."""
    handle = await stage.start("reports-newest", review(150, 250))
    await until_waiting_for(handle, "gate:0:0")
    assert (await handle.query("progress"))["gate"] == {"status": "interrupted", "executions": 1}
    await handle.signal("resume", {"decision": "approve"})
    await until_waiting_for(handle, "gate:1:0")
    shown = await handle.query("progress")
    assert shown["gate"] == {"status": "interrupted", "executions": 2}
    assert shown["each"] == {"status": "completed", "executions": 2}
    assert shown["summary"] == {"status": "idle", "executions": 0}
    await handle.signal("cancel", {})
    assert await is_cancelled(handle)


async def test_what_no_branch_led_to_is_skipped_and_says_why(stage: Stage) -> None:
    """BR-7, FD-36: over a trigger and over a value alike, and whatever comes after it."""
    document = graph(
        "skips",
        {"pick": ("routes", {"rounds": [["yes"]]}), **dict.fromkeys("abcd", "noted")},
        "pick.yes -> a.trigger",
        "pick.no -> b.trigger",
        "pick.no -> c.in",
        "c.value -> d.in",
    )
    handle = await stage.start("reports-skips", graph=document)
    result = await handle.result()
    assert result["metadata"] == {"nodes_skipped": 3, "skipped_node_ids": ["b", "c", "d"]}
    skipped = {"status": "skipped", "executions": 0, "reason": "branch_not_active"}
    assert await handle.query("progress") == {
        "pick": {"status": "completed", "executions": 1},
        "a": {"status": "completed", "executions": 1},
        **dict.fromkeys("bcd", skipped),
    }


async def test_a_condition_on_an_edge_delivers_all_the_same_and_is_warned_of_each_time(
    stage: Stage,
) -> None:
    """SG-9, FD-44."""
    conditioned: JsonObject = {"from": "source.value", "to": "target.message", "condition": "false"}
    document = graph(
        "conditions",
        {
            "source": ("returns", {"maxRounds": 3, "outputs": {"value": "payload"}}),
            "target": "noted",
        },
        "source.value -> source.loop_back",
    )
    document["edges"].append(conditioned)
    result = await stage.run("reports-condition", {"graph": document})
    assert result["results"]["target"] == {"value": {"message": "payload"}}
    warning: JsonObject = {
        "code": "edge_condition",
        "message": "edge source.value -> target.message has a condition, which is kept and gates "
        "nothing",
    }
    audits = [row.body for row in stage.log.events("reports-condition") if row.kind == "audit"]
    assert audits[0]["kind"] == "provenance"
    assert audits[1:] == [{"kind": "warning", "body": warning}] * 3


async def test_no_time_is_shown_before_what_it_is_of_has_happened(stage: Stage) -> None:
    """PIPE-9: a run that waits has no end, nor has its result."""
    handle = await stage.start("reports-times", graph=graph("asks", {"gate": "gate"}))
    await until(handle, "awaiting")
    [waiting] = runs_document(stage.log, "reports-times")
    assert waiting["openedAt"] is not None
    assert (waiting["endedAt"], waiting["cause"], waiting["result"]) == (None, None, None)
    await handle.signal("resume", {"decision": "approve"})
    result = await handle.result()
    [ended] = runs_document(stage.log, "reports-times")
    assert ended["endedAt"] == stage.log.checkpoints("reports-times")[-1].created_at
    assert ended["result"]["results"] == result["results"]


async def test_a_failure_beside_a_question_fails_the_run_and_the_question_is_retired(
    stage: Stage,
) -> None:
    """ORC-11, FD-28: what was not reached is skipped because the run ended."""
    thread = "reports-ladder"
    document = graph(
        "ladder",
        {"gate": "gate", "slow": ("held", {"name": thread}), "bad": "fails_with", "after": "noted"},
        "slow.value -> bad.in",
        "gate.answer -> after.in",
    )
    handle = await stage.start(thread, graph=document)
    await until(handle, "awaiting")
    await until_called(thread, "slow:0")
    GATES[thread].set()
    assert (await failure_of(handle)).details[0]["status"] == "failed"
    [closing] = stage.log.closed_tickets(str(handle.first_execution_run_id), 10)
    assert closing.outcome == "cancelled"
    shown = await handle.query("progress")
    assert shown["bad"] == {"status": "failed", "executions": 1}
    assert shown["gate"] == {"status": "cancelled", "executions": 1}
    assert shown["after"] == {"status": "skipped", "executions": 0, "reason": "run_ended"}
    assert CALLS[thread] == ["slow:0"]


async def test_any_number_of_routed_failures_completes_and_one_that_is_not_fails(
    stage: Stage,
) -> None:
    """ERR-9: each routed failure is a completion like any other, with a checkpoint of its own."""
    nodes = {**dict.fromkeys("abc", "fails_with"), "told": ("reply", {"message": "told"})}
    edges = [f"{node}.error -> told.{node}" for node in "abc"]
    result = await stage.run("reports-routed", {"graph": graph("routed", nodes, *edges)})
    assert result["status"] == "completed"
    kinds = [(row.node_id, row.kind) for row in stage.log.checkpoints("reports-routed")]
    assert [kinds.count((node, "node")) for node in "abc"] == [1, 1, 1]

    one_more = graph("one-more", {**nodes, "d": "fails_with"}, *edges)
    handle = await stage.start("reports-unrouted", graph=one_more)
    assert (await failure_of(handle)).details[0]["status"] == "failed"
    run = stage.log.latest_run("reports-unrouted")
    assert run is not None
    assert run.cause is not None
    assert run.cause.details["node_id"] == "d"
