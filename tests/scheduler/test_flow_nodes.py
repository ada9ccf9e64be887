"""``merge``, ``set`` and ``stop``."""

from typing import Any

import pytest

from seeding.model import JsonObject
from workflows.report import progress, report
from workflows.scheduler import NodeFailureReport

from .graphs import graph
from .runs import Run

# --- merge ---------------------------------------------------------------------------------------


def test_a_merge_waits_for_all_its_fed_ports_and_holds_them_by_name():
    """DATA-4."""
    built = graph("a.out -> m.left", "b.out -> m.right", "m.merged -> end.x", types={"m": "merge"})
    run = Run(built)
    run.finish_node("b")
    assert run.due_ids() == ["a"]
    run.go()
    assert run.results["m"] == {"merged": {"left": 0, "right": 0}}
    assert run.results["end"]["x"] == {"left": 0, "right": 0}


def test_a_port_that_nothing_was_delivered_to_has_no_key_and_null_has_one():
    """DATA-1."""
    built = graph(
        "a.out -> m.left", "a.absent -> m.right", "a.null -> m.third", types={"m": "merge"}
    )
    run = Run(built, {"a": lambda inputs, occurrence: {"out": 1, "null": None}}).go()
    assert run.results["m"] == {"merged": {"left": 1, "third": None}}


# --- set -----------------------------------------------------------------------------------------


def set_run(update: JsonObject, given: JsonObject) -> Run:
    built = graph(alone=["s"], types={"s": "set"}, config={"s": {"state_update": update}})
    return Run(built, inputs={"s": given}).go()


def test_a_text_that_is_exactly_a_port_stands_for_its_value():
    run = set_run(
        {"data": {"total": "{sum}", "list": ["{sum}", {"of": "{who}"}], "said": "{who}: {sum}"}},
        {"sum": 7.5, "who": "Ann"},
    )
    assert run.data == {"total": 7.5, "list": [7.5, {"of": "Ann"}], "said": "Ann: 7.5"}


def test_an_update_goes_through_the_rules_of_every_state_update():
    """SG-1, SG-3: recorded outputs do not show it."""
    run = set_run(
        {"messages": ["{message}"], "metadata": {"kept": None}, "data": {"a": [1]}},
        {"message": {"role": "assistant", "content": "hi"}},
    )
    assert run.messages == [{"role": "assistant", "content": "hi"}]
    assert (run.data, run.metadata) == ({"a": [1]}, {"kept": None})
    assert run.results["s"] == {"value": {"role": "assistant", "content": "hi"}}


@pytest.mark.parametrize(
    ("given", "value"),
    [({}, None), ({"a": None}, None), ({"a": [1]}, [1]), ({"a": 1, "b": 2}, {"a": 1, "b": 2})],
)
def test_what_came_in_goes_on_as_value(given: JsonObject, value: Any):
    assert set_run({"data": {"x": 1}}, given).results["s"] == {"value": value}


def test_a_port_without_a_value_fails_the_node_and_changes_nothing():
    run = set_run({"data": {"total": "{sum}"}}, {"summ": 1})
    assert run.cause is not None
    assert run.cause.message == "node 's': state_update needs input 'sum', which has no value"
    assert run.cause.details["code"] == "MissingInput"
    assert run.data == {}


def test_an_update_that_cannot_be_applied_fails_the_node():
    run = set_run({"messages": ["{text}"]}, {"text": "no message object"})
    assert run.cause is not None
    assert run.cause.details["code"] == "InvalidStateUpdate"


# --- stop ----------------------------------------------------------------------------------------

CHAIN = graph("a.out -> b.x", "b.out -> c.x", types={"b": "stop"})


def test_a_stop_ends_the_run_completed_and_what_follows_is_absent():
    """ERR-5: executed [a, b], c neither run nor skipped."""
    run = Run(CHAIN).go()
    assert run.trace == ["a", "b"]
    assert run.finished
    assert run.cause is not None
    assert run.cause.to_json() == {
        "kind": "Stopped",
        "message": None,
        "details": {"node_id": "b", "occurrence": 0},
    }
    assert run.results["b"] == {"x": 0}
    assert report(run.plan, run.position) == {"nodes_skipped": 0, "skipped_node_ids": []}
    assert progress(run.plan, run.position)["b"] == {"status": "completed", "executions": 1}
    assert run.restored() == run.position


def test_beside_a_stop_what_is_in_flight_completes_and_nothing_else_starts():
    """ERR-5."""
    built = graph("s.trigger -> never.trigger", "slow.out -> later.x", types={"s": "stop"})
    run = Run(built)
    assert run.due_ids() == ["s", "slow"]
    run.finish_node("s")
    assert run.due_ids() == ["slow"]
    assert not run.finished
    run.finish_node("slow")
    assert run.finished
    assert run.results == {"s": {}, "slow": {"out": 0}}


def test_a_failure_in_flight_does_not_change_that_the_run_was_stopped():
    built = graph(alone=["s", "slow"], types={"s": "stop"})
    run = Run(built, {"slow": lambda inputs, occurrence: NodeFailureReport(message="late")})
    run.finish_node("s")
    run.finish_node("slow")
    assert run.cause is not None
    assert run.cause.kind == "Stopped"


def test_a_stop_does_not_wait_for_open_questions():
    built = graph(alone=["g", "s"], types={"g": "gate", "s": "stop"})
    run = Run(built)
    run.finish_node("g")
    run.finish_node("s")
    assert run.finished


def test_a_stop_in_a_loop_ends_the_run_in_its_round():
    built = graph(
        "items.value -> each.items",
        "each.current_item -> pick.data",
        "pick.stop -> end.item",
        "pick.go -> each.loop_back",
        "each.collected_results -> after.x",
        types={"items": "value", "each": "for_each", "pick": "branch", "end": "stop"},
        config={
            "items": {"value": [1, 2, 3]},
            "pick": {"branches": [{"name": "stop", "value": 2}, {"name": "go", "isDefault": True}]},
        },
    )
    run = Run(built).go()
    assert run.trace == ["items", "each", "pick", "each:1", "pick:1", "end"]
    assert run.results["end"] == {"item": 2}


def test_inputs_named_like_control_outputs_are_no_commands_of_a_stop():
    built = graph(alone=["s"], types={"s": "stop"})
    run = Run(built, inputs={"s": {"state_update": {"data": {"a": 1}}, "x": 1}}).go()
    assert (run.data, run.results["s"]) == ({}, {"x": 1})
