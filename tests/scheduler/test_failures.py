"""ERR-1 to ERR-11: routed failures, verdicts, retries."""

from typing import Any

import pytest

from seeding.model import JsonObject
from workflows.scheduler import Completion, NodeFailureReport, complete, due, may_retry, report

from .graphs import graph
from .runs import Node, Run


def failing(**given: Any) -> Node:
    failure = NodeFailureReport(message="boom", code="E1", **given)
    return lambda inputs, occurrence: failure


GUARDED = graph("risky.out -> after.in", "risky.error -> handler.in", "risky.trigger -> t.trigger")


def test_a_node_level_failure_follows_its_error_edges_and_nothing_else() -> None:  # FD-37
    seen: list[JsonObject] = []

    def handler(inputs: JsonObject, occurrence: int) -> JsonObject:
        seen.append(inputs)
        return {}

    run = Run(GUARDED, {"risky": failing(retryable=True, details={"a": 1}), "handler": handler})
    run.go()
    error = {
        "message": "boom",
        "code": "E1",
        "node_id": "risky",
        "retryable": True,
        "details": {"a": 1},
    }
    assert run.trace == ["risky", "handler"]
    assert seen == [{"in": error}]
    assert run.results["risky"] == {"error": error}
    assert run.cause is None


def test_details_are_there_only_if_given() -> None:
    run = Run(GUARDED, {"risky": failing(retryable=1)}).go()
    assert run.results["risky"] == {
        "error": {"message": "boom", "code": "E1", "node_id": "risky", "retryable": False}
    }


def test_a_success_does_not_follow_the_error_edge() -> None:
    assert Run(GUARDED).go().trace == ["risky", "after", "t"]


def test_an_unrouted_failure_leaves_a_verdict() -> None:
    run = Run(graph("a.out -> b.in"), {"a": failing(details=[1])}).go()
    assert run.trace == ["a"]
    assert run.finished
    assert run.cause is not None
    assert (run.cause.kind, run.cause.message) == ("Error", "boom")
    assert run.cause.details == {"code": "E1", "node_id": "a", "occurrence": 0, "details": [1]}
    assert report(run.plan, run.position) == {"nodes_skipped": 1, "skipped_node_ids": ["b"]}
    assert run.restored() == run.position


def test_any_other_failure_never_follows_an_error_edge() -> None:  # FD-37, ERR-3
    run = Run(GUARDED, {"risky": failing(routable=False, cause="ZeroDivisionError: x")}).go()
    assert run.trace == ["risky"]
    assert run.cause is not None
    assert run.cause.details["cause"] == "ZeroDivisionError: x"


def test_one_unrouted_failure_among_routed_ones_fails_the_run() -> None:  # FD-37
    built = graph("a.error -> handler.in", "b.error -> handler.in", alone=["c"])
    run = Run(built, {"a": failing(), "b": failing(), "c": failing()}).go()
    assert run.cause is not None
    assert run.cause.details["node_id"] == "c"


def test_after_a_verdict_what_is_in_flight_completes_and_nothing_else_starts() -> None:
    built = graph("slow.out -> later.in", "bad.out -> x.in", "show.value -> y.in")
    run = Run(
        built.model_copy(
            update={
                "nodes": tuple(
                    node.model_copy(update={"type": "value"}) if node.id == "show" else node
                    for node in built.nodes
                )
            }
        ),
        {"bad": failing()},
    )
    assert run.due_ids() == ["bad", "show", "slow"]
    run.finish_node("bad")
    assert run.due_ids() == ["slow"], "an effect in flight is waited for, a control node is not run"
    assert not run.finished
    run.finish_node("slow")
    assert run.due_ids() == []
    assert run.finished
    assert run.results["slow"] == {"out": 0}


def test_the_first_verdict_stands() -> None:
    run = Run(graph(alone=["a", "b"]), {"a": failing(), "b": failing()})
    run.go()
    assert run.cause is not None
    assert run.cause.details["node_id"] == "a"


