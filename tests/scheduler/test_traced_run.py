"""The contract's traced run: its first graph on [50, 150], limit 100, commit by commit."""

import pytest

from workflows.scheduler import progress, report, shown_iterator, waiting

from .graphs import EXPENSE_REVIEW, check_expense
from .runs import Run


@pytest.fixture
def run() -> Run:
    return Run(EXPENSE_REVIEW, {"check": check_expense}, inputs={"items": {"value": [50, 150]}})


def test_the_opening_dispatches_the_entry_and_shows_no_position_yet(run: Run) -> None:
    assert run.due_ids() == ["items"]
    assert (run.head.current_node_id, run.head.iteration_count, run.head.iterator) == ("", 0, None)


def test_its_ordinals(run: Run) -> None:
    run.go().decide("gate").go()
    assert [step.node_id for step in run.steps] == [
        None,
        "items",
        "each",
        "check",
        "each",
        "check",
        "gate",
        "gate",
        "each",
        "summary",
    ]


def test_the_pause_at_the_second_item(run: Run) -> None:
    run.go()
    assert len(run.steps) - 1 == 6
    assert run.head.current_node_id == "gate"
    assert run.head.iteration_count == 2
    assert shown_iterator(run.position) == {"items": [50, 150], "index": 1, "results": [50]}
    asked = run.steps[-1].asked
    assert asked is not None
    ticket = asked.ticket("R", "alice", 0)
    assert ticket.ticket == "R:gate:0:0"
    assert ticket.message == "Over the limit. Pay 150?"
    assert ticket.input == {"item": 150}
    assert ticket.allowed == ["approve", "deny"]
    assert [(found.node_id, found.stamp) for found in waiting(run.position)] == [
        ("gate", {"each": 1})
    ]


def test_its_results(run: Run) -> None:
    run.go().decide("gate").go()
    assert list(run.results) == [
        "items",
        "each",
        "check",
        "each:1",
        "check:1",
        "gate",
        "each:2",
        "summary",
    ]
    assert run.results["check"] == {"within": 50}
    assert run.results["check:1"] == {"over": 150}
    assert run.results["each:2"] == {
        "loop_active": False,
        "current_item": None,
        "total_count": 2,
        "collected_results": [50, "approve"],
    }
    assert run.messages == [{"role": "assistant", "content": 'Done: [50,"approve"]'}]


def test_its_end(run: Run) -> None:
    run.go().decide("gate").go()
    assert run.finished
    assert run.head.iteration_count == 2
    assert run.head.current_node_id == "summary"
    assert shown_iterator(run.position) is None
    assert report(run.plan, run.position) == {"nodes_skipped": 0, "skipped_node_ids": []}
    assert progress(run.plan, run.position)["each"] == {"status": "completed", "executions": 3}


def test_only_changed_cells_are_written(run: Run) -> None:
    run.go()
    written = [[command.key for command in step.state] for step in run.steps]
    assert written == [
        ["input/items", "node/items", "due/items"],
        ["node/each", "node/items", "due/each", "due/items"],
        ["node/check", "node/each", "loop/each", "due/check", "due/each"],
        ["node/check", "node/each", "loop/each", "due/check", "due/each"],
        ["node/check", "node/each", "loop/each", "due/check", "due/each"],
        ["node/check", "node/gate", "due/check", "due/gate"],
        ["due/gate"],
    ]


def test_items_and_results_are_written_once(run: Run) -> None:
    run.go().decide("gate").go()
    rows = [
        (index, row.kind, row.index, row.value)
        for index, step in enumerate(run.steps)
        for row in step.rows
        if row.kind != "output"
    ]
    assert rows == [
        (2, "item", 0, 50),
        (2, "item", 1, 150),
        (4, "result", 0, 50),
        (8, "result", 1, "approve"),
    ]
