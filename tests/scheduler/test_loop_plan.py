"""SG-16 to SG-19: bodies, nesting and merging of loops, and who is a round behind."""

import pytest

from workflows.loops import is_behind, plan_loops

from .graphs import graph


def bodies(*edges: str, types: dict[str, str] | None = None) -> dict[str, tuple[str, ...]]:
    return {loop.key: loop.body for loop in plan_loops(graph(*edges, types=types)).loops}


def test_a_tail_that_is_not_below_its_head_leaves_the_head_alone() -> None:  # FD-16
    plan = plan_loops(graph("a.out -> b.in", "elsewhere.out -> head.loop_back"))
    assert [(loop.key, loop.body) for loop in plan.loops] == [("head", ("head",))]
    assert plan.diagnostics == (
        "loopback elsewhere.out -> head.loop_back closes no cycle: 'elsewhere' is not below 'head'",
    )


FD_17 = (
    "seed.out -> head.in",
    "head.out -> x.in",
    "x.out -> tail.in",
    "head.other -> dead.in",
    "tail.other -> after.in",
    "load.out -> x.more",
    "tail.out -> head.loop_back",
)


def test_nodes_beside_a_loop_are_no_part_of_its_body() -> None:  # FD-17
    assert bodies(*FD_17) == {"head": ("head", "tail", "x")}


def test_what_can_reach_a_body_node_is_not_limited_to_the_body() -> None:  # FD-17
    assert plan_loops(graph(*FD_17)).reaching("x") == ("head", "load", "seed", "x")


def test_what_can_reach_a_node_is_in_order_and_stops_at_loopback_edges() -> None:  # SG-17
    plan = plan_loops(
        graph(
            "load_corpus.out -> fact_check.texts",
            "head.out -> fact_check.in",
            "fact_check.out -> tail.in",
            "tail.out -> head.loop_back",
            "fact_check.tools -> search.in !tool",
        )
    )
    assert plan.reaching("fact_check") == ("fact_check", "head", "load_corpus")
    assert plan.reaching("head") == ("head",)
    assert plan.reaching("search") == ("search",)


def test_two_tails_of_one_head_are_one_loop() -> None:  # FD-18
    assert bodies(
        "head.out -> gateway.in",
        "gateway.yes -> tail_a.in",
        "gateway.no -> tail_b.in",
        "tail_a.out -> head.loop_back",
        "tail_b.out -> head.loop_back",
    ) == {"head": ("gateway", "head", "tail_a", "tail_b")}


NESTED = (
    "outer.out -> inner.in",
    "inner.out -> step.in",
    "step.out -> end.in",
    "step.again -> inner.loop_back",
    "end.out -> outer.loop_back",
)


def test_a_strict_subset_stays_a_loop_of_its_own() -> None:
    assert bodies(*NESTED) == {
        "outer": ("end", "inner", "outer", "step"),
        "inner": ("inner", "step"),
    }


def test_loops_of_a_node_are_named_outermost_first() -> None:
    plan = plan_loops(graph(*NESTED))
    assert plan.of_node["step"] == ("outer", "inner")
    assert plan.inside == {"outer": ("inner",), "inner": ()}


def test_overlapping_bodies_merge_under_the_head_of_the_larger_one() -> None:
    plan = plan_loops(
        graph(
            "a.out -> b.in",
            "b.out -> c.in",
            "c.out -> d.in",
            "d.out -> e.in",
            "c.again -> b.loop_back",
            "e.again -> c.loop_back",
        )
    )
    assert [(loop.key, loop.heads, loop.body) for loop in plan.loops] == [
        ("c", ("b", "c"), ("b", "c", "d", "e"))
    ]
    assert plan.diagnostics == ("loops of b, c overlap and count as one, 'c'",)


def test_identical_bodies_merge_under_the_first_head() -> None:
    assert bodies("x.out -> loop_back_b.in", "a.out -> b.in", "b.again -> a.loop_back") == {
        "a": ("a", "b")
    }
    same = bodies(
        "s.out -> p.in",
        "s.out -> q.in",
        "p.out -> t.in",
        "q.out -> t.in",
        "t.out -> q.loop_back",
        "t.out -> p.loop_back",
    )
    assert same == {"p": ("p", "q", "t")}, "ties go to the first id"


def test_a_chain_of_overlaps_is_one_loop() -> None:
    merged = bodies(
        "a.out -> b.in",
        "b.out -> c.in",
        "c.out -> d.in",
        "b.again -> a.loop_back",
        "c.again -> b.loop_back",
        "d.again -> c.loop_back",
    )
    assert merged == {"a": ("a", "b", "c", "d")}


def test_a_loop_around_a_for_each_holds_the_whole_for_each() -> None:
    nested = bodies(
        "outer.current_item -> inner.items",
        "inner.current_item -> step.in",
        "step.out -> inner.loop_back",
        "inner.collected_results -> outer.loop_back",
        types={"outer": "for_each", "inner": "for_each"},
    )
    assert nested == {"outer": ("inner", "outer", "step"), "inner": ("inner", "step")}


def test_tool_edges_make_no_way_round() -> None:
    assert bodies("a.out -> b.in !tool", "b.out -> a.loop_back") == {"a": ("a",)}


@pytest.mark.parametrize(
    ("source", "consumer", "behind"),
    [
        ({"loop_a": 0}, {"loop_a": 1}, True),
        ({}, {"loop_a": 3}, False),
        ({"outer": 2, "inner": 0}, {"outer": 1, "inner": 5}, False),
        ({"outer": 1, "inner": 0}, {"outer": 1, "inner": 2}, True),
        ({"outer": 1}, {"outer": 1, "inner": 2}, False),
        ({"outer": 0}, {"outer": 1, "inner": 0}, True),
        ({"loop_a": 0}, {"loop_b": 1}, False),
        ({"loop_a": 1}, {"loop_a": 1}, False),
    ],
)
def test_behind_compares_shared_loops_outermost_first(  # FD-20
    source: dict[str, int], consumer: dict[str, int], behind: bool
) -> None:
    assert is_behind(source, consumer, ("outer", "inner", "loop_a", "loop_b")) is behind
