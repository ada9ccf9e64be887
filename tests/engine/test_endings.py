"""How runs end: naturally, at their iteration budget, by a document run as it is."""

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowExecutionStatus

from seeding.model import JsonObject
from tests.engine.graphs import graph
from tests.engine.nodes import CALLS
from tests.engine.refused_starts import refused_start
from tests.engine.stage import GRAPHS, Stage, closed

SAMPLE = GRAPHS.parents[2] / "shared" / "samples" / "flowdrop" / "foreach_loop.json"


def rounds(count: int) -> JsonObject:
    """A loop of ``count`` rounds, each through a node; what follows runs once."""
    return graph(
        "rounds",
        {
            "items": ("value", {"value": list(range(count))}),
            "each": "for_each",
            "body": "noted",
            "after": ("reply", {"message": "{results}"}),
        },
        "items.value -> each.items",
        "each.current_item -> body.item",
        "body.value -> each.loop_back",
        "each.collected_results -> after.results",
    )


async def test_a_run_may_begin_just_as_many_rounds_as_its_budget_has(stage: Stage) -> None:
    """SG-14: strictly more fails; closing executions add nothing."""
    result = await stage.run("budget-3", {"graph": rounds(3), "config": {"maxIterations": 3}})
    assert result["status"] == "completed"
    assert stage.log.state("budget-3").state.iteration_count == 3
    assert CALLS["budget-3"] == ["body:0", "body:1", "body:2"]


async def test_one_round_more_ends_the_run_with_the_refused_count_not_applied(
    stage: Stage,
) -> None:
    """SG-14, contract 3: Temporal closes Completed, the state says failed."""
    handle = await stage.start("budget-2", graph=rounds(3), config={"maxIterations": 2})
    assert await closed(handle) == WorkflowExecutionStatus.COMPLETED
    run = handle.first_execution_run_id
    result = await handle.result()
    message = "node 'each': iteration 3 is past the maximum of 2"
    assert result == {
        "runId": run,
        "threadId": "budget-2",
        "status": "max_iterations_exceeded",
        "checkpointId": f"{run}:6",
        "results": [],
        "metadata": {"max_iterations": 2, "current_iterations": 3, "node_id": "each"},
        "warnings": [],
        "start": {
            "source": "fresh",
            "passedOver": [
                {"source": "initialSnapshot", "why": "not given"},
                {"source": "checkpoint", "why": "not given"},
                {"source": "thread", "why": "no run yet"},
            ],
        },
    }
    state = await handle.query("state")
    assert (state["status"], state["isComplete"], state["error"], state["iterationCount"]) == (
        "failed",
        True,
        message,
        2,
    )
    assert state["run"]["cause"] == "MaxIterations"
    assert stage.log.state("budget-2").state.error == message
    assert CALLS["budget-2"] == ["body:0", "body:1"]


async def test_a_budget_of_none_refuses_the_first_round(stage: Stage) -> None:
    result = await stage.run("budget-0", {"graph": rounds(1), "config": {"maxIterations": 0}})
    assert result["status"] == "max_iterations_exceeded"
    assert result["metadata"] == {
        "max_iterations": 0,
        "current_iterations": 1,
        "node_id": "each",
    }
    assert "budget-0" not in CALLS


async def test_after_a_spent_budget_the_next_turn_starts_clean(stage: Stage) -> None:
    await stage.run("budget-next", {"graph": rounds(2), "config": {"maxIterations": 1}})
    result = await stage.run("budget-next", {"graph": rounds(2)})
    assert (result["status"], result["start"]["source"]) == ("completed", "thread")
    assert stage.log.state("budget-next").state.iteration_count == 2


async def test_there_is_no_way_back_into_a_run_that_spent_its_iterations(stage: Stage) -> None:
    """SG-14, FD-29: not by any of its checkpoints, and ``recover`` finds nothing."""
    thread = "budget-over"
    handle = await stage.start(thread, graph=rounds(2), config={"maxIterations": 1})
    await handle.result()
    for checkpoint in ("1", "3"):
        point = f"{handle.first_execution_run_id}:{checkpoint}"
        refusal = await refused_start(stage, thread, {"graph": rounds(2), "checkpointId": point})
        assert refusal.code == "CheckpointOfEndedRun"
    result = await stage.run(thread, {"graph": rounds(1), "recover": True})
    assert (result["status"], result["start"]["source"]) == ("completed", "thread")


