"""SG-20: what the failure names, and which of several nodes fails first."""

import pytest

from seeding.model import JsonObject
from workflows.scheduler import NodeFailureReport, due

from .graphs import graph
from .held_runs import BOTH_THEN_WRITE, IN, TYPES, failed, taking, unfillable, writing
from .runs import Node, Run


def test_the_round_is_that_of_the_innermost_shared_loop() -> None:
    built = graph(
        "outer.out -> inner.in",
        "inner.out -> plan.in",
        "plan.yes -> cite.in",
        "plan.no -> write.in",
        "cite.out -> join.citations",
        "write.out -> join.draft",
        "join.yes -> inner.loop_back",
        "join.no -> end.in",
        "end.yes -> outer.loop_back",
        types={"plan": "router", "join": "router", "end": "router"},
    )
    nodes = {
        "plan": taking(["yes", "no"], ["yes", "no"], ["yes", "no"], ["no"]),
        "join": taking(["no"], ["yes"]),
        "end": taking(["yes"]),
    }
    run = Run(built, nodes, inputs={"outer": {"x": 1}}).go()
    assert run.position.nodes["join"].stamp == {"outer": 1, "inner": 2}
    assert failed(run) == unfillable(loop="inner", round=2, sources=["cite"], gateway="plan")


def test_a_port_behind_in_the_outer_loop_names_the_outer_round() -> None:
    built = graph(
        "outer.out -> plan.in",
        "plan.yes -> cite.in",
        "plan.no -> write.in",
        "cite.out -> inner.citations",
        "write.out -> inner.draft",
        "inner.yes -> inner.loop_back",
        "inner.no -> end.in",
        "end.yes -> outer.loop_back",
        types={"plan": "router", "inner": "router", "end": "router"},
    )
    nodes = {
        "plan": taking(["yes", "no"], ["no"]),
        "inner": taking(["yes"], ["no"]),
        "end": taking(["yes"]),
    }
    run = Run(built, nodes, inputs={"outer": {"x": 1}}).go()
    assert run.position.nodes["inner"].stamp == {"outer": 1, "inner": 0}
    assert failed(run) == unfillable(loop="outer", sources=["cite"], gateway="plan")


def test_all_sources_in_the_loop_are_named_and_none_outside() -> None:
    built = writing(
        "load.nothing -> other.in",
        "planner.yes -> archive.in",
        "archive.out -> assembler.citations",
        "planner.over -> besides.in",
        "besides.out -> assembler.citations",
    )
    run = Run(built, BOTH_THEN_WRITE, inputs=IN).go()
    assert failed(run) == unfillable(sources=["archive", "besides", "fact_check"])
    assert run.cause is not None
    assert "its sources 'archive', 'besides', 'fact_check' did not run" in (run.cause.message or "")


def test_no_gateway_is_named_where_none_chose() -> None:
    """The source itself is what did not come: its other port is a round behind."""
    built = graph(
        "head.out -> split.in",
        "split.out -> early.in",
        "early.error -> handled.in",
        "early.out -> cite.in",
        "cite.out -> join.citations",
        "split.out -> join.draft",
        "join.yes -> head.loop_back",
        types={"join": "router"},
    )

    def early(inputs: JsonObject, n: int) -> JsonObject | NodeFailureReport:
        return NodeFailureReport(message="late", code="E") if n else {"out": 1}

    run = Run(built, {"early": early, "join": taking(["yes"])}).go()
    assert failed(run) == unfillable(sources=["cite"], gateway=None)


def test_the_nearest_gateway_is_named_and_of_two_the_first_by_id() -> None:
    built = graph(
        "head.out -> far.in",
        "far.yes -> near_b.in",
        "far.no -> near_a.in",
        "near_a.yes -> cite.left",
        "near_b.yes -> cite.right",
        "far.yes -> join.draft",
        "cite.out -> join.citations",
        "join.out -> head.loop_back",
        types={"far": "router", "near_a": "router", "near_b": "router"},
        config={"head": {"maxRounds": 2}},
    )
    nodes = {
        "far": taking(["yes", "no"]),
        "near_a": taking(["yes"], ["no"]),
        "near_b": taking(["yes"], ["no"]),
    }
    run = Run(built, nodes, inputs={"head": {"x": 1}}).go()
    assert failed(run) == unfillable(sources=["cite"], gateway="near_a")


TWO_HELD = (
    "head.out -> planner.in",
    "planner.yes -> cite.in",
    "planner.no -> write.in",
    "cite.out -> a_join.citations",
    "write.out -> a_join.draft",
    "cite.out -> b_join.citations",
    "write.out -> b_join.draft",
    "a_join.out -> head.loop_back",
    "b_join.out -> head.loop_back",
    "a_join.error -> told.in",
    "b_join.error -> told_too.in",
)
TAKES: dict[str, Node] = {"planner": taking(["yes", "no"], ["no"])}


