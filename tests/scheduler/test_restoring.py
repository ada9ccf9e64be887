"""Restoring a position from what a log keeps, and refusing what is damaged."""

from typing import Any

import pytest

from seeding.errors import StateDecode, UnknownExecution
from seeding.model import JsonObject
from workflows.scheduler import Completion, complete, needed_iterators, needed_outputs, restore

from .graphs import EXPENSE_REVIEW, check_expense
from .runs import Run


@pytest.fixture
def run() -> Run:
    run = Run(EXPENSE_REVIEW, {"check": check_expense}, inputs={"items": {"value": [50, 150]}})
    return run.go()


def test_only_the_newest_outputs_and_live_iterators_are_asked_for(run: Run) -> None:
    assert needed_outputs(run.head, run.cells) == [("check", 1), ("each", 1), ("items", 0)]
    assert needed_iterators(run.head, run.cells) == [("each", 0, 2, 1)]


def test_cells_of_other_kinds_are_ignored(run: Run) -> None:
    run.cells["state/unknown"] = {"kept": True}
    assert run.restored() == run.position


def test_stamps_come_back_outermost_first(run: Run) -> None:
    assert list(run.restored().nodes["check"].stamp.items()) == [("each", 1)]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("node/each", {"executions": "many", "order": 1}, "position cell 'node/each': executions"),
        ("node/each", None, "position cell 'node/each'"),
        ("due/gate", {"nodeId": "gate"}, "position cell 'due/gate': occurrence"),
        ("loop/each", {"round": 1, "more": 1}, "position cell 'loop/each': more: unknown field"),
    ],
)
def test_a_damaged_cell_is_refused_by_name(run: Run, key: str, value: Any, message: str) -> None:
    run.cells[key] = value
    with pytest.raises(StateDecode, match=message):
        run.restored()


def test_missing_outputs_are_refused_by_name(run: Run) -> None:
    values = {("each", 0): ([50, 150], [50])}
    with pytest.raises(StateDecode, match="outputs of execution 1 of node 'check'"):
        restore(run.plan, run.head, run.cells, {}, values)


def test_missing_items_are_refused_by_name(run: Run) -> None:
    outputs: dict[tuple[str, int], JsonObject] = {
        pair: {"outputs": {}} for pair in needed_outputs(run.head, run.cells)
    }
    with pytest.raises(StateDecode, match="needs 2 items and 1 results; 2 and 0 were read"):
        restore(run.plan, run.head, run.cells, outputs, {("each", 0): ([50, 150], [])})


def test_a_completion_of_what_is_not_there_is_refused(run: Run) -> None:
    with pytest.raises(UnknownExecution, match="execution 0 of node 'check'"):
        complete(run.plan, run.position, Completion(node_id="check", occurrence=0), run.limits)
