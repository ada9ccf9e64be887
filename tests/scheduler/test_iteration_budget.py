"""SG-14: the iteration count, its maximum, and the end it makes."""

from seeding.model import Json, JsonObject
from workflows.scheduler import Ending

from .graphs import EXPENSE_REVIEW, check_expense, graph
from .runs import Node, Run

LOOP = graph(
    "start.out -> loop_node.in",
    "loop_node.out -> tail.in",
    "tail.out -> loop_node.loop_back",
)


def counting(count: Json) -> Node:
    def behave(inputs: JsonObject, occurrence: int) -> JsonObject:
        return {"out": 1, "state_update": {"iterationCount": count, "data": {"applied": True}}}

    return behave


def test_a_node_that_sets_the_count_past_the_maximum_ends_the_run() -> None:  # FD-29
    run = Run(LOOP, {"loop_node": counting(999)}, max_iterations=5).go()
    assert isinstance(run.ending, Ending)
    assert run.ending.cause.kind == "MaxIterations"
    assert run.ending.report == {
        "max_iterations": 5,
        "current_iterations": 999,
        "node_id": "loop_node",
    }
    assert run.data == {}, "the update is not applied"
    assert list(run.results) == ["start"], "and the completion is not committed"


def test_exactly_the_maximum_goes_on() -> None:  # FD-29
    run = Run(LOOP, {"loop_node": counting(5)}, max_iterations=5)
    run.finish_node("start")
    run.finish_node("loop_node")
    assert run.ending is None
    assert run.head.iteration_count == 5
    assert run.data == {"applied": True}


def test_a_cleared_count_is_zero() -> None:
    run = Run(LOOP, {"loop_node": counting(None)}, max_iterations=5)
    run.finish_node("start")
    run.finish_node("loop_node")
    assert run.head.iteration_count == 0


def test_a_loop_runs_as_many_rounds_as_the_maximum_allows() -> None:
    run = Run(LOOP, max_iterations=2).go()
    assert run.ending is not None
    assert run.ending.report == {
        "max_iterations": 2,
        "current_iterations": 3,
        "node_id": "loop_node",
    }
    assert run.head.iteration_count == 2
    assert run.trace[-1] == "tail:1"


def test_a_for_each_counts_each_round_it_begins() -> None:
    run = Run(
        EXPENSE_REVIEW,
        {"check": check_expense},
        inputs={"items": {"value": [1, 2, 3]}},
        max_iterations=2,
    ).go()
    assert run.ending is not None
    assert run.ending.report == {"max_iterations": 2, "current_iterations": 3, "node_id": "each"}
    assert list(run.results)[-1] == "check:1"


def test_a_closing_execution_counts_nothing() -> None:
    run = Run(
        EXPENSE_REVIEW,
        {"check": check_expense},
        inputs={"items": {"value": [1, 2]}},
        max_iterations=2,
    ).go()
    assert run.ending is None
    assert run.results["each:2"]["collected_results"] == [1, 2]


def test_nodes_outside_loops_count_nothing() -> None:
    run = Run(graph("a.out -> b.in", "b.out -> c.in"), max_iterations=0).go()
    assert run.trace == ["a", "b", "c"]
    assert run.head.iteration_count == 0
