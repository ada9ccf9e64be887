"""SG-20: a data port held back by rounds that nothing can fill any more ends its node."""

import pytest

from seeding.model import JsonObject
from workflows.scheduler import NodeFailureReport, due, is_finished, progress, report, waiting
from workflows.starting_at import start_at

from .graphs import graph
from .held_runs import BOTH_THEN_WRITE, IN, TYPES, failed, taking, unfillable, writing
from .runs import Node, Run


def test_a_port_that_nothing_can_fill_any_more_fails_its_node_and_the_run() -> None:  # FD-21
    run = Run(writing(), BOTH_THEN_WRITE, inputs=IN).go()
    assert run.trace[-4:] == ["head:1", "planner:1", "write:1", "assembler:1"]
    assert run.cause is not None
    assert run.cause.kind == "Error"
    assert run.cause.message == (
        "node 'assembler': nothing can fill port 'citations' any more in round 1 of loop 'head': "
        "its source 'fact_check' did not run in this round, because gateway 'planner' led "
        "elsewhere; feed the port on every way through the loop, or give the node an error edge"
    )
    assert run.cause.details == {
        "code": "unfillable_port",
        "node_id": "assembler",
        "occurrence": 1,
        "details": unfillable(),
    }
    assert run.finished
    assert "assembler:1" not in run.results


def test_an_error_edge_routes_it_and_the_run_goes_on() -> None:  # FD-21, ERR-7
    run = Run(writing("assembler.error -> told.in"), BOTH_THEN_WRITE, inputs=IN).go()
    error: JsonObject = run.results["told"]["in"]
    assert error == {
        "message": error["message"],
        "code": "unfillable_port",
        "node_id": "assembler",
        "retryable": False,
        "details": unfillable(),
    }
    assert run.results["assembler:1"] == {"error": error}
    assert run.trace[-2:] == ["assembler:1", "told"]
    assert run.cause is None
    assert run.finished


def test_the_node_is_not_called_and_its_dispatch_is_no_pass() -> None:  # ORC-10
    run = Run(writing(), BOTH_THEN_WRITE, inputs=IN)
    while run.due_ids() != ["write"] or run.position.nodes["write"].executions < 2:
        run.advance()
    before = run.position
    run.finish_node("write")
    (execution,) = due(run.position)
    assert (execution.node_id, execution.kind, execution.occurrence) == ("assembler", "control", 1)
    assert (execution.order, execution.stamp) == (before.order + 1, {"head": 1})
    assert run.position.passes == before.passes
    assert run.position.current_node_id == "assembler"


def test_a_retryable_type_does_not_retry_it() -> None:  # ERR-11
    run = Run(writing(types={"assembler": "patient"}), BOTH_THEN_WRITE, inputs=IN).go()
    assert run.position.nodes["assembler"].retries == 0
    assert failed(run) == unfillable()


@pytest.mark.parametrize("kind", ["gate", "merge", "reply", "stop"])
def test_a_node_of_any_type_fails_in_place_of_what_it_would_do(kind: str) -> None:
    nodes = {**BOTH_THEN_WRITE, "planner": taking(["yes"], ["no"])}
    built = graph(
        "head.out -> planner.in",
        "head.out -> last.draft",
        "planner.yes -> fact_check.in",
        "planner.no -> write.in",
        "fact_check.out -> last.citations",
        "write.out -> review.in",
        "fact_check.out -> review.in",
        "review.yes -> head.loop_back",
        "last.answer -> head.loop_back",
        types={**TYPES, "last": kind},
        config={"head": {"maxRounds": 2}},
    )
    nodes["fact_check"] = lambda inputs, n: {}
    run = Run(built, nodes, inputs=IN).go()
    if kind == "stop":
        assert run.cause is not None
        assert run.cause.kind == "Stopped", "it stopped the run in round 0"
        return
    while waiting(run.position):
        run.decide("last").go()
    assert run.trace[-1] == "last:1"
    assert failed(run) == unfillable()


def test_reports_and_progress_count_it_as_an_execution() -> None:  # BR-7, PIPE-4
    run = Run(writing(), BOTH_THEN_WRITE, inputs=IN).go()
    assert progress(run.plan, run.position)["assembler"] == {"status": "failed", "executions": 2}
    assert report(run.plan, run.position) == {"nodes_skipped": 1, "skipped_node_ids": ["done"]}


def test_it_waits_while_a_further_round_may_fill_the_port() -> None:
    nodes = {**BOTH_THEN_WRITE, "planner": taking(["yes", "no"], ["no"], ["yes", "no"], ["no"])}
    rounds = {"head": {"maxRounds": 3}}
    run = Run(writing("write.out -> head.loop_back", config=rounds), nodes, inputs=IN).go()
    assert run.cause is None
    assert [key for key in run.trace if key.startswith("assembler")] == ["assembler", "assembler:1"]
    assert run.position.nodes["assembler"].stamp == {"head": 2}


def test_it_fails_in_the_last_round_only() -> None:
    rounds = {"head": {"maxRounds": 3}}
    run = Run(
        writing("write.out -> head.loop_back", config=rounds), BOTH_THEN_WRITE, inputs=IN
    ).go()
    assert run.trace[-3:] == ["planner:2", "write:2", "assembler:1"]
    assert failed(run) == unfillable(round=2)