@pytest.mark.parametrize(
    ("priority", "order"),
    [
        ({}, ["a_join:1", "told", "b_join:1", "told_too"]),
        ({"a_join": 1}, ["b_join:1", "told_too", "a_join:1", "told"]),
    ],
)
def test_several_fail_one_after_the_other_by_priority_and_id(
    priority: dict[str, int], order: list[str]
) -> None:
    built = graph(*TWO_HELD, types=TYPES, priority=priority, config={"head": {"maxRounds": 2}})
    run = Run(built, TAKES, inputs=IN).go()
    assert run.cause is None
    assert run.trace[run.trace.index("write:1") + 1 :] in (order, [*order[::2], *order[1::2]])
    assert [key for key in run.trace[-4:] if "join" in key] == [order[0], order[2]]


def test_one_fails_at_a_time_whatever_else_completes_meanwhile() -> None:
    built = graph(
        *TWO_HELD, "head.out -> beside.in", types=TYPES, config={"head": {"maxRounds": 2}}
    )
    run = Run(built, TAKES, inputs=IN)
    for key in ("head", "planner", "cite", "write", "a_join", "b_join"):
        run.finish_node(key)
    for key in ("head", "planner", "write"):
        run.finish_node(key)
    assert run.due_ids() == ["beside", "a_join"]
    run.finish_node("beside")
    assert run.due_ids() == ["a_join"]
    run.finish_node("a_join")
    assert run.due_ids() == ["told", "b_join"]


CHAIN = (
    "head.out -> planner.in",
    "planner.yes -> cite.in",
    "planner.no -> write.in",
    "cite.out -> z_first.citations",
    "write.out -> z_first.draft",
    "z_first.out -> a_second.checked",
    "write.out -> a_second.draft",
    "a_second.out -> head.loop_back",
)


def test_what_another_one_waits_for_fails_first() -> None:
    """By id ``a_second`` comes first, but it waits for ``z_first``."""
    built = graph(*CHAIN, types=TYPES, config={"head": {"maxRounds": 2}})
    run = Run(built, TAKES, inputs=IN).go()
    assert run.trace[-1] == "z_first:1"
    assert failed(run) == unfillable(sources=["cite"])


def test_the_failure_of_one_may_fill_the_port_of_the_next() -> None:
    built = graph(
        *CHAIN,
        "z_first.error -> mend.in",
        "mend.out -> a_second.checked",
        types=TYPES,
        config={"head": {"maxRounds": 2}},
    )
    run = Run(built, TAKES, inputs=IN).go()
    assert run.trace[-3:] == ["z_first:1", "mend", "a_second:1"]
    assert run.cause is None
    assert run.finished


def test_a_routed_failure_may_begin_the_next_round() -> None:
    built = writing("assembler.error -> again.in", "again.out -> head.loop_back")
    nodes = {**BOTH_THEN_WRITE, "planner": taking(["yes", "no"], ["no"], ["yes", "no"])}
    nodes["review"] = taking(["yes"], ["no"])
    run = Run(built, nodes, inputs=IN).go()
    assert run.trace[-3:] == ["assembler:2", "review:1", "done"]
    assert run.position.nodes["assembler"].stamp == {"head": 2}
    assert run.cause is None


def test_of_two_loops_the_one_that_leads_to_the_other_comes_first() -> None:
    """By id ``a_join`` comes first, but what follows from the failure of ``z_join`` leads to it."""
    built = graph(
        *_join("z", more=("z_join.error -> a_head.in",)),
        *_join("a"),
        "start.out -> a_head.in",
        types={"a_plan": "router", "z_plan": "router", "a_tail": "router", "z_tail": "router"},
    )
    nodes = {name: taking(["yes", "no"], ["no"]) for name in ("a_plan", "z_plan")}
    nodes |= {name: taking(["yes"]) for name in ("a_tail", "z_tail")}
    run = Run(built, nodes, inputs={"a_head": {"x": 1}, "z_head": {"x": 1}})
    while "a_write:1" not in run.trace:
        ready = [(found.node_id, found.occurrence) for found in due(run.position)]
        run.finish_node(next(node for node, n in ready if (node, n) != ("z_write", 1)))
    assert run.due_ids() == ["z_write"], "the second loop is held back by the first one"
    run.finish_node("z_write")
    assert run.due_ids() == ["z_join"]
    run.finish_node("z_join")
    assert run.due_ids() == ["a_join"]


def _join(name: str, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return a loop whose planner may leave a join without its citations."""
    edges = (
        "head.out -> plan.in",
        "plan.yes -> cite.in",
        "plan.no -> write.in",
        "cite.out -> join.citations",
        "write.out -> join.draft",
        "join.out -> tail.in",
        "tail.yes -> head.loop_back",
    )
    named = tuple(" -> ".join(f"{name}_{end}" for end in edge.split(" -> ")) for edge in edges)
    return (*named, *more)
