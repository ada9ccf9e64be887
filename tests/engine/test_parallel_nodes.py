"""Nodes that are ready together run together, whatever kind of function they are."""

from tests.engine.graphs import graph, until_called, until_completed
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Stage, until


async def test_nodes_that_are_ready_run_at_the_same_time_and_are_joined(stage: Stage) -> None:
    thread = "parallel"
    names = ["a", "b", "c", "d", "e"]
    document = graph(
        "fan",
        {
            **{name: ("together", {"count": 5}) for name in names},
            "join": ("reply", {"message": "{a}{b}{c}{d}{e}"}),
        },
        *(f"{name}.value -> join.{name}" for name in names),
    )
    result = await stage.run(thread, {"graph": document})
    assert sorted(CALLS[thread]) == [f"{name}:0" for name in names]
    assert result["results"]["join"] == {"message": "abcde"}
    assert len(stage.log.checkpoints(thread)) == 7


async def test_a_plain_function_blocks_neither_its_worker_nor_the_run(stage: Stage) -> None:
    """Contract 7: plain ``def`` nodes run in threads."""
    thread = "plain"
    document = graph(
        "plain",
        {
            "blocks": ("blocks", {"name": thread}),
            "start": ("value", {"value": 21}),
            "double": "sync_double",
        },
        "start.value -> double.value",
    )
    handle = await stage.start(thread, graph=document)
    await until_called(thread, "blocks:0")
    await until_completed(handle, "double")
    assert (await until(handle, "running"))["run"]["waitingFor"] == []
    GATES[thread].set()
    results = (await handle.result())["results"]
    assert (results["double"], results["blocks"]) == ({"value": 42}, {"value": False})