def held_beside(*, late: str) -> Run:
    """Return a run whose assembler is held back while another source, ``late``, is under way."""
    built = writing("late.approve -> assembler.citations", types={"late": late})
    run = Run(built, BOTH_THEN_WRITE, inputs={**IN, "late": {"x": 1}})
    for key in ("load", "head", "planner", "fact_check", "write", "assembler", "review"):
        run.finish_node(key)
    for key in ("head", "planner", "write"):
        run.finish_node(key)
    assert list(run.position.executions) == ["late"]
    return run


def test_it_waits_for_a_source_beside_the_loop_and_takes_its_value() -> None:
    run = held_beside(late="task")
    run.finish_node("late")
    (execution,) = due(run.position)
    assert (execution.node_id, execution.occurrence) == ("assembler", 1)
    assert (execution.kind, execution.unfillable) == ("effect", None)


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_question_that_may_fill_the_port_is_waited_for(decision: str) -> None:  # ORC-11
    run = held_beside(late="gate")
    run.finish_node("late")
    assert [found.node_id for found in waiting(run.position)] == ["late"]
    assert run.due_ids() == []
    run.decide("late", decision)
    (execution,) = due(run.position)
    assert execution.node_id == "assembler"
    assert (execution.unfillable is None) == (decision == "approve")


def test_a_question_that_does_not_lead_to_the_port_keeps_nothing_waiting() -> None:  # ORC-11
    built = writing("load.out -> ask.in", types={"ask": "gate"})
    run = Run(built, BOTH_THEN_WRITE, inputs=IN).go()
    assert [found.node_id for found in waiting(run.position)] == ["ask"]
    assert failed(run) == unfillable()
    assert is_finished(run.position), "a failure goes before a pause"


def test_a_question_that_leads_to_the_port_is_waited_for() -> None:  # ORC-11
    built = writing("write.out -> ask.in", "ask.answer -> head.loop_back", types={"ask": "gate"})
    nodes = {**BOTH_THEN_WRITE, "review": taking(["no"])}
    run = Run(built, nodes, inputs=IN).go()
    run.decide("ask").go()
    assert [found.node_id for found in waiting(run.position)] == ["ask"]
    assert run.cause is None
    assert not is_finished(run.position)


def test_the_wait_ends_with_whatever_execution_led_to_the_port_last() -> None:
    built = writing("planner.no -> slow.in", "slow.over -> fact_check.in", types={"slow": "router"})
    nodes = {**BOTH_THEN_WRITE, "slow": taking(["no"])}
    run = Run(built, nodes, inputs=IN)
    for key in ("head", "load", "planner", "fact_check", "slow", "write", "assembler", "review"):
        run.finish_node(key)
    for key in ("head", "planner", "write"):
        run.finish_node(key)
    assert run.due_ids() == ["slow"]
    run.finish_node("slow")
    assert run.due_ids() == ["assembler"]
    assert failed(run.go()) == unfillable(gateway="slow")


@pytest.mark.parametrize("verdict", ["stop", "failure"])
def test_under_a_verdict_nothing_more_is_dispatched(verdict: str) -> None:
    nodes: dict[str, Node] = {
        **BOTH_THEN_WRITE,
        "beside": lambda inputs, n: NodeFailureReport(message="no", code="E"),
    }
    kind = "stop" if verdict == "stop" else "task"
    run = Run(writing("load.out -> beside.in", types={"beside": kind}), nodes, inputs=IN)
    for key in ("head", "load", "planner", "fact_check", "write", "assembler", "review"):
        run.finish_node(key)
    for key in ("head", "planner", "beside", "write"):
        run.finish_node(key)
    assert run.position.nodes["assembler"].executions == 1
    assert run.finished


def test_a_round_of_a_for_each_that_dies_fails_what_it_left_waiting() -> None:
    built = graph(
        "each.current_item -> route.in",
        "each.current_item -> pay.item",
        "route.yes -> approve.in",
        "approve.out -> pay.approval",
        "pay.out -> each.loop_back",
        types={"each": "for_each", "route": "router"},
        config={"each": {"items": ["a", "b", "c"]}},
    )
    run = Run(built, {"route": taking(["yes"], ["no"])}).go()
    assert run.trace == [
        "each", "route", "approve", "pay", "each:1", "route:1", "pay:1",
    ]  # fmt: skip
    assert failed(run) == unfillable(
        port="approval", loop="each", sources=["approve"], gateway="route"
    )


def test_the_failure_at_hand_survives_a_restore() -> None:
    run, paused = (Run(writing(), BOTH_THEN_WRITE, inputs=IN) for _ in range(2))
    run.go()
    while not any(found.unfillable for found in due(paused.position)):
        assert paused.advance()
    assert paused.cells["due/assembler"]["unfillable"] == unfillable()
    assert paused.restored() == paused.position
    paused.position = paused.restored()
    assert paused.go().cells == run.cells
    assert paused.head == run.head
    assert paused.trace == run.trace


def test_an_execution_that_is_called_has_no_trace_of_it_in_its_cell() -> None:
    run = Run(writing(), BOTH_THEN_WRITE, inputs=IN)
    assert run.cells["due/head"] == {
        "nodeId": "head",
        "occurrence": 0,
        "order": 1,
        "stamp": {"head": 0},
    }


def test_a_run_that_starts_at_that_point_fails_as_well() -> None:  # rewind, fork
    run = Run(writing(), BOTH_THEN_WRITE, inputs=IN)
    while not any(found.unfillable for found in due(run.position)):
        assert run.advance()
    opened = start_at(run.plan, run.restored(), {})
    assert opened.state == (), "nothing changed, so nothing is written"
    run.accept(opened)
    assert failed(run.go()) == unfillable()
