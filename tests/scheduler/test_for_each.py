"""SG-4 and SG-5: n items are n rounds and a closing."""

import pytest

from seeding.model import Json, JsonObject
from workflows.graph.model import Graph
from workflows.scheduler import NodeFailureReport, shown_iterator

from .graphs import edge, graph
from .runs import Run


def loop(kind: str = "for_each", item: str = "current_item", items: Json = None) -> Graph:
    return graph(
        "items.value -> each.items",
        f"each.{item} -> step.in",
        "step.out -> each.loop_back",
        "each.collected_results -> after.in",
        "each.completed -> done.in",
        types={"items": "value", "each": kind},
        config={"items": {"value": items}},
    )


def step(inputs: JsonObject, occurrence: int) -> JsonObject:
    return {"out": f"<{inputs['in']}>"}


def test_each_item_is_a_round_and_the_closing_collects() -> None:
    run = Run(loop(items=["a", "b"]), {"step": step}).go()
    assert run.trace == ["items", "each", "step", "each:1", "step:1", "each:2", "after", "done"]
    assert run.results["each"] == {
        "loop_active": True,
        "current_item": "a",
        "current_index": 0,
        "is_first": True,
        "is_last": False,
        "total_count": 2,
    }
    assert run.results["each:1"] == {
        "loop_active": True,
        "current_item": "b",
        "current_index": 1,
        "is_first": False,
        "is_last": True,
        "total_count": 2,
    }
    assert run.results["each:2"] == {
        "loop_active": False,
        "current_item": None,
        "total_count": 2,
        "collected_results": ["<a>", "<b>"],
    }


def test_the_editors_foreach_has_its_own_port_names() -> None:
    run = Run(loop("foreach", "item", ["a"]), {"step": step}).go()
    assert run.results["each"] == {
        "loop_active": True,
        "item": "a",
        "index": 0,
        "is_first": True,
        "is_last": True,
        "total": 1,
    }
    assert run.results["each:1"] == {
        "loop_active": False,
        "item": None,
        "total": 1,
        "collected_results": ["<a>"],
    }


def test_no_items_close_at_once() -> None:
    run = Run(loop(items=[])).go()
    assert run.trace == ["items", "each", "after", "done"]
    assert run.results["each"] == {
        "loop_active": False,
        "current_item": None,
        "total_count": 0,
        "collected_results": [],
    }
    assert run.head.iteration_count == 0


@pytest.mark.parametrize("items", ["single", {"an": "object"}, 0, False])
def test_what_is_no_list_is_one_item(items: Json) -> None:
    run = Run(loop(items=items)).go()
    assert run.results["each"]["current_item"] == items
    assert run.results["each"]["total_count"] == 1


def test_null_items_fail_the_node() -> None:
    run = Run(loop(items=None)).go()
    assert run.cause is not None
    assert run.cause.message == "node 'each': no items; port 'items' is missing or null"
    assert run.cause.details["code"] == "MissingItems"


def test_missing_items_may_be_routed() -> None:
    built = graph(
        "source.nothing -> each.items", "each.error -> handler.in", types={"each": "for_each"}
    )
    run = Run(built).go()
    assert run.trace == ["source", "each", "handler"]
    assert run.cause is None


def test_item_result_beats_loop_back() -> None:
    built = graph(
        "items.value -> each.items",
        "each.current_item -> step.in",
        "step.out -> each.loop_back",
        "step.better -> each.item_result !loopback",
        types={"items": "value", "each": "for_each"},
        config={"items": {"value": [1, 2]}},
    )

    def both(inputs: JsonObject, occurrence: int) -> JsonObject:
        return {"out": "signal", "better": None} if occurrence else {"out": "signal"}

    run = Run(built, {"step": both}).go()
    assert run.results["each:2"]["collected_results"] == ["signal", None]


def test_a_round_without_a_result_collects_null() -> None:
    run = Run(loop(items=[1, 2]), {"step": lambda inputs, occurrence: {}}).go()
    assert run.results["each:2"]["collected_results"] == [None, None]


def test_the_result_of_a_round_is_never_an_older_one() -> None:
    run = Run(loop(items=[1, 2]), {"step": lambda i, occurrence: {} if occurrence else {"out": 1}})
    assert run.go().results["each:2"]["collected_results"] == [1, None]


