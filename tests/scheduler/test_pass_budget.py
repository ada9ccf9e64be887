"""ORC-10: which calls lie within a budget of passes, and the one commit at which it pauses."""

import pytest

from seeding.model import JsonObject
from workflows import pass_budget
from workflows.completions import Batch, settle
from workflows.effects import Finished
from workflows.wire import NodeCallResult

from .budgeted import Budgeted
from .graphs import graph

CHAIN = graph("a.out -> b.in", "b.out -> c.in", "c.out -> d.in", "d.out -> e.in")
PAIRS = graph("a.out -> c.in", "b.out -> d.in")


def counters(run: Budgeted) -> JsonObject:
    return dict(run.held.head.counters)


def test_a_chain_of_five_calls_two_pauses_calls_two_pauses_and_calls_the_last() -> None:
    run = Budgeted(CHAIN, 2).finish("a").finish("b")
    assert (run.called, run.due, run.is_paused) == (["a", "b"], ["c"], True)
    run.lift().finish("c").finish("d")
    assert (run.called, run.due, run.is_paused) == (["a", "b", "c", "d"], ["e"], True)
    run.lift().finish("e")
    assert (run.called, run.due, run.is_paused) == (["a", "b", "c", "d", "e"], [], False)
    assert run.held.next_ordinal == 1 + 5 + 2 + 2


@pytest.mark.parametrize("passes", [5, 6, None])
def test_as_many_passes_as_the_run_needs_or_more_pause_it_never(passes: int | None) -> None:
    run = Budgeted(CHAIN, passes)
    for node in "abcde":
        assert run.in_flight == [node]
        run.finish(node)
    assert (run.is_paused, run.held.next_ordinal) == (False, 6)


def test_one_pass_less_than_the_run_needs_pauses_before_the_last() -> None:
    run = Budgeted(CHAIN, 4).finish("a").finish("b").finish("c").finish("d")
    assert (run.due, run.is_paused) == (["e"], True)


@pytest.mark.parametrize("batches", [[["a"], ["b"]], [["a", "b"]]], ids=["apart", "together"])
def test_what_lies_within_the_budget_is_called_whatever_is_committed_together(
    batches: list[list[str]],
) -> None:
    """The end of ``a`` makes the second pass and that of ``b`` the third, of a budget of two."""
    run = Budgeted(PAIRS, 2)
    for batch in batches:
        run.finish(*batch)
    assert (run.called, run.in_flight, run.is_paused) == (["a", "b", "c"], ["c"], False)
    assert run.due == ["c", "d"]
    run.finish("c")
    assert (run.due, run.is_paused) == (["d"], True)
    assert run.lift().finish("d").called == ["a", "b", "c", "d"]


def test_what_was_called_within_the_budget_is_called_again_by_whoever_takes_the_run_over() -> None:
    run = Budgeted(PAIRS, 1).finish("b")
    assert (run.in_flight, run.due) == (["a"], ["a", "d"])
    run.taken_over()
    assert (run.called, run.in_flight, run.is_paused) == (["a", "b", "a"], ["a"], False)
    run.finish("a")
    assert (run.due, run.is_paused) == (["d", "c"], True)


def test_what_is_due_when_the_pause_is_lifted_is_one_pass() -> None:
    more = graph("a.out -> c.in", "b.out -> d.in", "c.out -> e.in", "d.out -> f.in")
    run = Budgeted(more, 2).finish("a", "b").finish("c")
    assert (run.called, run.due) == (["a", "b", "c"], ["d", "e"])
    run.lift()
    assert run.in_flight == ["d", "e"]
    run.finish("d")
    assert run.in_flight == ["e", "f"], "and f is the second"
    run.finish("e", "f")
    assert (run.due, run.is_paused) == ([], False)


def test_a_call_after_an_answer_is_a_pass_and_waits_where_the_budget_is_spent() -> None:
    run = Budgeted(graph(alone=["a"]), 1).ask("a")
    assert not run.is_paused
    run.answer("a")
    assert (run.called, run.due, run.is_paused) == (["a"], ["a"], True)
    run.lift()
    assert run.in_flight == ["a"]


def test_a_call_after_an_answer_within_the_budget_is_made_although_a_later_step_overdraws_it() -> (
    None
):
    built = graph("b.out -> c.in", "d.out -> e.in", alone=["a"])
    run = Budgeted(built, 2).ask("a").answer("a")
    assert run.called == ["a", "b", "d", "a"]
    run.finish("b", "d").taken_over()
    assert run.called == ["a", "b", "d", "a", "a"]
    run.finish("a")
    assert (run.due, run.is_paused) == (["c", "e"], True)


