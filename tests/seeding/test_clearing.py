"""SG-12, clause 2: what a new turn keeps and what it clears."""

import copy
from typing import Any

import pytest
from hypothesis import given
from seeding_strategies import states

from seeding.clearing import CLEARED, begin_turn, cleared_fields
from seeding.state import RunState

CANCELLED = {
    "status": "cancelled",
    "isComplete": True,
    "data": {"k": "v"},
    "metadata": {"m": 1},
    "threadId": "thread_1",
    "currentNodeId": "node_a",
    "iterationCount": 3,
}
NEXT_TURN = {
    "status": None,
    "isComplete": False,
    "error": None,
    "data": {"k": "v"},
    "metadata": {"m": 1},
    "threadId": "thread_1",
    "currentNodeId": "",
    "iterationCount": 0,
    "iterator": None,
}


def read(state: dict[str, Any]) -> RunState:
    return RunState.model_validate(state)


def test_the_rules_own_example_fd_4() -> None:
    assert begin_turn(read(CANCELLED)).to_json() == {**NEXT_TURN, "messages": []}


def test_the_cleared_values_are_exactly_these() -> None:
    assert CLEARED == {
        "status": None,
        "isComplete": False,
        "error": None,
        "iterator": None,
        "iterationCount": 0,
        "currentNodeId": "",
    }


def test_messages_are_kept_in_order_with_every_key() -> None:
    messages = [{"id": "a", "role": "user", "content": "hi", "x": 1}, {"role": "assistant"}]
    assert begin_turn(read({**CANCELLED, "messages": messages})).messages == messages


def test_a_failed_runs_error_is_cleared_fd_5() -> None:
    failed = {**CANCELLED, "status": "failed", "error": "boom"}
    assert begin_turn(read(failed)).to_json() == {**NEXT_TURN, "messages": []}


def test_the_final_answer_does_not_end_the_next_turn_pb_a1() -> None:
    ended = {**CANCELLED, "status": "completed", "messages": [{"role": "assistant", "id": "1"}]}
    opened = begin_turn(read(ended))
    assert (opened.status, opened.is_complete, opened.error) == (None, False, None)
    assert opened.is_terminal is False


def test_three_turns_of_three_rounds_each_start_at_zero_pb_a2() -> None:
    state, counts = read({"threadId": "t"}), list[int]()
    for _ in range(3):
        state = begin_turn(state)
        counts.append(state.iteration_count)
        state = state.model_copy(update={"iteration_count": state.iteration_count + 3})
    assert counts == [0, 0, 0]


def test_user_data_named_like_the_position_is_kept() -> None:
    data = {"currentNodeId": "mine", "iterator": [1], "status": "completed"}
    assert begin_turn(read({**CANCELLED, "data": data})).data == data


def test_unknown_fields_are_run_owned_and_dropped() -> None:
    assert "scratch" not in begin_turn(read({**CANCELLED, "scratch": 1})).to_json()


@pytest.mark.parametrize("field", ["iterator", "error"])
def test_what_is_cleared_is_listed_with_both_values(field: str) -> None:
    value = {"items": [1], "index": 0} if field == "iterator" else "boom"
    listed = [change.to_json() for change in cleared_fields(read({**CANCELLED, field: value}))]
    assert {"field": field, "before": value, "after": None} in listed
    assert {"field": "status", "before": "cancelled", "after": None} in listed
    assert {"field": "isComplete", "before": True, "after": False} in listed
    assert {"field": "currentNodeId", "before": "node_a", "after": ""} in listed
    assert {"field": "iterationCount", "before": 3, "after": 0} in listed
    assert len(listed) == 5


def test_nothing_is_listed_for_a_fresh_state() -> None:
    assert cleared_fields(RunState(thread_id="t")) == []


@given(states())
def test_clearing_twice_is_clearing_once(state: dict[str, Any]) -> None:
    once = begin_turn(read(state))
    assert begin_turn(once) == once


@given(states())
def test_clearing_changes_the_given_state_in_nothing(state: dict[str, Any]) -> None:
    before = read(state)
    shown = copy.deepcopy(before.to_json())
    begin_turn(before)
    assert before.to_json() == shown


@given(states())
def test_every_field_is_either_kept_or_cleared(state: dict[str, Any]) -> None:
    opened = begin_turn(read(state)).to_json()
    kept = {name: state[name] for name in ("messages", "data", "metadata", "threadId")}
    assert opened == {**CLEARED, **kept}