async def test_a_count_that_a_node_sets_past_the_budget_ends_the_run(stage: Stage) -> None:
    document = graph("counts", {"set": ("set_state", {"state_update": {"iterationCount": 6}})})
    result = await stage.run("budget-set", {"graph": document, "config": {"maxIterations": 5}})
    assert (result["status"], result["metadata"]["current_iterations"]) == (
        "max_iterations_exceeded",
        6,
    )
    assert stage.log.state("budget-set").state.iteration_count == 0


async def test_an_empty_loop_closes_at_once_and_what_follows_runs_once(stage: Stage) -> None:
    result = await stage.run("loop-empty", {"graph": rounds(0)})
    assert result["results"] == {
        "items": {"value": []},
        "each": {
            "loop_active": False,
            "current_item": None,
            "total_count": 0,
            "collected_results": [],
        },
        "after": {"message": "[]"},
    }
    assert result["metadata"] == {"nodes_skipped": 1, "skipped_node_ids": ["body"]}


# --- documents run as they are ------------------------------------------------------------------


async def test_the_editors_document_of_this_project_runs_as_it_is(stage: Stage) -> None:
    handle = await stage.start("own-loop", graph="fruit-loop")
    result = await handle.result()
    run = handle.first_execution_run_id
    assert result["status"] == "completed"
    assert list(result["results"]) == [
        "basket.1",
        "each_fruit.1",
        "capitals.1",
        "each_fruit.1:1",
        "capitals.1:1",
        "each_fruit.1:2",
        "capitals.1:2",
        "each_fruit.1:3",
        "tell.1",
    ]
    assert result["results"]["each_fruit.1"] == {
        "loop_active": True,
        "item": "quince",
        "index": 0,
        "is_first": True,
        "is_last": False,
        "total": 3,
    }
    assert result["results"]["tell.1"] == {"message": 'In capitals: ["QUINCE","MEDLAR","DAMSON"]'}
    assert stage.log.messages("own-loop") == [
        {
            "id": f"{run}:9:0",
            "role": "assistant",
            "content": 'In capitals: ["QUINCE","MEDLAR","DAMSON"]',
        }
    ]


async def test_a_document_given_inline_is_the_same_graph_as_the_registered_one(
    stage: Stage,
) -> None:
    document = json.loads((GRAPHS / "fruit-loop.json").read_text())
    inline = await stage.start("own-inline", graph=document)
    named = await stage.start("own-named", graph="fruit-loop")
    assert (await inline.result())["results"] == (await named.result())["results"]
    graphs = [(await handle.query("state"))["run"]["graph"] for handle in (inline, named)]
    assert graphs[0] == graphs[1]
    result = await stage.run("own-digest", {"graph": graphs[0]})
    assert result["status"] == "completed"


async def test_amounts_within_the_limit_wait_for_nobody(stage: Stage) -> None:
    request = {"graph": "expense-review", "input": {"items": {"value": [10, 100]}}}
    result = await stage.run("own-review", request)
    assert result["results"]["summary"] == {"message": "Done: [10,100]"}
    assert result["metadata"] == {"nodes_skipped": 1, "skipped_node_ids": ["gate"]}


@pytest.mark.skipif(not SAMPLE.is_file(), reason=f"{SAMPLE.name} is not beside this project")
async def test_a_loop_drawn_by_other_people_runs_as_it_is(stage: Stage) -> None:
    document = json.loads(Path(SAMPLE).read_text())
    result = await stage.run("sample-loop", {"graph": document})
    items = json.loads(document["nodes"][0]["data"]["config"]["jsonData"])
    assert result["status"] == "completed"
    assert result["results"]["foreach.1:5"] == {
        "loop_active": False,
        "item": None,
        "total": 5,
        "collected_results": [item.upper() for item in items],
    }
    assert [key for key in result["results"] if key.startswith("process_item")] == [
        "process_item.1",
        *(f"process_item.1:{number}" for number in range(1, 5)),
    ]
    assert stage.log.state("sample-loop").state.iteration_count == 5
