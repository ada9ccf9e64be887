"""SG-8, BR-7, PIPE-4: result keys, skipped nodes, progress."""

from seeding.model import JsonObject
from workflows.scheduler import NodeFailureReport, progress, report, result_key

from .graphs import graph
from .runs import Run


def test_the_first_execution_has_the_bare_key() -> None:
    assert [result_key("loop_node", n) for n in range(3)] == [
        "loop_node",
        "loop_node:1",
        "loop_node:2",
    ]


BRANCHED = graph(
    "r.yes -> early.in",
    "r.no -> late.in",
    "late.out -> last.in",
    types={"r": "router", "note": "notes"},
    alone=["note"],
)


def says_yes(inputs: JsonObject, occurrence: int) -> JsonObject:
    return {"active_branches": ["yes"]}


def test_nodes_that_never_ran_are_skipped() -> None:  # FD-36
    run = Run(BRANCHED, {"r": says_yes}).go()
    assert report(run.plan, run.position) == {
        "nodes_skipped": 2,
        "skipped_node_ids": ["last", "late"],
    }


def test_after_a_stop_nothing_counts_as_skipped() -> None:  # FD-36, ERR-5
    run = Run(BRANCHED, {"r": says_yes}).go()
    assert report(run.plan, run.position, stopped=True) == {
        "nodes_skipped": 0,
        "skipped_node_ids": [],
    }


def test_progress_is_one_entry_for_each_node() -> None:
    run = Run(BRANCHED, {"r": says_yes})
    assert progress(run.plan, run.position) == {
        "early": {"status": "idle", "executions": 0},
        "last": {"status": "idle", "executions": 0},
        "late": {"status": "idle", "executions": 0},
        "r": {"status": "running", "executions": 1},
    }
    run.go()
    assert progress(run.plan, run.position) == {
        "early": {"status": "completed", "executions": 1},
        "last": {"status": "skipped", "executions": 0, "reason": "branch_not_active"},
        "late": {"status": "skipped", "executions": 0, "reason": "branch_not_active"},
        "r": {"status": "completed", "executions": 1},
    }


def test_what_an_ended_run_left_unfinished_was_cancelled() -> None:  # PIPE-4
    run = Run(BRANCHED, {"r": says_yes})
    assert progress(run.plan, run.position, ended=True)["r"] == {
        "status": "cancelled",
        "executions": 1,
    }


def test_what_a_failed_run_never_reached_was_skipped_for_its_end() -> None:  # BR-7, ORC-11
    run = Run(graph("a.out -> b.in"), {"a": lambda inputs, n: NodeFailureReport(message="x")}).go()
    assert progress(run.plan, run.position)["b"] == {
        "status": "skipped",
        "executions": 0,
        "reason": "run_ended",
    }


def test_what_a_stop_left_out_is_idle_and_not_skipped() -> None:  # ERR-5
    run = Run(graph("a.out -> halt.in", "halt.out -> b.in", types={"halt": "stop"})).go()
    assert progress(run.plan, run.position)["b"] == {"status": "idle", "executions": 0}


def test_a_routed_failure_shows_as_failed() -> None:
    run = Run(
        graph("a.error -> b.in"), {"a": lambda inputs, n: NodeFailureReport(message="x")}
    ).go()
    assert progress(run.plan, run.position)["a"] == {"status": "failed", "executions": 1}