def test_an_open_question_does_not_hold_a_failed_run() -> None:  # FD-28
    built = graph("bad.out -> x.in", "gate.answer -> y.in", types={"gate": "gate"})
    run = Run(built, {"bad": failing()})
    run.finish_node("gate")
    run.finish_node("bad")
    assert run.finished


def test_a_failed_head_may_be_entered_again_by_its_handler() -> None:
    built = graph(
        "head.error -> handler.in",
        "handler.out -> head.loop_back",
        config={"head": {"maxRounds": 3}},
    )

    def twice(inputs: JsonObject, occurrence: int) -> JsonObject | NodeFailureReport:
        return {} if occurrence == 2 else NodeFailureReport(message="not yet")

    run = Run(built, {"head": twice}).go()
    assert run.trace == ["head", "handler", "head:1", "handler:1", "head:2"]
    assert run.cause is None


def test_an_error_edge_starts_a_node_whose_data_ports_are_empty() -> None:  # ERR-10
    built = graph("a.error -> handler.problem", "b.out -> handler.context")
    run = Run(built, {"a": failing()})
    run.finish_node("a")
    assert run.due_ids() == ["b", "handler"]


def test_an_error_superseded_by_a_success_satisfies_nothing() -> None:  # ERR-10
    """In round 1 another edge has the handler looked at; its last port is never filled."""
    built = graph(
        "head.out -> risky.in",
        "head.out -> calm.in",
        "head.over -> idle.in",
        "risky.error -> handler.in",
        "calm.out -> handler.more",
        "idle.out -> handler.never",
        "handler.out -> head.loop_back",
        types={"head": "router"},
        priority={"calm": 1},
    )

    def risky(inputs: JsonObject, occurrence: int) -> JsonObject | NodeFailureReport:
        return {} if occurrence else NodeFailureReport(message="once")

    nodes: dict[str, Node] = {
        "head": lambda inputs, n: {"active_branches": ["yes"]},
        "risky": risky,
    }
    run = Run(built, nodes).go()
    assert run.trace == ["head", "risky", "calm", "handler", "head:1", "risky:1", "calm:1"]
    assert run.cause is None


RETRIED = graph(
    "items.value -> each.items",
    "each.current_item -> flaky.in",
    "flaky.out -> each.loop_back",
    types={"items": "value", "each": "for_each", "flaky": "patient"},
    config={"items": {"value": [1, 2]}},
)
AGAIN = NodeFailureReport(message="once more", retryable=True)


def test_retries_are_bounded_over_the_whole_run() -> None:  # FD-32
    run = Run(RETRIED)
    run.finish_node("items")
    run.finish_node("each")
    assert may_retry(run.plan, run.position, "flaky", AGAIN)
    assert may_retry(run.plan, run.position, "flaky", AGAIN, spent=1)
    assert not may_retry(run.plan, run.position, "flaky", AGAIN, spent=2)
    done = Completion(node_id="flaky", occurrence=0, outputs={"out": 1}, retries=2)
    run.accept(complete(run.plan, run.position, done, run.limits))
    run.finish_node("each")
    assert [found.node_id for found in due(run.position)] == ["flaky"]
    assert not may_retry(run.plan, run.position, "flaky", AGAIN), "both were used in round 0"
    assert run.restored() == run.position


@pytest.mark.parametrize("retryable", [1, "true", False, None])
def test_only_a_literal_true_retries(retryable: object) -> None:  # FD-32
    run = Run(RETRIED)
    failure = NodeFailureReport(message="no", retryable=retryable)
    assert not may_retry(run.plan, run.position, "flaky", failure)


def test_by_default_nothing_is_retried() -> None:  # FD-32
    run = Run(graph(alone=["a"]))
    assert not may_retry(run.plan, run.position, "a", AGAIN)


def test_a_failure_that_is_not_node_level_is_not_retried() -> None:
    run = Run(RETRIED)
    lost = AGAIN.model_copy(update={"routable": False})
    assert not may_retry(run.plan, run.position, "flaky", lost)
