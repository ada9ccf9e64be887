"""SG-20, SG-19: who waits in vain and is an ordinary skip all the same."""

import pytest

from workflows.graph.model import Graph
from workflows.scheduler import report

from .graphs import graph
from .held_runs import BOTH_THEN_WRITE, IN, TYPES, WRITING, taking, writing
from .runs import Run


def test_a_source_that_never_delivered_is_an_ordinary_skip() -> None:
    nodes = {**BOTH_THEN_WRITE, "planner": taking(["no"])}
    run = Run(writing(), nodes, inputs=IN).go()
    assert run.trace == ["head", "load", "planner", "write"]
    assert run.cause is None
    assert report(run.plan, run.position)["skipped_node_ids"] == [
        "assembler",
        "done",
        "fact_check",
        "review",
    ]


def test_a_source_that_chose_another_branch_in_this_round_is_an_ordinary_skip() -> None:
    nodes = {
        **BOTH_THEN_WRITE,
        "planner": taking(["yes", "no"]),
        "fact_check": taking(["yes"], ["no"]),
    }
    built = graph(
        *(edge.replace("fact_check.out", "fact_check.yes") for edge in WRITING),
        types={**TYPES, "fact_check": "router"},
    )
    run = Run(built, nodes, inputs=IN).go()
    assert run.trace[-2:] == ["fact_check:1", "write:1"]
    assert run.cause is None
    assert run.finished


def test_a_round_that_filled_no_port_leaves_an_ordinary_skip() -> None:
    nodes = {**BOTH_THEN_WRITE, "planner": taking(["yes", "no"], ["over"])}
    run = Run(writing(), nodes, inputs=IN).go()
    assert run.trace[-1] == "planner:1"
    assert run.cause is None


def test_a_third_port_that_never_got_anything_leaves_an_ordinary_skip() -> None:
    more = ("planner.over -> pictures.in", "pictures.out -> assembler.pictures")
    run = Run(writing(*more), BOTH_THEN_WRITE, inputs=IN).go()
    assert "assembler" not in run.position.nodes
    assert run.cause is None


def test_a_trigger_that_is_a_round_behind_only_waits() -> None:  # SG-19
    built = graph(
        *(edge.replace("assembler.citations", "assembler.trigger") for edge in WRITING),
        types=TYPES,
    )
    run = Run(built, BOTH_THEN_WRITE, inputs=IN).go()
    assert run.trace[-1] == "write:1"
    assert run.cause is None
    assert run.finished


def test_a_node_outside_the_loop_is_never_held_back() -> None:  # SG-19
    built = graph(
        "head.out -> planner.in",
        "planner.yes -> fact_check.in",
        "planner.no -> write.in",
        "fact_check.out -> assembler.citations",
        "write.out -> assembler.draft",
        "fact_check.out -> head.loop_back",
        types=TYPES,
    )
    run = Run(built, {"planner": taking(["yes"], ["no"])}, inputs=IN).go()
    assert run.trace[-2:] == ["write", "assembler"]


def arm_in_an_inner_loop(inner: str) -> Graph:
    """Return loops in loops, where an arm of the inner one also takes what the outer one gave."""
    item, closing = ("current_item", "inner.completed") if inner == "for_each" else ("out", "")
    return graph(
        "outer.out -> inner.after",
        "outer.out -> pay.customer",
        f"inner.{item} -> check.in",
        "check.yes -> pay.approval",
        "check.no -> tail.in",
        "pay.out -> tail.in",
        "tail.yes -> inner.loop_back",
        f"{closing or 'tail.no'} -> end.in",
        "end.yes -> outer.loop_back",
        types={"inner": inner, "check": "router", "tail": "router", "end": "router"},
        config={"inner": {"items": ["a", "b"]}, "outer": {"maxRounds": 2}},
    )


@pytest.mark.parametrize("inner", ["for_each", "task"])
def test_what_an_outer_loop_delivered_makes_no_arm_of_an_inner_one_a_failure(inner: str) -> None:
    """The arm is taken in each first round of the inner loop, and in no second one."""
    tails = [["yes"]] if inner == "for_each" else [["yes"], ["no"], ["yes"], ["no"]]
    nodes = {
        "check": taking(["yes"], ["no"], ["yes"], ["no"]),
        "tail": taking(*tails),
        "end": taking(["yes"]),
    }
    run = Run(arm_in_an_inner_loop(inner), nodes).go()
    assert run.position.nodes["pay"].stamp == {"outer": 1, "inner": 0}
    assert run.position.nodes["pay"].executions == 2
    assert run.position.nodes["tail"].stamp == {"outer": 1, "inner": 1}
    assert run.cause is None
    assert run.finished
