"""SG-1: the reducers of the run state, field by field."""

import copy
from typing import Any

import pytest
from hypothesis import given
from seeding_strategies import MESSAGES, OBJECTS, live_states

from seeding.state import RunState, append_messages, merge_keys, reduce_state


def test_a_fresh_state_has_exactly_these_values_fd_11() -> None:
    assert RunState().to_json() == {
        "status": None,
        "isComplete": False,
        "error": None,
        "messages": [],
        "data": {},
        "metadata": {},
        "threadId": "",
        "currentNodeId": "",
        "iterationCount": 0,
        "iterator": None,
    }


def test_the_rules_own_example() -> None:
    before = RunState(data={"existing": "value"}, current_node_id="")
    after = reduce_state(before, {"data": {"new": "data"}, "currentNodeId": "node_2"})
    assert after.data == {"existing": "value", "new": "data"}
    assert after.current_node_id == "node_2"
    assert (before.data, before.current_node_id) == ({"existing": "value"}, "")


def test_messages_append() -> None:
    before = RunState(messages=[{"id": "1"}])
    assert reduce_state(before, {"messages": [{"id": "2"}]}).messages == [{"id": "1"}, {"id": "2"}]


def test_data_and_metadata_merge_by_top_level_key_only() -> None:
    before = RunState(data={"a": {"x": 1}, "b": 2}, metadata={"m": 1})
    after = reduce_state(before, {"data": {"a": {"y": 2}}, "metadata": {"n": None}})
    assert after.data == {"a": {"y": 2}, "b": 2}
    assert after.metadata == {"m": 1, "n": None}


@pytest.mark.parametrize(
    ("field", "cleared"), [("data", {}), ("metadata", {}), ("iterator", None), ("error", None)]
)
def test_an_explicit_null_clears_a_field(field: str, cleared: object) -> None:
    before = RunState.model_validate(
        {"data": {"a": 1}, "metadata": {"m": 1}, "iterator": {"index": 0}, "error": "boom"}
    )
    assert reduce_state(before, {field: None}).to_json() == {**before.to_json(), field: cleared}


def test_what_an_update_omits_is_kept() -> None:
    before = RunState.model_validate({"iterationCount": 3, "iterator": {"index": 0}, "mine": 1})
    assert reduce_state(before, {}) == before


def test_every_other_field_is_replaced() -> None:
    before = RunState(iterator={"items": [1], "index": 0})
    after = reduce_state(before, {"iterator": {"items": [2, 3], "index": 1}, "iterationCount": 4})
    assert after.iterator == {"items": [2, 3], "index": 1}
    assert after.iteration_count == 4


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_state_with_an_outcome_is_terminal(status: str) -> None:
    assert RunState.model_validate({"status": status}).is_terminal is True


@given(live_states(), MESSAGES, OBJECTS, OBJECTS)
def test_reducing_changes_neither_state_nor_update(
    state: dict[str, Any], messages: list[Any], data: dict[str, Any], metadata: dict[str, Any]
) -> None:
    before = RunState.model_validate(state)
    update = {"messages": messages, "data": data, "metadata": metadata, "iterationCount": 7}
    shown, said = copy.deepcopy(before.to_json()), copy.deepcopy(update)
    after = reduce_state(before, update)
    assert (before.to_json(), update) == (shown, said)
    assert after.messages == [*before.messages, *messages]
    assert after.data == {**before.data, **data}


@given(OBJECTS, OBJECTS, MESSAGES, MESSAGES)
def test_merging_changes_neither_side(
    first: dict[str, Any], second: dict[str, Any], old: list[Any], new: list[Any]
) -> None:
    said = copy.deepcopy((first, second, old, new))
    merge_keys(first, second)
    append_messages(old, new)
    assert (first, second, old, new) == said


@given(live_states())
def test_a_paused_state_comes_back_equal_in_every_key_fd_6(state: dict[str, Any]) -> None:
    assert RunState.model_validate(state).to_json() == state
