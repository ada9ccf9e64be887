"""What a request may bring to a run that goes on, and what ends a run before the next."""

from typing import Any

import pytest
from thread_facts import (
    AWAITING,
    RUNNING,
    TICKET,
    adopted,
    checkpoint_fact,
    facts,
    opened,
    refused,
    request,
    run_fact,
)

from seeding.errors import InvalidRequest, ThreadBusy
from seeding.facts import ThreadFacts
from seeding.start import resolve_start


@pytest.mark.parametrize(
    "content",
    [
        {"message": "hi"},
        {"messages": [{"role": "user", "content": "hi"}]},
        {"input": {"items": {"value": 1}}},
        {"data": {"k": 1}},
        {"metadata": {"k": 1}},
    ],
)
def test_content_cannot_be_put_into_a_paused_run(content: dict[str, Any]) -> None:
    assert f"is awaiting {TICKET}" in refused(request(**content), AWAITING, ThreadBusy)


def test_the_refusal_carries_run_and_tickets_for_programs() -> None:
    with pytest.raises(ThreadBusy) as caught:
        resolve_start(request(message="hi"), AWAITING)
    assert caught.value.details == {"runId": "R2", "tickets": [TICKET]}


def test_content_is_queued_where_the_request_says_so() -> None:
    decision = adopted(request(message="hi", config={"onBusy": "queue"}), AWAITING)
    assert (decision.run_id, decision.queues_content) == ("R2", True)


def test_nothing_is_queued_where_there_is_no_content() -> None:
    assert adopted(request(config={"onBusy": "queue"}), AWAITING).queues_content is False


def test_content_cannot_be_put_into_a_recovered_or_named_run_either() -> None:
    refused(request(message="hi", recover=True), RUNNING, ThreadBusy)
    run = run_fact(phase="running")
    known = facts(run, checkpoint=checkpoint_fact(run, 6))
    refused(request(message="hi", checkpointId="R2:6"), known, ThreadBusy)


@pytest.mark.parametrize("known", [AWAITING, RUNNING], ids=["awaiting", "running"])
def test_abandon_alone_ends_the_run_and_starts_the_next_turn(known: ThreadFacts) -> None:
    decision = opened(request(message="new", abandon=True), known)
    assert [ending.cause.message for ending in decision.ends] == ["abandoned"]
    assert (decision.start.source, decision.base.cleared) == ("thread", True)


def test_abandon_contradicts_recover() -> None:
    refused(request(abandon=True, recover=True), facts(), InvalidRequest)


def test_abandon_contradicts_a_checkpoint_of_the_run_it_would_end() -> None:
    run = run_fact(phase="awaiting")
    for ordinal in (3, 6):
        known = facts(run, checkpoint=checkpoint_fact(run, ordinal))
        refused(request(checkpointId=f"R2:{ordinal}", abandon=True), known, InvalidRequest)


def test_an_adopted_run_keeps_its_pinned_graph_and_config_with_a_warning() -> None:
    run = run_fact(phase="awaiting", config={"maxIterations": 10, "onBusy": "reject"})
    known = facts(run, requested_graph="expense-review@ffffffffffffffff")
    decision = adopted(request(config={"maxIterations": 20}), known)
    assert [warning.to_json() for warning in decision.warnings] == [
        {
            "code": "pinned_graph",
            "message": "run R2 goes on with its own graph expense-review@0123456789abcdef, "
            "not with expense-review@ffffffffffffffff",
        },
        {
            "code": "pinned_config",
            "message": "run R2 goes on with its own config: maxIterations 10, not 20",
        },
    ]


def test_config_that_was_not_given_or_is_start_only_is_no_difference() -> None:
    run = run_fact(phase="awaiting", config={"maxIterations": 10, "onUnknownCheckpoint": "fresh"})
    known = facts(run, requested_graph=run.graph)
    assert adopted(request(config={"onUnknownCheckpoint": "refuse"}), known).warnings == ()
