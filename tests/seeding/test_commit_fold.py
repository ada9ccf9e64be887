"""The fold, and that the clearing of SG-12 is structural."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seeding_strategies import JSON, MESSAGES, NAMES, UNKNOWN_FIELDS

from seeding.clearing import begin_turn
from seeding.commits import (
    CauseKind,
    Disposition,
    EndCause,
    IteratorHead,
    Opening,
    PositionHead,
    RunRow,
    StateCommand,
    ThreadCommit,
)
from seeding.errors import CorruptLog
from seeding.fold import apply_command, fold, outcome_of
from seeding.state import RunState
from seeding.tickets import TicketReference

RUNNING = Disposition(kind="Running")
AWAITING = Disposition(
    kind="Awaiting", tickets=(TicketReference(ticket="R1:gate:0:0", run_id="R1", thread_id="t"),)
)


def ended(kind: CauseKind, message: str | None = None) -> Disposition:
    return Disposition(kind="Ended", cause=EndCause(kind=kind, message=message))


def commit(disposition: Disposition = RUNNING, run_id: str = "R1", **fields: Any) -> ThreadCommit:
    return ThreadCommit(thread_id="t", run_id=run_id, disposition=disposition, **fields)


def opening(run_id: str, epoch: int, **fields: Any) -> ThreadCommit:
    says = Opening(run_epoch=epoch, chain_id=run_id, graph_id="g", graph_digest="d")
    return commit(run_id=run_id, opening=says, **fields)


def set_data(key: str, value: Any, **fields: Any) -> StateCommand:
    says: dict[str, Any] = {"scope": "thread", "cell": "data", "key": key, "value": value}
    return StateCommand(**{**says, **fields})


def row(kind: Any, index: int, value: Any, node_id: str = "each", occurrence: int = 0) -> RunRow:
    return RunRow(kind=kind, node_id=node_id, occurrence=occurrence, index=index, value=value)


def test_no_commits_are_the_fresh_state() -> None:
    assert fold(()) == RunState()


def test_a_run_paused_in_its_loop_is_shown_with_its_position() -> None:
    loop = IteratorHead(node_id="each", occurrence=0, index=1, items=2, results=1)
    commits = (
        opening("R1", 1, messages=({"id": "R1:0:0", "role": "user", "content": "please"},)),
        commit(rows=(row("item", 0, 50), row("item", 1, 150))),
        commit(rows=(row("result", 0, 50), row("output", 0, {"x": 1}))),
        commit(
            AWAITING,
            position=PositionHead(current_node_id="gate", iteration_count=2, iterator=loop),
        ),
    )
    assert fold(commits).to_json() == {
        "status": None,
        "isComplete": False,
        "error": None,
        "messages": [{"id": "R1:0:0", "role": "user", "content": "please"}],
        "data": {},
        "metadata": {},
        "threadId": "t",
        "currentNodeId": "gate",
        "iterationCount": 2,
        "iterator": {"items": [50, 150], "index": 1, "results": [50]},
    }


def test_the_iterator_is_a_prefix_of_the_rows_of_its_own_entry() -> None:
    loop = IteratorHead(node_id="each", occurrence=4, index=0, items=1, results=0)
    commits = (
        opening("R1", 1),
        commit(rows=(row("item", 0, "old"), row("item", 0, "new", occurrence=4))),
        commit(
            rows=(row("item", 1, "later", occurrence=4), row("result", 0, "x", node_id="inner")),
            position=PositionHead(iterator=loop),
        ),
    )
    assert fold(commits).iterator == {"items": ["new"], "index": 0, "results": []}


def test_a_missing_iterator_row_is_a_damaged_log() -> None:
    loop = IteratorHead(node_id="each", occurrence=0, index=0, items=2, results=0)
    commits = (commit(rows=(row("item", 0, 1),), position=PositionHead(iterator=loop)),)
    with pytest.raises(CorruptLog, match="needs item 1 of 2"):
        fold(commits)


def test_thread_cells_are_set_removed_and_set_again() -> None:
    remove = set_data("a", None, op="remove")
    commits = (
        opening("R1", 1, state=(set_data("a", 1), set_data("m", 2, cell="metadata"))),
        commit(state=(remove, remove, set_data("b", None))),
        commit(state=(set_data("a", {"x": 1}),)),
    )
    assert fold(commits[:2]).data == {"b": None}
    assert fold(commits).data == {"a": {"x": 1}, "b": None}
    assert fold(commits).metadata == {"m": 2}


def test_a_commutative_set_of_an_object_over_an_object_merges_both() -> None:
    merge = set_data("a", {"y": 2, "z": 0}, policy="commutative")
    commits = (
        opening("R1", 1, state=(set_data("a", {"x": 1, "z": {"deep": 1}}),)),
        commit(state=(merge,)),
    )
    assert fold(commits).data == {"a": {"x": 1, "y": 2, "z": 0}}


@pytest.mark.parametrize(("before", "after"), [({"x": 1}, 3), (3, {"x": 1}), ({"x": 1}, [1])])
def test_a_commutative_set_of_anything_else_replaces(before: Any, after: Any) -> None:
    merged = apply_command({"a": before}, set_data("a", after, policy="commutative"))
    assert merged == {"a": after}


def test_an_exclusive_or_disjoint_set_replaces_an_object() -> None:
    for policy in ("exclusive", "disjoint"):
        command = set_data("a", {"y": 2}, policy=policy)
        assert apply_command({"a": {"x": 1}}, command) == {"a": {"y": 2}}


def test_applying_a_command_changes_neither_cells_nor_command() -> None:
    cells = {"a": {"x": 1}}
    command = set_data("a", {"y": 2}, policy="commutative")
    apply_command(cells, command)
    assert (cells, command.value) == ({"a": {"x": 1}}, {"y": 2})


@pytest.mark.parametrize(
    ("kind", "status", "error"),
    [
        ("NaturalEnd", "completed", None),
        ("Stopped", "completed", None),
        ("MaxIterations", "failed", "why"),
        ("Error", "failed", "why"),
        ("FailedVerification", "failed", "why"),
        ("Indeterminate", "failed", "why"),
        ("Cancelled", "cancelled", None),
    ],
)
def test_each_cause_has_one_outcome_int_13(kind: CauseKind, status: str, error: str | None) -> None:
    assert outcome_of(EndCause(kind=kind, message="why")) == (status, error)
    state = fold((opening("R1", 1), commit(ended(kind, "why"))))
    assert (state.status, state.is_complete, state.error) == (status, True, error)


def test_fields_nobody_knows_come_back_and_are_the_runs_own() -> None:
    cell = StateCommand(scope="run", cell="position", key="state/mine", value={"x": [1]})
    commits = (opening("R1", 1, state=(cell,)), commit(ended("NaturalEnd")))
    assert fold(commits).to_json()["mine"] == {"x": [1]}
    assert "mine" not in fold((*commits, opening("R2", 2))).to_json()


def test_a_run_cell_is_read_by_its_own_run_only_aw_61() -> None:
    first = StateCommand(scope="run", cell="position", key="state/k", value=1)
    second = StateCommand(scope="run", cell="position", key="state/k", value=2)
    commits = (
        opening("R1", 1, state=(first,)),
        commit(ended("NaturalEnd")),
        opening("R2", 2, state=(second,)),
    )
    assert fold(commits[:2]).to_json()["k"] == 1
    assert fold(commits).to_json()["k"] == 2


# --- the clearing is structural --------------------------------------------------------------

CAUSES: st.SearchStrategy[CauseKind] = st.sampled_from(
    ["NaturalEnd", "Stopped", "MaxIterations", "Cancelled", "Error", "Indeterminate"]
)


@st.composite
def commands(draw: st.DrawFn) -> StateCommand:
    return set_data(
        draw(st.sampled_from(["a", "b", "c"])),
        draw(JSON),
        op=draw(st.sampled_from(["set", "remove"])),
        cell=draw(st.sampled_from(["data", "metadata"])),
        policy=draw(st.sampled_from(["commutative", "disjoint"])),
    )


@st.composite
def ended_runs(draw: st.DrawFn, run_id: str, epoch: int) -> tuple[ThreadCommit, ...]:
    """A whole run: opening, some steps with a loop in progress, and an end."""
    items = draw(st.lists(JSON, min_size=1, max_size=3))
    own = [
        StateCommand(scope="run", cell="position", key=f"state/{name}", value=value)
        for name, value in draw(UNKNOWN_FIELDS).items()
    ]
    first = opening(run_id, epoch, messages=tuple(draw(MESSAGES)), state=tuple(own))
    rows = tuple(row("item", index, item) for index, item in enumerate(items))
    steps: list[ThreadCommit] = [commit(run_id=run_id, rows=rows)]
    for _ in range(draw(st.integers(0, 3))):
        steps.append(
            commit(
                run_id=run_id,
                messages=tuple(draw(MESSAGES)),
                state=tuple(draw(st.lists(commands(), max_size=3))),
            )
        )
    loop = IteratorHead(node_id="each", occurrence=0, index=0, items=len(items), results=0)
    position = PositionHead(
        current_node_id=draw(NAMES),
        iteration_count=draw(st.integers(0, 9)),
        iterator=draw(st.sampled_from([None, loop])),
    )
    end = ended(draw(CAUSES), draw(st.none() | NAMES))
    return (first, *steps, commit(end, run_id=run_id, position=position))


@given(ended_runs("R1", 1), ended_runs("R2", 2))
def test_the_fold_of_a_new_run_is_the_cleared_state_in_every_field(
    first: tuple[ThreadCommit, ...], second: tuple[ThreadCommit, ...]
) -> None:
    for before in (first, (*first, *second)):
        assert fold((*before, opening("R3", 3))) == begin_turn(fold(before))


@given(ended_runs("R1", 1))
def test_the_finished_runs_own_state_is_as_it_was(commits: tuple[ThreadCommit, ...]) -> None:
    before = fold(commits)
    fold((*commits, opening("R2", 2)))
    assert fold(commits) == before
    assert before.is_terminal


@given(ended_runs("R1", 1))
def test_a_prefix_only_ever_gains_messages(commits: tuple[ThreadCommit, ...]) -> None:
    states = [fold(commits[: count + 1]) for count in range(len(commits))]
    for earlier, later in pairwise(states):
        assert later.messages[: len(earlier.messages)] == earlier.messages
