"""Advice about loops: which have no end, which go round once, and what is no part of them."""

import pytest

from tests.graph.test_linting import advice, codes
from tests.scheduler.graphs import graph


def test_a_loop_that_is_always_followed_is_endless() -> None:
    built = graph("a.out -> b.in", "b.out -> a.loop_back")
    assert [(found.code, found.node, found.edge) for found in advice(built)] == [
        ("endless_loop", "a", "b.out -> a.loop_back")
    ]


def test_a_loop_with_a_way_out_and_no_budget() -> None:
    built = graph("a.out -> b.in", "b.yes -> a.loop_back", types={"b": "router"})
    assert codes(built) == [("loop_without_budget", "a")]


def test_a_loop_with_a_budget_or_with_items_is_sound() -> None:
    built = graph("a.out -> b.in", "b.out -> a.loop_back", config={"a": {"maxRounds": 3}})
    assert advice(built) == []


def test_a_branch_before_the_tail_is_a_way_out() -> None:
    built = graph("a.out -> b.in", "b.yes -> c.in", "c.out -> a.loop_back", types={"b": "router"})
    assert codes(built) == [("loop_without_budget", "a")]


def test_a_loopback_that_closes_no_cycle() -> None:
    built = graph("a.out -> b.in", "c.out -> a.loop_back", config={"a": {"maxRounds": 2}})
    assert codes(built) == [("loop_shape", None)]


def test_a_port_that_a_conditional_arm_fills_may_stay_behind() -> None:  # SG-20
    built = graph(
        "planner.yes -> fact_check.in",
        "planner.no -> write.in",
        "fact_check.out -> assembler.citations",
        "write.out -> assembler.draft",
        "assembler.out -> planner.loop_back",
        types={"planner": "router"},
        config={"planner": {"maxRounds": 3}},
    )
    assert [found.message for found in advice(built)] == [
        "port 'citations' of node 'assembler' is filled only in rounds that take 'yes' of "
        "'planner'; in a later round that does not, the node fails with unfillable_port (SG-20); "
        "feed the port on every way, or wire an error edge",
        "port 'draft' of node 'assembler' is filled only in rounds that take 'no' of 'planner'; "
        "in a later round that does not, the node fails with unfillable_port (SG-20); feed the "
        "port on every way, or wire an error edge",
    ]


def test_ports_that_every_round_fills_do_not() -> None:
    built = graph(
        "head.out -> a.in",
        "head.out -> b.in",
        "a.out -> join.a",
        "b.out -> join.b",
        "join.merged -> head.loop_back",
        types={"join": "merge"},
        config={"head": {"maxRounds": 3}},
    )
    assert advice(built) == []


@pytest.mark.parametrize("key", ["count", "loopCount", "retry_count", "attempts", "i", "Round"])
def test_a_count_kept_in_the_threads_data_by_a_loop(key: str) -> None:
    built = graph(
        "head.out -> keep.value",
        "keep.value -> head.loop_back",
        types={"keep": "set"},
        config={
            "head": {"maxRounds": 3},
            "keep": {"state_update": {"data": {key: "{value}"}}},
        },
    )
    assert codes(built) == [("counter_in_thread_data", "keep")]


@pytest.mark.parametrize("key", ["country", "discount", "account", "tryst", "order"])
def test_what_a_loop_keeps_is_not_called_a_count_by_a_likeness(key: str) -> None:
    built = graph(
        "head.out -> keep.value",
        "keep.value -> head.loop_back",
        types={"keep": "set"},
        config={"head": {"maxRounds": 3}, "keep": {"state_update": {"data": {key: "{value}"}}}},
    )
    assert advice(built) == []


def test_a_count_outside_of_loops_is_the_threads_own() -> None:
    built = graph(
        "a.out -> keep.value",
        types={"keep": "set"},
        config={"keep": {"state_update": {"data": {"count": "{value}"}}}},
    )
    assert advice(built) == []


def test_a_port_that_a_branch_fills_directly_is_skipped_with_its_node_and_stays_nowhere() -> None:
    built = graph(
        "planner.yes -> assembler.citations",
        "planner.text -> assembler.draft",
        "assembler.out -> planner.loop_back",
        types={"planner": "router"},
        config={"planner": {"maxRounds": 3}},
    )
    assert advice(built) == []


def test_a_node_whose_failure_has_somewhere_to_go_may_stay_behind() -> None:
    built = graph(
        "planner.yes -> fact_check.in",
        "planner.text -> assembler.draft",
        "fact_check.out -> assembler.citations",
        "assembler.error -> told.error",
        "assembler.out -> planner.loop_back",
        types={"planner": "router"},
        config={"planner": {"maxRounds": 3}},
    )
    assert advice(built) == []


def test_a_port_that_an_iterator_does_not_have() -> None:
    built = graph(
        "in.value -> each.items",
        "each.item -> work.in",
        "work.out -> each.loop_back",
        types={"in": "value", "each": "for_each"},
    )
    assert ("no_such_port", "each") in codes(built)


def test_an_iterator_without_a_way_back_takes_one_item() -> None:
    built = graph(
        "in.value -> each.items",
        "each.current_item -> work.in",
        types={"in": "value", "each": "for_each"},
    )
    assert codes(built) == [("iterates_once", "each")]


def test_what_hangs_beside_a_body_runs_once() -> None:  # SG-16
    built = graph(
        "in.value -> each.items",
        "each.current_item -> work.in",
        "work.out -> each.loop_back",
        "work.out -> aside.in",
        "each.current_item -> note.in",
        "each.completed -> after.in",
        "work.error -> told.error",
        types={"in": "value", "each": "for_each"},
    )
    assert codes(built) == [("beside_the_body", "note"), ("beside_the_body", "aside")]


def test_a_branch_that_leaves_a_body_is_a_way_out_of_it() -> None:
    built = graph(
        "in.value -> each.items",
        "each.current_item -> work.in",
        "work.yes -> each.loop_back",
        "work.no -> stop.in",
        types={"in": "value", "each": "for_each", "work": "router"},
    )
    assert advice(built) == []


@pytest.mark.parametrize("node", ["each", "work", "after"])
def test_a_limit_of_rounds_that_limits_nothing(node: str) -> None:
    built = graph(
        "in.value -> each.items",
        "each.current_item -> work.in",
        "work.out -> each.loop_back",
        "each.completed -> after.in",
        types={"in": "value", "each": "for_each"},
        config={node: {"maxRounds": 3}},
    )
    assert codes(built) == [("unused_max_rounds", node)]
