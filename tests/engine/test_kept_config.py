"""A run keeps what it was opened with, and is run again as another (SG-13, INT-11)."""

from seeding.model import JsonObject
from tests.engine.gone import terminated
from tests.engine.graphs import graph, review
from tests.engine.stage import Stage, is_cancelled, until, update


def counted(message: str) -> JsonObject:
    """Three rounds, of which the first asks."""
    return graph(
        "counted",
        {
            "items": ("value", {"value": [1, 2, 3]}),
            "each": "for_each",
            "ask": ("gate", {"message": message}),
        },
        "items.value -> each.items",
        "each.current_item -> ask.item",
        "ask.answer -> each.loop_back",
    )


async def test_what_a_takeover_asks_for_changes_neither_graph_nor_maximum_nor_store(
    stage: Stage,
) -> None:
    """FD-47."""
    config = {"maxIterations": 1, "checkpointStore": "ephemeral"}
    first = await stage.start("kept-config", graph=counted("old?"), config=config)
    before = await until(first, "awaiting")
    await terminated(first)

    other = {"maxIterations": 50, "checkpointStore": "durable"}
    second = await stage.start("kept-config", graph=counted("new?"), config=other)
    assert await until(second, "awaiting") == before
    assert before["run"]["waitingFor"][0]["message"] == "old?"
    await update(second, "resume", {"decision": "approve"})
    result = await second.result()
    assert (result["runId"], result["status"]) == (
        first.first_execution_run_id,
        "max_iterations_exceeded",
    )
    assert result["metadata"]["max_iterations"] == 1
    assert stage.log.latest_run("kept-config") is None


async def test_a_cancelled_run_is_run_again_as_a_new_one_from_its_opening(stage: Stage) -> None:
    """FD-49: with its input and graph, under its own id; the old one stays as it was."""
    first = await stage.start("again-source", review(42, 500), message="please")
    await until(first, "awaiting")
    await first.signal("cancel", {})
    assert await is_cancelled(first)
    source = str(first.first_execution_run_id)
    commits = stage.log.commits("again-source")

    again = await stage.start("again", graph="expense-review", forkFrom=f"{source}:0")
    state = await until(again, "awaiting")
    assert state["run"]["runId"] == again.first_execution_run_id
    assert state["iterator"] == {"items": [42, 500], "index": 1, "results": [42]}
    assert (await again.query("provenance"))["start"]["source"] == "forkFrom"
    [branch] = stage.log.branches("again")
    points = [(point.thread_id, point.branch, point.up_to) for point in branch.lineage]
    assert points == [("again-source", "main", 1)]
    assert stage.log.commits("again-source") == commits
    await again.signal("cancel", {})
    assert await is_cancelled(again)
