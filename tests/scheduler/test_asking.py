"""Gates and nodes that ask: waiting, answers, and what an answer makes of them."""

import pytest

from seeding.errors import UnknownExecution
from seeding.model import JsonObject
from workflows.position import next_occurrence
from workflows.scheduler import Asked, NodeFailureReport, Step, answer, due, progress, waiting

from .graphs import graph
from .runs import Run

GATED = graph(
    "a.out -> gate.item",
    "gate.approve -> yes.in",
    "gate.deny -> no.in",
    "gate.answer -> told.in",
    types={"gate": "gate"},
    config={"gate": {"message": "Pay {item} to {nobody}? {__class__}"}},
)


def test_a_gate_asks_with_its_message_filled_in_and_its_inputs_shown() -> None:
    run = Run(GATED, {"a": lambda inputs, occurrence: {"out": {"sum": 5}}}).go()
    assert run.steps[-1].asked == Asked(
        node_id="gate",
        occurrence=0,
        kind="approval",
        message='Pay {"sum":5} to {nobody}? {__class__}',
        input={"item": {"sum": 5}},
        allowed=["approve", "deny"],
    )
    assert due(run.position) == ()
    assert not run.finished
    assert run.head.current_node_id == "gate"
    assert progress(run.plan, run.position)["gate"] == {"status": "interrupted", "executions": 1}
    assert run.restored() == run.position


@pytest.mark.parametrize(("decision", "next_node"), [("approve", "yes"), ("deny", "no")])
def test_the_decision_is_the_active_branch(decision: str, next_node: str) -> None:
    run = Run(GATED).go().decide("gate", decision, actor="ann").go()
    assert run.results["gate"] == {
        "answer": decision,
        "decision": decision,
        "actor": "ann",
        "expired": False,
    }
    assert sorted(run.trace[2:]) == sorted([next_node, "told"])
    assert run.results[next_node]["in"] == 0, "a branch carries the gate's input"
    assert run.results["told"]["in"] == decision


@pytest.mark.parametrize(
    ("given", "expected"),
    [({"value": {"why": 1}}, {"why": 1}), ({"value": None}, None), ({}, "approve")],
)
def test_the_answer_is_the_given_value_else_the_decision(
    given: JsonObject, expected: object
) -> None:
    assert Run(GATED).go().decide("gate", **given).results["gate"]["answer"] == expected


def test_two_gates_wait_beside_each_other() -> None:
    built = graph("a.out -> x.in", "a.out -> y.in", types={"x": "gate", "y": "gate"})
    run = Run(built).go()
    assert [found.node_id for found in waiting(run.position)] == ["x", "y"]
    run.decide("y").go()
    assert [found.node_id for found in waiting(run.position)] == ["x"]


def asking(inputs: JsonObject, occurrence: int) -> Asked:
    return Asked(node_id="a", occurrence=occurrence, kind="text", message="What?")


def failing(inputs: JsonObject, occurrence: int) -> NodeFailureReport:
    return NodeFailureReport(message="boom")


def test_a_node_that_asked_is_due_again_with_one_more_ask() -> None:
    run = Run(graph("a.out -> b.in"), {"a": asking}).go()
    assert [found.ask for found in waiting(run.position)] == [0]
    passes = run.head.counters["passes"]
    run.decide("a", "ignored", value="one")
    run.go()
    run.decide("a", "ignored", value="two")
    (again,) = due(run.position)
    assert (again.occurrence, again.order, again.ask) == (0, 1, 2)
    assert run.head.counters["passes"] == passes + 2
    assert run.restored() == run.position


def test_under_a_verdict_an_answered_node_is_not_dispatched_again() -> None:
    run = Run(
        graph(alone=["a", "b"]), {"a": asking, "b": lambda i, n: NodeFailureReport(message="x")}
    )
    run.go()
    answered = answer(run.plan, run.position, "a", 0, {"value": 1})
    assert isinstance(answered, Step)
    run.accept(answered)
    assert due(run.position) == ()
    assert run.finished


def test_under_a_verdict_no_ticket_is_opened() -> None:
    run = Run(graph(alone=["a", "b"]), {"a": asking, "b": failing})
    run.finish_node("b")
    run.finish_node("a")
    assert run.steps[-1].node_id == "a"
    assert run.steps[-1].asked is None
    assert run.finished


@pytest.mark.parametrize(("node", "occurrence"), [("gate", 1), ("yes", 0), ("nobody", 0)])
def test_an_answer_for_an_execution_that_is_not_there_is_refused(
    node: str, occurrence: int
) -> None:
    run = Run(GATED).go()
    with pytest.raises(UnknownExecution, match=f"execution {occurrence} of node '{node}'"):
        answer(run.plan, run.position, node, occurrence, {"decision": "approve"})


def next_occurrences(run: Run) -> dict[str, int]:
    return {node_id: next_occurrence(run.position, node_id) for node_id in sorted(run.plan.nodes)}


def test_every_node_tells_the_lowest_occurrence_that_may_still_ask() -> None:
    run = Run(GATED).go()
    assert next_occurrences(run) == {"a": 1, "gate": 0, "no": 0, "told": 0, "yes": 0}
    run.decide("gate")
    assert next_occurrences(run) == {"a": 1, "gate": 1, "no": 0, "told": 0, "yes": 0}


def test_a_step_that_dispatches_an_effect_counts_as_a_pass() -> None:
    run = Run(GATED)
    assert run.head.counters == {"order": 1, "passes": 1}
    run.go()
    assert run.head.counters == {"order": 2, "passes": 1}
    run.decide("gate")
    assert run.head.counters == {"order": 4, "passes": 2}
