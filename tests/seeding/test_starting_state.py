"""SG-12: the state a new run starts from, from the decision and what was read for it."""

from typing import Any

import pytest
from hypothesis import given
from seeding_strategies import live_states, states
from thread_facts import checkpoint_fact, facts, request, run_fact

from seeding.decisions import Open
from seeding.facts import ThreadFacts
from seeding.request import RunRequest
from seeding.snapshot import read_snapshot
from seeding.start import resolve_start
from seeding.starting_state import starting_state
from seeding.state import RunState

FRESH: dict[str, Any] = RunState(thread_id="alice").to_json()
IN_A_LOOP: dict[str, Any] = {
    "status": None,
    "isComplete": False,
    "error": None,
    "messages": [{"id": "R1:0:0", "role": "user", "content": "hi"}],
    "data": {"k": "v"},
    "metadata": {"m": 1},
    "threadId": "alice",
    "currentNodeId": "node_b",
    "iterationCount": 3,
    "iterator": {"items": ["a", "b", "c"], "index": 2},
    "mine": {"kept": True},
}


def seeded(asked: RunRequest, known: ThreadFacts, read: dict[str, Any] | None) -> dict[str, Any]:
    decision = resolve_start(asked, known)
    assert isinstance(decision, Open)
    state = None if read is None else RunState.model_validate(read)
    return starting_state(decision, known.thread_id, state).to_json()


def test_nothing_given_is_the_fresh_state_with_the_threads_id_fd_11() -> None:
    assert seeded(request(), facts(), None) == {
        "status": None,
        "isComplete": False,
        "error": None,
        "messages": [],
        "data": {},
        "metadata": {},
        "threadId": "alice",
        "currentNodeId": "",
        "iterationCount": 0,
        "iterator": None,
    }


def test_an_unknown_checkpoint_does_not_fall_to_the_thread_fd_2() -> None:
    latest = {"data": {"k": "v"}, "messages": [{"role": "user"}], "threadId": "alice"}
    assert seeded(request(checkpointId="nope"), facts(run_fact()), latest) == FRESH


@pytest.mark.parametrize(
    ("status", "error"), [("completed", None), ("cancelled", None), ("failed", "boom")]
)
def test_the_next_turn_keeps_the_thread_and_clears_the_run_fd_4_fd_5(
    status: str, error: str | None
) -> None:
    ended = {**IN_A_LOOP, "status": status, "isComplete": True, "error": error}
    assert seeded(request(), facts(run_fact()), ended) == {
        **FRESH,
        "messages": IN_A_LOOP["messages"],
        "data": {"k": "v"},
        "metadata": {"m": 1},
    }


def test_a_snapshot_is_taken_as_it_is_on_this_thread_without_message_ids() -> None:
    snapshot = {**IN_A_LOOP, "threadId": "bob", "run": {"runId": "R9"}}
    asked = request(initialSnapshot=snapshot)
    read = read_snapshot(snapshot).to_json()
    assert seeded(asked, facts(run_fact()), read) == {
        **IN_A_LOOP,
        "threadId": "alice",
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_a_fork_at_an_end_is_cleared_and_elsewhere_keeps_its_position() -> None:
    at_end = facts(fork=checkpoint_fact(run_fact("R1", thread_id="bob"), 6))
    midway = facts(fork=checkpoint_fact(run_fact("R1", thread_id="bob"), 3))
    ended = {**IN_A_LOOP, "threadId": "bob", "status": "completed", "isComplete": True}
    live = {**IN_A_LOOP, "threadId": "bob"}
    assert seeded(request(forkFrom="R1:6"), at_end, ended)["iterator"] is None
    assert seeded(request(forkFrom="R1:3"), midway, live) == IN_A_LOOP


@given(live_states())
def test_going_back_takes_every_key_of_the_checkpoint(state: dict[str, Any]) -> None:
    run = run_fact(phase="awaiting")
    known = facts(run, checkpoint=checkpoint_fact(run, 3))
    at_checkpoint = {**state, "threadId": "alice"}
    assert seeded(request(checkpointId="R2:3"), known, at_checkpoint) == at_checkpoint


@given(states())
def test_no_new_run_starts_with_an_outcome(state: dict[str, Any]) -> None:
    run = run_fact(phase="awaiting")
    for asked, known in (
        (request(), facts(run_fact())),
        (request(forkFrom="R1:6"), facts(fork=checkpoint_fact(run_fact("R1"), 6))),
        (request(checkpointId="R2:3"), facts(run, checkpoint=checkpoint_fact(run, 3))),
    ):
        shown = seeded(asked, known, state)
        assert (shown["status"], shown["isComplete"], shown["error"]) == (None, False, None)
