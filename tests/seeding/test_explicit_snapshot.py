"""INT-14, INT-15: reading the state that a caller brings along."""

import copy
from typing import Any

import pytest
from hypothesis import given
from seeding_strategies import live_states

from seeding.errors import TerminalSnapshot, UnreadableSnapshot
from seeding.snapshot import read_snapshot
from seeding.state import RunState

IN_A_LOOP: dict[str, Any] = {
    "status": None,
    "isComplete": False,
    "error": None,
    "messages": [],
    "data": {"k": "v"},
    "metadata": {},
    "threadId": "thread_1",
    "currentNodeId": "node_b",
    "iterationCount": 3,
    "iterator": {"items": ["a", "b", "c"], "index": 2},
    "mine": {"kept": [1, None]},
}


def test_an_empty_object_is_a_snapshot() -> None:
    assert read_snapshot({}) == RunState()


def test_a_paused_state_is_read_in_every_key_fd_6() -> None:
    assert read_snapshot(IN_A_LOOP).to_json() == IN_A_LOOP


def test_the_run_block_is_ignored_whatever_it_holds() -> None:
    assert read_snapshot({**IN_A_LOOP, "run": ["?"]}).to_json() == IN_A_LOOP


def test_messages_lose_their_ids_and_keep_the_rest() -> None:
    given_messages = [{"id": "R:0:0", "role": "user", "content": "hi", "mine": 1}]
    snapshot = {"messages": given_messages}
    assert read_snapshot(snapshot).messages == [{"role": "user", "content": "hi", "mine": 1}]
    assert snapshot == {"messages": [{"id": "R:0:0", "role": "user", "content": "hi", "mine": 1}]}


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_the_state_of_an_ended_run_is_refused_by_its_status_fd_9(status: str) -> None:
    with pytest.raises(TerminalSnapshot, match=f"status '{status}'"):
        read_snapshot({"status": status, "isComplete": True})


def test_a_complete_state_without_status_is_terminal_as_well() -> None:
    with pytest.raises(TerminalSnapshot, match="isComplete true"):
        read_snapshot({"isComplete": True})


def test_an_ended_run_is_named_before_anything_else_that_is_wrong() -> None:
    with pytest.raises(TerminalSnapshot, match="completed"):
        read_snapshot({"status": "completed", "iterator": {"items": [], "index": 0}})


UNREADABLE: list[tuple[Any, str]] = [
    ([], "initialSnapshot is a list; a state is a JSON object"),
    ("{}", "initialSnapshot is a string"),
    (0, "initialSnapshot is a number"),
    (False, "initialSnapshot is a boolean"),
    (None, "initialSnapshot is null"),
    ({"status": "running"}, "status is 'running'; it is one of null, 'completed', 'failed', 'can"),
    ({"status": []}, r"status is \[\]"),
    ({"isComplete": 0}, "isComplete is a number"),
    ({"isComplete": None}, "isComplete is null"),
    ({"error": 3}, "error: "),
    ({"messages": None}, "messages: "),
    ({"messages": {}}, "messages: "),
    ({"messages": ["hi"]}, "messages.0: "),
    ({"messages": [{"role": "user"}, {"content": "x"}]}, "messages.1.role is missing"),
    ({"messages": [{"role": ""}]}, "messages.0.role is missing"),
    ({"messages": [{"role": 3}]}, "messages.0.role is missing"),
    ({"data": None}, "data: "),
    ({"data": []}, "data: "),
    ({"metadata": "x"}, "metadata: "),
    ({"threadId": 3}, "threadId: "),
    ({"currentNodeId": None}, "currentNodeId: "),
    ({"iterationCount": "3"}, "iterationCount: "),
    ({"iterationCount": True}, "iterationCount: "),
    ({"iterationCount": 1.0}, "iterationCount: "),
    ({"iterationCount": -1}, "iterationCount is negative"),
    ({"iterator": []}, "iterator: "),
    ({"iterator": {}}, "iterator.items is not the list"),
    ({"iterator": {"items": "abc", "index": 0}}, "iterator.items is not the list"),
    ({"iterator": {"items": [1]}}, "iterator.index is null"),
    ({"iterator": {"items": [1], "index": True}}, "iterator.index is a boolean"),
    ({"iterator": {"items": [1], "index": 1}}, "iterator.index is 1, outside the 1 items"),
    ({"iterator": {"items": [1], "index": -1}}, "iterator.index is -1, outside"),
    ({"iterator": {"items": [], "index": 0}}, "iterator.index is 0, outside the 0 items"),
    ({"iterator": {"items": [1], "index": 0, "results": None}}, "iterator.results is not a list"),
    ({"is_complete": True}, "is_complete is spelled isComplete"),
    ({"data": {"n": 2**53 + 1}}, r"data.n is no JSON value .*integer beyond 2\^53"),
    ({"mine": float("inf")}, "mine is no JSON value"),
    ({"data": {"caf\u00e9": 1, "cafe\u0301": 2}}, "same text in NFC"),
    ({"data": {"big": "x" * 65537}}, "data.big is 65539 bytes"),
    ({"mine": "x" * 65537}, "mine is 65539 bytes"),
    ({"messages": [{"role": "user", "content": "x" * 65537}]}, "messages.0 is "),
    ({"iterator": {"items": ["x" * 65537], "index": 0}}, "iterator.items.0 is 65539 bytes"),
]


@pytest.mark.parametrize(("snapshot", "said"), UNREADABLE, ids=[said for _, said in UNREADABLE])
def test_what_cannot_be_read_is_refused_naming_the_field(snapshot: Any, said: str) -> None:
    with pytest.raises(UnreadableSnapshot, match=said):
        read_snapshot(snapshot)


@given(live_states())
def test_reading_keeps_every_key_and_changes_nothing_given(state: dict[str, Any]) -> None:
    said = copy.deepcopy(state)
    shown = read_snapshot(state).to_json()
    without_ids = [
        {name: value for name, value in message.items() if name != "id"}
        for message in state["messages"]
    ]
    assert shown == {**state, "messages": without_ids}
    assert state == said
