"""SG-1 and SG-3: what a node's ``state_update`` changes, and when."""

from typing import Any

import pytest

from seeding.model import JsonObject
from workflows.scheduler import shown_iterator

from .graphs import graph
from .runs import Node, Run


def updating(update: Any, **outputs: Any) -> Node:
    return lambda inputs, occurrence: {**outputs, "state_update": update}


def one(update: Any) -> Run:
    return Run(graph("a.out -> b.in", "a.error -> handler.in"), {"a": updating(update, out=1)})


def test_messages_append_and_keys_merge() -> None:
    said = {"role": "assistant", "content": "hi", "extra": 1}
    run = one({"messages": [said], "data": {"k": {"v": 1}}, "metadata": {"m": None}})
    run.data = {"old": True}
    run.go()
    assert run.messages == [said]
    assert run.data == {"old": True, "k": {"v": 1}}
    assert run.metadata == {"m": None}
    assert run.results["a"] == {"out": 1}


def test_an_explicit_null_clears_the_whole_field() -> None:
    run = one({"data": None, "messages": None})
    run.data, run.metadata = {"x": 1, "y": 2}, {"kept": 1}
    run.go()
    assert run.data == {}
    assert run.metadata == {"kept": 1}


def test_an_omitted_field_is_kept() -> None:
    run = one({})
    run.data = {"x": 1}
    run.go()
    assert run.data == {"x": 1}
    assert run.head.iteration_count == 0


@pytest.mark.parametrize(
    ("update", "problem"),
    [
        ({"status": "completed"}, "status: unknown field"),
        ({"threadId": "other"}, "threadId: unknown field"),
        ({"iterationCount": "3"}, "iterationCount: Input should be a valid integer"),
        ({"iterationCount": True}, "iterationCount: Input should be a valid integer"),
        ({"iterationCount": -1}, "iterationCount: it is not negative"),
        ({"data": []}, "data: Input should be a valid dictionary"),
        ({"messages": [{"content": "x"}]}, "messages: a message has a role, a non-empty string"),
        ({"iterator": None}, "iterator: no round of a for_each is in progress around this node"),
        ("text", "value: Input should be a valid dictionary or instance of StateUpdate"),
    ],
)
def test_an_update_that_cannot_be_applied_is_a_node_level_failure(
    update: Any, problem: str
) -> None:
    run = one(update).go()
    assert run.trace == ["a", "handler"]
    assert run.results["a"]["error"] == {
        "message": f"node 'a': state_update cannot be applied: {problem}",
        "code": "InvalidStateUpdate",
        "node_id": "a",
        "retryable": False,
    }
    assert (run.data, run.messages) == ({}, [])


def in_loop(update: Any, **given: Any) -> Run:
    built = graph(
        "items.value -> each.items",
        "each.current_item -> step.in",
        "step.out -> each.loop_back",
        types={"items": "value", "each": "for_each"},
        config={"items": {"value": ["a", "b", "c"]}},
    )

    def step(inputs: JsonObject, occurrence: int) -> JsonObject:
        first = {"state_update": {"iterator": update}} if occurrence == 0 else {}
        return {"out": inputs["in"], **first}

    return Run(built, {"step": step}, **given)


def test_an_iterator_update_replaces_the_innermost_iterator() -> None:
    run = in_loop({"items": ["x", "y"], "index": 0, "results": ["before"]})
    for node in ("items", "each", "step"):
        run.finish_node(node)
    assert shown_iterator(run.position) == {
        "items": ["x", "y"],
        "index": 0,
        "results": ["before"],
    }
    assert run.restored() == run.position
    run.go()
    assert run.results["each:1"]["current_item"] == "y"
    assert run.results["each:2"]["collected_results"] == ["before", "a", "y"]


def test_a_cleared_iterator_closes_with_the_results_so_far() -> None:
    run = in_loop(None)
    for node in ("items", "each", "step"):
        run.finish_node(node)
    assert run.restored() == run.position
    run.go()
    assert run.results["each:1"] == {
        "loop_active": False,
        "current_item": None,
        "total_count": 1,
        "collected_results": ["a"],
    }


@pytest.mark.parametrize(
    ("iterator", "problem"),
    [
        ({}, "items is a list"),
        ({"items": [1], "index": 1}, "index is a whole number from 0 to 0"),
        ({"items": [1], "index": True}, "index is a whole number from 0 to 0"),
        ({"items": [1], "results": None}, "results is a list"),
        ({"items": [1], "more": 1}, "unknown field 'more'"),
    ],
)
def test_an_iterator_of_the_wrong_shape_fails_the_node(iterator: Any, problem: str) -> None:
    run = in_loop(iterator).go()
    assert run.cause is not None
    assert run.cause.message == (
        f"node 'step': state_update cannot be applied: iterator: {problem}"
    )
