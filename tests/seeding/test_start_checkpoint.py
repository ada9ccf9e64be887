"""SG-12, INT-14: the rows of the start table for a checkpoint that the caller named."""

from typing import Any

import pytest
from thread_facts import (
    AWAITING,
    ENDED,
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

from seeding.commits import BranchPoint
from seeding.errors import (
    CheckpointOfEndedRun,
    CheckpointThreadMismatch,
    ThreadBusy,
    UnknownCheckpoint,
)
from seeding.facts import ThreadFacts


def test_an_unknown_checkpoint_is_a_warning_and_fresh_fd_2() -> None:
    decision = opened(request(checkpointId="nope"), ENDED)
    assert decision.base.to_json() == {"kind": "none", "checkpointId": None, "cleared": False}
    assert (decision.branch, decision.opens_branch, decision.stands_on) == ("b2", True, None)
    assert decision.start.to_json() == {
        "source": "fresh",
        "passedOver": [
            {"source": "initialSnapshot", "why": "not given"},
            {"source": "checkpoint", "why": "unknown: nope"},
            {"source": "thread", "why": "not taken: a checkpoint was named"},
        ],
    }
    assert [warning.code for warning in decision.warnings] == ["unknown_checkpoint"]


def test_its_warning_names_checkpoint_branch_and_the_command_back() -> None:
    message = opened(request(checkpointId="nope"), ENDED).warnings[0].message
    assert "checkpoint 'nope' does not exist" in message
    assert "Branch 'main' is left behind" in message
    assert message.endswith("fermata start alice expense-review@0123456789abcdef --fork-from R2:6")


def test_the_command_back_is_quoted_for_a_shell() -> None:
    known = facts(run_fact(), thread_id="it's; rm -rf $HOME")
    message = opened(request(checkpointId="nope"), known).warnings[0].message
    assert """fermata start 'it'"'"'s; rm -rf $HOME' expense""" in message


def test_the_command_back_to_an_abandoned_run_names_its_end() -> None:
    decision = opened(request(checkpointId="nope", abandon=True), AWAITING)
    assert [ending.cause.message for ending in decision.ends] == ["abandoned"]
    assert decision.warnings[0].message.endswith("--fork-from R2:7")


def test_an_unknown_checkpoint_on_a_new_thread_leaves_nothing_behind() -> None:
    decision = opened(request(checkpointId="nope"), facts())
    assert decision.branch == "main"
    assert decision.warnings[0].message == (
        "checkpoint 'nope' does not exist; the run starts fresh, and thread 'alice' has no run "
        "to leave behind"
    )


def test_an_unknown_checkpoint_can_be_refused_instead() -> None:
    asked = request(checkpointId="nope", config={"onUnknownCheckpoint": "refuse"})
    for known in (facts(), ENDED, AWAITING):
        assert "'nope'" in refused(asked, known, UnknownCheckpoint)


@pytest.mark.parametrize("known", [AWAITING, RUNNING], ids=["awaiting", "running"])
def test_an_unknown_checkpoint_while_a_run_has_not_ended_is_busy(known: ThreadFacts) -> None:
    assert "checkpointId 'nope'" in refused(request(checkpointId="nope"), known, ThreadBusy)


def test_a_checkpoint_of_another_thread_is_refused_naming_both() -> None:
    other = checkpoint_fact(run_fact("R9", "awaiting", thread_id="bob"), 6)
    said = refused(
        request(checkpointId="R9:6"), facts(run_fact(), checkpoint=other), CheckpointThreadMismatch
    )
    assert said == (
        "checkpoint R9:6 is of thread 'bob', not of 'alice'; to start from it here give it as "
        "forkFrom"
    )


@pytest.mark.parametrize("ordinal", [0, 2, 6])
@pytest.mark.parametrize("cause", ["NaturalEnd", "Error", "Cancelled", "MaxIterations"])
def test_any_checkpoint_of_an_ended_run_is_refused_fd_1_pb_a10(ordinal: int, cause: Any) -> None:
    point = checkpoint_fact(run_fact(cause=cause), ordinal)
    said = refused(
        request(checkpointId=f"R2:{ordinal}"),
        facts(run_fact(cause=cause), checkpoint=point),
        CheckpointOfEndedRun,
    )
    assert f"checkpoint R2:{ordinal} is of run R2, which has ended ({cause})" in said
    assert "forkFrom" in said


def test_one_state_two_doors_fd_10() -> None:
    known = facts(run_fact(), checkpoint=checkpoint_fact(run_fact(), 6))
    refused(request(checkpointId="R2:6"), known, CheckpointOfEndedRun)
    decision = opened(request(), known)
    assert (decision.base.checkpoint_id, decision.base.cleared) == ("R2:6", True)


@pytest.mark.parametrize("phase", ["awaiting", "running"])
def test_the_last_checkpoint_of_a_run_not_ended_adopts_it(phase: Any) -> None:
    run = run_fact(phase=phase)
    decision = adopted(request(checkpointId="R2:6"), facts(run, checkpoint=checkpoint_fact(run, 6)))
    assert (decision.run_id, decision.run_epoch, decision.warnings) == ("R2", 2, ())
    assert decision.start.to_json() == {
        "source": "checkpoint",
        "passedOver": [
            {"source": "initialSnapshot", "why": "not given"},
            {"source": "thread", "why": "not consulted"},
        ],
    }


def test_an_earlier_checkpoint_supersedes_the_run_and_starts_a_new_branch() -> None:
    run = run_fact(phase="awaiting")
    decision = opened(
        request(checkpointId="R2:3", message="instead"),
        facts(run, checkpoint=checkpoint_fact(run, 3)),
    )
    assert decision.run_epoch == 3
    assert [ending.to_json() for ending in decision.ends] == [
        {"runId": "R2", "cause": {"kind": "Cancelled", "message": "superseded", "details": {}}}
    ]
    assert decision.base.to_json() == {
        "kind": "checkpoint",
        "checkpointId": "R2:3",
        "cleared": False,
    }
    assert (decision.branch, decision.opens_branch) == ("b2", True)
    assert decision.stands_on == BranchPoint(thread_id="alice", branch="main", up_to=23)
    assert decision.start.source == "checkpoint"
    assert [warning.to_json() for warning in decision.warnings] == [
        {
            "code": "effects_run_again",
            "message": "run R2 is ended as superseded and a new run starts at R2:3; effects of "
            "the old run behind it, up to R2:6, run again under new keys; it has begun none. "
            f"Its tickets are retired: {TICKET}.",
        }
    ]