def test_a_failed_round_may_come_back_as_its_result() -> None:
    built = graph(
        "items.value -> each.items",
        "each.current_item -> step.in",
        "step.out -> each.loop_back",
        "step.error -> each.loop_back",
        types={"items": "value", "each": "for_each"},
        config={"items": {"value": [1, 2]}},
    )

    def fails_first(inputs: JsonObject, occurrence: int) -> JsonObject | NodeFailureReport:
        return {"out": "fine"} if occurrence else NodeFailureReport(message="no", code="E")

    run = Run(built, {"step": fails_first}).go()
    assert run.cause is None
    assert run.results["each:2"]["collected_results"] == [
        {"message": "no", "code": "E", "node_id": "step", "retryable": False},
        "fine",
    ]


def test_a_body_wired_by_triggers_does_not_see_the_closing() -> None:
    built = graph(
        "items.value -> each.items",
        "each.trigger -> step.trigger",
        "step.out -> each.loop_back",
        "each.trigger -> after.trigger",
        types={"items": "value", "each": "for_each"},
        config={"items": {"value": [1, 2]}},
    )
    run = Run(built).go()
    assert run.trace == ["items", "each", "step", "each:1", "step:1", "each:2", "after"]


def test_every_iteration_of_a_nested_loop_sees_what_the_outer_one_gave() -> None:
    built = graph(
        "customers.value -> outer.items",
        "orders.value -> inner.items",
        "outer.current_item -> inner.after",
        "outer.current_item -> step.customer",
        "inner.current_item -> step.order",
        "step.out -> inner.loop_back",
        "inner.collected_results -> outer.loop_back",
        types={"customers": "value", "orders": "value", "outer": "for_each", "inner": "for_each"},
        config={"customers": {"value": ["ann", "bob"]}, "orders": {"value": [1, 2]}},
    )
    run = Run(built, {"step": lambda i, n: {"out": f"{i['customer']}/{i['order']}"}}).go()
    assert run.results["outer:2"]["collected_results"] == [["ann/1", "ann/2"], ["bob/1", "bob/2"]]
    assert run.head.iteration_count == 6


def test_the_innermost_round_in_progress_is_shown() -> None:
    built = graph(
        "outer.current_item -> inner.items",
        "inner.current_item -> step.in",
        "step.out -> inner.loop_back",
        "inner.collected_results -> outer.loop_back",
        types={"outer": "for_each", "inner": "for_each"},
        config={"outer": {"items": [["a", "b"], ["c"]]}},
    )
    run = Run(built, {"step": step})
    shown: list[Json] = []
    while run.advance():
        shown.append((run.trace[-1], shown_iterator(run.position)))
    outer = [["a", "b"], ["c"]]
    assert shown == [
        ("outer", {"items": outer, "index": 0, "results": []}),
        ("inner", {"items": ["a", "b"], "index": 0, "results": []}),
        ("step", {"items": ["a", "b"], "index": 0, "results": []}),
        ("inner:1", {"items": ["a", "b"], "index": 1, "results": ["<a>"]}),
        ("step:1", {"items": ["a", "b"], "index": 1, "results": ["<a>"]}),
        ("inner:2", {"items": outer, "index": 0, "results": []}),
        ("outer:1", {"items": outer, "index": 1, "results": [["<a>", "<b>"]]}),
        ("inner:3", {"items": ["c"], "index": 0, "results": []}),
        ("step:2", {"items": ["c"], "index": 0, "results": []}),
        ("inner:4", {"items": outer, "index": 1, "results": [["<a>", "<b>"]]}),
        ("outer:2", None),
    ]


def test_an_iterator_that_the_starting_state_carries_is_gone_on_with() -> None:
    carried: JsonObject = {"items": ["a", "b", "c"], "index": 1, "results": ["kept"]}
    run = Run(loop(items=["ignored"]), {"step": step}, iterator=carried)
    assert shown_iterator(run.position) == carried
    assert run.restored() == run.position
    run.go()
    assert run.results["each"]["current_item"] == "b"
    assert run.results["each:2"]["collected_results"] == ["kept", "<b>", "<c>"]
    assert run.head.iteration_count == 2


