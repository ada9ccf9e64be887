"""Which value a port gets: DATA-1 to DATA-3, DATA-6, DATA-7, and what branch ports carry."""

from seeding.model import JsonObject
from workflows.scheduler import Reference, due, references, resolve_inputs

from .graphs import graph
from .runs import Node, Run


def giving(outputs: JsonObject) -> Node:
    return lambda inputs, occurrence: outputs


def inputs_of(run: Run, node_id: str) -> JsonObject:
    execution = run.position.executions[node_id]
    return resolve_inputs(run.plan, run.position, execution)


WIRED = graph("source.out -> shown.value", types={"shown": "value"}, config={"shown": {"value": 7}})


def test_an_explicit_null_beats_the_config() -> None:  # FD-51
    run = Run(WIRED, {"source": giving({"out": None})}).go()
    assert run.results["shown"] == {"value": None}


def test_a_missing_key_falls_through_to_the_config() -> None:  # FD-51
    run = Run(WIRED, {"source": giving({})}).go()
    assert run.results["shown"] == {"value": 7}


def test_a_missing_key_without_config_delivers_nothing() -> None:  # FD-51
    run = Run(graph("a.out -> b.in"), {"a": giving({})})
    run.finish_node("a")
    assert inputs_of(run, "b") == {}


def test_a_wire_beats_the_request_key_by_key() -> None:
    run = Run(graph("a.out -> b.x"), {"a": giving({"out": None})}, inputs={"b": {"x": 1, "y": 2}})
    run.finish_node("a")
    assert inputs_of(run, "b") == {"x": None, "y": 2}
    assert references(run.plan, run.position, run.position.executions["b"]) == {
        "x": Reference(kind="output", node_id="a", occurrence=0, port="out"),
        "y": Reference(kind="input", node_id="b", occurrence=0, port="y"),
    }


def test_a_port_fed_by_several_takes_the_newest_execution() -> None:
    built = graph("a.out -> c.in", "b.out -> c.in", "b.out -> c.gate", priority={"b": 1})
    run = Run(built, {"a": giving({"out": "a"}), "b": giving({"out": "b"})})
    run.finish_node("a")
    run.finish_node("b")
    assert inputs_of(run, "c")["in"] == "b"


def test_newest_means_dispatched_last_not_completed_last() -> None:
    built = graph("a.out -> c.in", "b.out -> c.in", "a.out -> c.gate", priority={"b": 1})
    run = Run(built, {"a": giving({"out": "a"}), "b": giving({"out": "b"})})
    run.finish_node("b")
    run.finish_node("a")
    assert inputs_of(run, "c")["in"] == "b"


def test_a_trigger_edge_carries_no_value() -> None:
    run = Run(graph("a.trigger -> b.trigger"), {"a": giving({"trigger": 1})})
    run.finish_node("a")
    assert inputs_of(run, "b") == {}


def routed(inputs: JsonObject, router: JsonObject) -> Run:
    built = graph("r.yes -> next.in", types={"r": "router"})
    return Run(built, {"r": giving({"active_branches": ["yes"], **router})}, inputs={"r": inputs})


def test_a_branch_port_carries_the_output_of_its_name() -> None:
    run = routed({"x": 1}, {"yes": "own"})
    run.finish_node("r")
    assert inputs_of(run, "next") == {"in": "own"}


def test_else_it_carries_the_single_input() -> None:
    run = routed({"x": 1}, {})
    run.finish_node("r")
    assert inputs_of(run, "next") == {"in": 1}
    assert run.rows["output", "r", 0, 0] == {"outputs": {}, "passed": {"yes": 1}}


def test_or_the_object_of_several_inputs() -> None:
    run = routed({"x": 1, "y": None}, {})
    run.finish_node("r")
    assert inputs_of(run, "next") == {"in": {"x": 1, "y": None}}


def test_control_outputs_and_internal_names_are_recorded_nowhere() -> None:
    outputs: JsonObject = {
        "out": 1,
        "active_branches": ["out"],
        "error_retryable": True,
        "state_update": {"data": {}},
        "__state__": {"secret": 1},
    }
    run = Run(graph(alone=["a"]), {"a": giving(outputs)}).go()
    assert run.results == {"a": {"out": 1}}
    assert run.rows == {("output", "a", 0, 0): {"outputs": {"out": 1}}}


def test_a_loopback_edge_into_a_port_of_its_own_feeds_the_next_round() -> None:
    built = graph(
        "first.out -> draft.text",
        "draft.out -> review.in",
        "review.again -> draft.text !loopback",
        config={"draft": {"maxRounds": 2}},
    )
    run = Run(built, {"first": giving({"out": "one"}), "review": giving({"again": "two"})})
    run.finish_node("first")
    assert inputs_of(run, "draft") == {"text": "one"}
    run.finish_node("draft")
    run.finish_node("review")
    assert inputs_of(run, "draft") == {"text": "two"}


def test_loop_back_of_a_node_that_is_no_for_each_is_a_bare_signal() -> None:
    built = graph("a.out -> b.in", "b.out -> a.loop_back", config={"a": {"maxRounds": 2}})
    run = Run(built)
    run.finish_node("a")
    run.finish_node("b")
    assert [found.node_id for found in due(run.position)] == ["a"]
    assert inputs_of(run, "a") == {}