def test_an_answer_past_the_budget_waits_beside_a_call_within_it() -> None:
    run = Budgeted(graph(alone=["a", "b"]), 1).ask("a").answer("a")
    assert (run.called, run.in_flight, run.is_paused) == (["a", "b"], ["b"], False)
    run.taken_over()
    assert (run.called, run.in_flight) == (["a", "b", "b"], ["b"])
    run.finish("b")
    assert (run.due, run.is_paused) == (["a"], True)
    run.lift()
    assert run.in_flight == ["a"]
    run.ask("a").answer("a")
    assert (run.due, run.is_paused) == (["a"], True), "each answer is a pass of its own"


def test_control_nodes_are_no_passes() -> None:
    built = graph(
        "items.value -> each.items",
        "each.current_item -> gather.item",
        "gather.merged -> each.loop_back",
        "each.collected_results -> a.in",
        types={"items": "value", "each": "for_each", "gather": "merge"},
        config={"items": {"value": [1, 2, 3]}},
    )
    run = Budgeted(built, 1)
    assert (run.called, run.is_paused) == (["a"], False)
    run.finish("a")
    assert (run.due, run.is_paused, counters(run)["passes"]) == ([], False, 1)


def test_control_nodes_that_a_step_past_the_budget_made_due_go_before_the_pause() -> None:
    """So the question of a gate is committed first, and the pause stands beside it."""
    built = graph("a.out -> b.in", "a.out -> gate.in", types={"gate": "gate"})
    run = Budgeted(built, 1)
    ended = Finished(run.held.position.executions["a"], NodeCallResult(outputs={"out": 1}), None, 0)
    batch = Batch(run.held)
    batch.add(settle(run.plan, run.held, ended))
    assert [found.node_id for found in pass_budget.within(batch.held)] == ["gate"]
    assert not pass_budget.is_reached(batch.held, lambda execution: False)
    run.finish("a")
    assert [ticket.kind for ticket in run.held.tickets] == ["approval", "pause"]


def test_a_pause_by_a_person_renews_nothing() -> None:
    run = Budgeted(CHAIN, 1).pause().finish("a")
    before = counters(run)
    assert run.is_paused
    assert run.held.pause is not None
    assert (run.held.pause.reason, run.held.pause.is_by_budget) == ("lunch", False)
    run.lift()
    assert counters(run) == {**before, "pauses": 2}
    assert (run.called, run.due, run.is_paused) == (["a"], ["b"], True)


def test_a_question_past_the_budget_leaves_no_mark_but_its_answer_does() -> None:
    run = Budgeted(graph("b.out -> c.in", alone=["a"]), 1).finish("b")
    run.ask("a")
    assert "answeredPastPasses:a" not in counters(run)
    run.answer("a")
    assert counters(run)["answeredPastPasses:a"] == 1
    assert run.called == ["a", "b"]
    assert run.lift().called == ["a", "b", "a", "c"]


def test_the_pause_names_its_reason_and_how_many_steps_there_were() -> None:
    for passes, said in ((1, "1 step has"), (2, "2 steps have")):
        run = Budgeted(CHAIN, passes)
        for node in "ab"[:passes]:
            run.finish(node)
        pause = run.held.pause
        assert pause is not None
        assert (pause.ticket, pause.reason) == ("R::0:0", "max_passes")
        assert pause.message == f"{said} called nodes (config.maxPasses)"


def test_the_counters_of_the_budget_are_part_of_each_commit_and_gone_with_what_they_counted() -> (
    None
):
    run = Budgeted(graph(alone=["a"]), 1)
    assert counters(run) == {
        "order": 1,
        "passes": 1,
        "passesRenewedAt": 0,
        "orderWithinPasses": 1,
    }
    run.ask("a").answer("a")
    assert counters(run) == {
        "order": 1,
        "passes": 2,
        "pauses": 1,
        "passesRenewedAt": 0,
        "orderWithinPasses": 1,
        "answeredPastPasses:a": 1,
    }
    run.lift()
    assert counters(run) == {
        "order": 1,
        "passes": 2,
        "pauses": 1,
        "passesRenewedAt": 1,
        "orderWithinPasses": 1,
    }


def test_a_run_without_a_budget_counts_nothing_of_one() -> None:
    run = Budgeted(CHAIN, None).finish("a").finish("b")
    assert counters(run) == {"order": 3, "passes": 3}
