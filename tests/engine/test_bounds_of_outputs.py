"""What a node gives is judged whole before it is committed: past a bound, the node fails."""

import pytest

from seeding.model import JsonObject
from tests.engine.graphs import graph
from tests.engine.stage import Stage

EDGES = ("make.error -> handler.error", "make.v -> use.v")


def making(outputs: JsonObject) -> JsonObject:
    return graph(
        "bounds",
        {"make": ("returns", {"outputs": outputs}), "handler": "noted", "use": "noted"},
        *EDGES,
    )


@pytest.mark.parametrize("levels", [98, 99, 100])
async def test_a_value_of_a_hundred_levels_is_kept_and_handed_on(stage: Stage, levels: int) -> None:
    document = graph(
        "deep", {"make": ("nests", {"levels": levels}), "use": "measures_depth"}, "make.v -> use.v"
    )
    result = await stage.run(f"deep-{levels}", {"graph": document})
    assert result["results"]["use"] == {"levels": levels}


@pytest.mark.parametrize("levels", [101, 150])
async def test_a_deeper_value_fails_its_node_which_may_be_routed(stage: Stage, levels: int) -> None:
    document = graph(
        "deep",
        {"make": ("nests", {"levels": levels}), "handler": "noted"},
        "make.error -> handler.error",
    )
    result = await stage.run(f"deep-{levels}", {"graph": document})
    error = result["results"]["handler"]["value"]["error"]
    assert (error["code"], error["retryable"]) == ("OutputNotJson", False)


async def test_thousands_of_keys_are_set_at_once_while_a_commit_holds_them(stage: Stage) -> None:
    keys: JsonObject = {f"k{number:04}": number for number in range(2500)}
    outputs: JsonObject = {"v": 1, "state_update": {"data": keys}}
    handle = await stage.start("many-keys", graph=making(outputs))
    assert (await handle.result())["status"] == "completed"
    assert stage.log.state("many-keys").state.data == keys


async def test_more_keys_than_a_commit_holds_fail_their_node_which_may_be_routed(
    stage: Stage,
) -> None:
    keys: JsonObject = {f"k{number:04}": 1 for number in range(5000)}
    outputs: JsonObject = {"v": 1, "state_update": {"data": keys}}
    result = await stage.run("too-many-keys", {"graph": making(outputs)})
    assert result["status"] == "completed"
    error = result["results"]["handler"]["value"]["error"]
    assert (error["code"], error["node_id"]) == ("OutputTooLarge", "make")
    assert "bytes of JSON, at most 262144 are taken; set fewer keys at once" in error["message"]
    assert stage.log.state("too-many-keys").state.data == {}