def test_a_carried_iterator_waits_for_its_first_round_over_rounds_of_an_outer_loop() -> None:
    built = graph(
        "head.no -> tail.in",
        "head.yes -> each.after",
        "each.current_item -> step.in",
        "step.out -> each.loop_back",
        "each.completed -> tail.trigger_by",
        "each.trigger -> tail.trigger",
        "head.no -> tail.trigger",
        "tail.out -> head.loop_back",
        types={"head": "router", "each": "for_each"},
        config={"head": {"maxRounds": 2}, "each": {"items": ["new"]}},
    )
    run = Run(
        built,
        {"head": lambda inputs, n: {"active_branches": ["yes" if n else "no"]}, "step": step},
        iterator={"items": ["a", "b"], "index": 1, "results": ["r"]},
    ).go()
    assert run.results["each"]["current_item"] == "b"
    assert run.results["each:1"]["collected_results"] == ["r", "<b>"]


def test_a_carried_iterator_without_a_for_each_is_a_warning() -> None:
    run = Run(graph(alone=["a"]), iterator={"items": [1], "index": 0})
    assert [warning["code"] for warning in run.warnings] == ["iterator_not_used"]
    assert shown_iterator(run.position) is None


@pytest.mark.parametrize("items", [{"0": "a", "1": "b"}, {}, "", "ab"])
def test_an_object_or_a_text_is_one_item_whatever_its_keys_and_length(items: Json) -> None:
    run = Run(loop(items=items)).go()
    assert run.results["each"]["current_item"] == items
    assert run.results["each"]["total_count"] == 1
    assert run.results["each:1"]["loop_active"] is False


def test_items_are_numbered_from_0_whatever_they_are() -> None:
    items: list[Json] = [None, [], "x", {"a": None}, [[1]]]
    run = Run(loop(items=items)).go()
    rounds = [run.results["each" if n == 0 else f"each:{n}"] for n in range(5)]
    assert [one["current_index"] for one in rounds] == [0, 1, 2, 3, 4]
    assert [one["current_item"] for one in rounds] == items
    assert [one["is_last"] for one in rounds] == [False, False, False, False, True]
    assert run.results["each:5"]["total_count"] == 5


def test_items_that_the_body_sends_back_are_not_taken_while_a_round_is_in_progress() -> None:
    """SG-4: the iterator is set once."""
    built = graph(
        "items.value -> each.items",
        "each.current_item -> step.in",
        "step.more -> each.items !loopback",
        types={"items": "value", "each": "for_each"},
        config={"items": {"value": ["a", "b"]}},
    )
    run = Run(built, {"step": lambda inputs, n: {"more": ["c", "d", "e"]}}).go()
    assert run.trace == ["items", "each", "step", "each:1", "step:1", "each:2"]
    assert run.results["each:2"] == {
        "loop_active": False,
        "current_item": None,
        "total_count": 2,
        "collected_results": [None, None],
    }


def test_an_inner_loop_takes_new_items_in_each_outer_round_and_starts_over() -> None:
    built = graph(
        "outer.current_item -> inner.items",
        "inner.current_item -> step.in",
        "step.out -> inner.loop_back",
        "inner.collected_results -> outer.loop_back",
        types={"outer": "for_each", "inner": "for_each"},
        config={"outer": {"items": [["a", "b"], [], ["c"]]}},
    )
    run = Run(built, {"step": step}).go()
    assert run.results["outer:3"]["collected_results"] == [["<a>", "<b>"], [], ["<c>"]]
    assert [key for key in run.trace if key.startswith("inner")] == [
        "inner", "inner:1", "inner:2", "inner:3", "inner:4", "inner:5",
    ]  # fmt: skip
    assert run.position.nodes["inner"].stamp == {"outer": 2, "inner": 1}
    assert run.head.iteration_count == 3 + 3


def test_a_port_of_its_own_named_loop_back_delivers_its_wire_and_no_signal() -> None:
    """SG-5: what is wired to it as data is its value; a re-entry puts nothing in its place."""
    wired = edge("source.out -> head.loop_back").model_copy(update={"kind": "data"})
    built = graph(
        wired,
        "head.out -> tail.in",
        "tail.out -> head.loop_back",
        config={"head": {"maxRounds": 2}},
    )
    seen: list[JsonObject] = []

    def head(inputs: JsonObject, occurrence: int) -> JsonObject:
        seen.append(inputs)
        return {"out": occurrence}

    run = Run(built, {"source": lambda inputs, n: {"out": "own"}, "head": head}).go()
    assert run.trace == ["source", "head", "tail", "head:1", "tail:1"]
    assert seen == [{"loop_back": "own"}, {"loop_back": "own"}]
