"""A round ends when nothing of its loop is under way: who is slow decides nothing (SG-7, SG-18).

Every order in which the executions of these small graphs can come to their ends is gone through.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from seeding.model import JsonObject
from workflows.graph.model import Graph
from workflows.scheduler import NodeFailureReport, due, waiting

from .graphs import graph
from .runs import Node, Run

Executed = frozenset[tuple[str, int]]


def every_order(begin: Callable[[], Run]) -> Iterator[Run]:
    """Yield a run for each order in which its executions can end."""
    choices: list[int] = []
    while True:
        run, widths = begin(), list[int]()
        while run.ending is None and (found := due(run.position)):
            place = len(widths)
            if place == len(choices):
                choices.append(0)
            widths.append(len(found))
            run.finish(found[choices[place]])
        yield run
        while choices and choices[-1] + 1 == widths[len(choices) - 1]:
            choices.pop()
        if not choices:
            return
        choices[-1] += 1


def executed(
    built: Graph,
    nodes: Mapping[str, Node] | None = None,
    inputs: Mapping[str, JsonObject] | None = None,
) -> Executed:
    """Return how often each node runs, the same in every order."""
    found = {
        frozenset(Counter(key.partition(":")[0] for key in run.trace).items())
        for run in every_order(lambda: Run(built, nodes, inputs=inputs))
    }
    (only,) = found
    return only


TWO_TAILS = graph(
    "head.out -> ways.data",
    "ways.yes -> tail_a.in",
    "ways.no -> tail_b.in",
    "tail_a.out -> head.loop_back",
    "tail_b.out -> head.loop_back",
    types={"ways": "router"},
    config={"head": {"maxRounds": 3}},
)


def test_two_tails_both_run_in_every_round_whichever_is_slower() -> None:
    both: Mapping[str, Node] = {"ways": lambda inputs, n: {"active_branches": ["yes", "no"]}}
    assert executed(TWO_TAILS, both) == {("head", 3), ("ways", 3), ("tail_a", 3), ("tail_b", 3)}


def test_a_loopback_edge_waits_for_the_rest_of_its_round() -> None:
    run = Run(TWO_TAILS, {"ways": lambda inputs, n: {"active_branches": ["yes", "no"]}})
    for node in ("head", "ways", "tail_b"):
        run.finish_node(node)
    assert run.due_ids() == ["tail_a"]
    assert (run.position.rounds, run.head.iteration_count) == ({}, 1)
    run.position = run.restored()
    run.finish_node("tail_a")
    assert run.due_ids() == ["head"]
    assert (run.position.rounds, run.head.iteration_count) == ({"head": 1}, 2)


INNER_BESIDE_AN_ARM = graph(
    "head.out -> each.items",
    "head.out -> short.in",
    "each.current_item -> work.in",
    "work.out -> each.loop_back",
    "each.collected_results -> after.in",
    "after.out -> head.loop_back",
    "short.out -> head.loop_back",
    types={"each": "for_each"},
    config={"head": {"maxRounds": 2}},
)


def test_an_inner_loop_comes_to_its_end_before_the_round_around_it_does() -> None:
    """Two rounds of two items each, beside an arm that leads back at once."""
    lists: Mapping[str, Node] = {"head": lambda inputs, n: {"out": [1, 2]}}
    assert executed(INNER_BESIDE_AN_ARM, lists) == {
        ("head", 2),
        ("short", 2),
        ("each", 6),
        ("work", 4),
        ("after", 2),
    }


def test_of_two_loops_that_one_node_leads_back_to_the_inner_one_goes_round_first() -> None:
    built = graph(
        "outer.out -> inner.in",
        "inner.out -> tail.in",
        "tail.out -> inner.loop_back",
        "tail.out -> outer.loop_back",
        config={"outer": {"maxRounds": 2}, "inner": {"maxRounds": 3}},
    )
    assert Run(built).go().trace == [
        *("outer", "inner", "tail", "inner:1", "tail:1", "inner:2", "tail:2"),
        *("outer:1", "inner:3", "tail:3", "inner:4", "tail:4", "inner:5", "tail:5"),
    ]


OVERLAPPING = graph(
    "a.out -> b.in",
    "b.out -> c.in",
    "c.out -> d.in",
    "c.out -> a.loop_back",
    "d.out -> b.loop_back",
    config={"a": {"maxRounds": 2}, "b": {"maxRounds": 2}},
)


def test_both_heads_of_a_merged_loop_are_entered_in_the_same_next_round() -> None:
    assert executed(OVERLAPPING) == {("a", 2), ("b", 2), ("c", 2), ("d", 2)}
    run = Run(OVERLAPPING)
    for node in ("a", "b", "c", "d"):
        run.finish_node(node)
    assert run.due_ids() == ["a", "b"]
    assert run.position.rounds == {"a": 1}


def test_one_node_that_leads_back_to_two_heads_of_a_loop_enters_both() -> None:
    built = graph(
        "one.out -> join.left",
        "two.out -> join.right",
        "join.out -> one.loop_back",
        "join.out -> two.loop_back",
        config={"one": {"maxRounds": 3}, "two": {"maxRounds": 3}},
    )
    assert executed(built) == {("one", 3), ("two", 3), ("join", 3)}


def test_two_iterations_that_one_node_leads_back_to_go_on_together() -> None:
    built = graph(
        "list.value -> one.items",
        "list.value -> two.items",
        "one.item -> join.left",
        "two.item -> join.right",
        "join.out -> one.loop_back",
        "join.out -> two.loop_back",
        "one.collected_results -> after.left",
        "two.collected_results -> after.right",
        types={"list": "value", "one": "for_each", "two": "for_each"},
        config={"list": {"value": [1, 2]}},
    )
    assert executed(built) == {
        *(("list", 1), ("one", 3), ("two", 3), ("join", 2), ("after", 1)),
    }


def test_a_head_that_has_had_its_rounds_is_left_out_and_the_other_goes_on() -> None:
    built = graph(
        "one.out -> join.left",
        "two.out -> join.right",
        "two.out -> tail.in",
        "join.out -> one.loop_back",
        "tail.out -> two.loop_back",
        "join.out -> two.loop_back",
        config={"one": {"maxRounds": 1}, "two": {"maxRounds": 2}},
    )
    run = Run(built).go()
    assert [key for key in run.trace if key[:3] in ("one", "two")] == ["one", "two", "two:1"]


def test_a_person_in_an_arm_of_the_loop_holds_its_round() -> None:
    """Whoever is asked in a round is heard in it: the loop does not go on without them."""
    built = graph(
        "head.out -> quick.in",
        "head.out -> ask.in",
        "quick.out -> head.loop_back",
        "ask.answer -> note.in",
        "note.out -> head.loop_back",
        types={"ask": "gate"},
        config={"head": {"maxRounds": 2}},
    )
    run = Run(built).go()
    assert sorted(run.trace) == ["ask", "head", "quick"]
    assert [found.node_id for found in waiting(run.position)] == ["ask"]
    run.decide("ask").go()
    assert run.trace[3:] == ["note", "head:1", "ask:1", "quick:1"]
    run.decide("ask").go()
    assert run.trace[7:] == ["note:1"]
    assert run.finished


def test_a_node_outside_the_loop_holds_no_round() -> None:
    """What it brings is used by whichever round is current when it comes."""
    built = graph(
        "head.out -> tail.in",
        "tail.out -> head.loop_back",
        "slow.out -> tail.extra",
        "head.out -> quick.in",
        "quick.out -> head.loop_back",
        config={"head": {"maxRounds": 3}},
    )
    run = Run(built)
    for node in ("head", "quick", "head", "quick"):
        run.finish_node(node)
    assert run.due_ids() == ["slow", "head"]
    run.finish_node("slow")
    run.go()
    assert run.trace[4:] == ["slow", "head:2", "quick:2", "tail"]
    assert run.finished


def test_a_failure_that_is_handled_within_the_loop_holds_its_round() -> None:
    built = graph(
        "head.out -> risky.in",
        "head.out -> quick.in",
        "risky.error -> mend.in",
        "mend.out -> head.loop_back",
        "quick.out -> head.loop_back",
        config={"head": {"maxRounds": 2}},
    )
    fails: Mapping[str, Node] = {"risky": lambda i, n: NodeFailureReport(message="no", code="E")}
    assert executed(built, fails) == {("head", 2), ("risky", 2), ("quick", 2), ("mend", 2)}
