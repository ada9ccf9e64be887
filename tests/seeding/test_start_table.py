"""SG-12: the rows of the start table where no checkpoint is named, with their provenance."""

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
from seeding.decisions import Restore
from seeding.errors import (
    InvalidRequest,
    TerminalSnapshot,
    ThreadBusy,
    UnknownCheckpoint,
    UnreadableSnapshot,
)
from seeding.facts import BranchFact, ThreadFacts
from seeding.request import RunRequest
from seeding.start import resolve_start

NOT_GIVEN = [
    {"source": "initialSnapshot", "why": "not given"},
    {"source": "checkpoint", "why": "not given"},
]


def test_nothing_given_on_a_new_thread_is_fresh_on_main_fd_11() -> None:
    assert opened(request(), facts()).to_json() == {
        "kind": "open",
        "runEpoch": 1,
        "branch": "main",
        "opensBranch": True,
        "standsOn": None,
        "base": {"kind": "none", "checkpointId": None, "cleared": False},
        "ends": [],
        "threadVersion": 0,
        "start": {
            "source": "fresh",
            "passedOver": [*NOT_GIVEN, {"source": "thread", "why": "no run yet"}],
        },
        "warnings": [],
    }


def test_an_ended_run_is_followed_by_the_next_turn_cleared() -> None:
    assert opened(request(message="go on"), ENDED).to_json() == {
        "kind": "open",
        "runEpoch": 3,
        "branch": "main",
        "opensBranch": False,
        "standsOn": None,
        "base": {"kind": "thread", "checkpointId": "R2:6", "cleared": True},
        "ends": [],
        "threadVersion": 27,
        "start": {"source": "thread", "passedOver": NOT_GIVEN},
        "warnings": [],
    }


@pytest.mark.parametrize(
    "cause",
    [
        "NaturalEnd",
        "Stopped",
        "MaxIterations",
        "Cancelled",
        "Error",
        "FailedVerification",
        "Indeterminate",
    ],
)
def test_every_cause_seeds_the_next_turn(cause: Any) -> None:
    decision = opened(request(), facts(run_fact(cause=cause)))
    assert (decision.start.source, decision.base.cleared) == ("thread", True)


def test_the_next_turn_goes_on_in_the_branch_of_the_latest_run() -> None:
    decision = opened(request(), facts(run_fact(branch="b2"), branch_count=2))
    assert (decision.branch, decision.opens_branch) == ("b2", False)


def test_the_epoch_is_the_threads_highest_plus_one() -> None:
    assert opened(request(), facts(run_fact(), highest_epoch=9)).run_epoch == 10


def test_an_awaiting_run_is_adopted_untouched_under_its_own_id() -> None:
    assert adopted(request(), AWAITING).to_json() == {
        "kind": "adopt",
        "runId": "R2",
        "runEpoch": 2,
        "queuesContent": False,
        "start": {"source": "paused", "passedOver": NOT_GIVEN},
        "warnings": [],
    }


def test_a_run_left_running_is_ended_as_indeterminate_and_followed_by_a_turn() -> None:
    decision = opened(request(message="again"), RUNNING)
    assert decision.start.to_json() == {"source": "thread", "passedOver": NOT_GIVEN}
    assert [ending.to_json() for ending in decision.ends] == [
        {
            "runId": "R2",
            "cause": {
                "kind": "Indeterminate",
                "message": "the run's workflow is gone and its last commit is Running; "
                "reason: terminated",
                "details": {"reason": "terminated"},
            },
        }
    ]
    assert decision.base.to_json() == {
        "kind": "thread",
        "checkpointId": "R2:6",
        "cleared": True,
    }
    assert [warning.code for warning in decision.warnings] == ["run_was_lost"]
    assert "R2 was left running at R2:6" in decision.warnings[0].message


def test_the_reason_is_unknown_once_temporal_has_forgotten_it() -> None:
    decision = opened(request(), facts(run_fact(phase="running")))
    assert decision.ends[0].cause.details == {"reason": "unknown"}


def test_recover_goes_on_with_a_run_left_running() -> None:
    decision = adopted(request(recover=True), RUNNING)
    assert (decision.run_id, decision.run_epoch) == ("R2", 2)
    assert decision.start.to_json() == {"source": "recovered", "passedOver": NOT_GIVEN}


@pytest.mark.parametrize(("known", "source"), [(ENDED, "thread"), (AWAITING, "paused")])
def test_recover_matters_only_for_a_run_left_running(known: ThreadFacts, source: str) -> None:
    decision = resolve_start(request(recover=True), known)
    assert decision == resolve_start(request(), known)
    assert decision.start is not None
    assert decision.start.source == source


def test_a_branch_that_a_fork_left_is_started_from_its_point() -> None:
    point = checkpoint_fact(run_fact("R1", thread_id="bob"), 6)
    known = facts(
        version=1, branch_count=1, branch_without_run=BranchFact(name="main", point=point)
    )
    decision = opened(request(), known)
    assert (decision.branch, decision.opens_branch, decision.run_epoch) == ("main", False, 1)
    assert decision.base.to_json() == {
        "kind": "checkpoint",
        "checkpointId": "R1:6",
        "cleared": True,
    }
    assert decision.start.to_json() == {
        "source": "forkFrom",
        "passedOver": [*NOT_GIVEN, {"source": "thread", "why": "no run yet"}],
    }


@pytest.mark.parametrize("phase", ["running", "awaiting", "ended"])
def test_a_chain_that_opened_a_run_restores_it_and_skips_the_table(phase: Any) -> None:
    own = run_fact("R1", phase, start={"source": "fresh", "passedOver": []})
    asked = request(initialSnapshot="unreadable", checkpointId="nope", abandon=True, recover=True)
    assert resolve_start(asked, facts(run_fact(), chain_run=own)) == Restore(
        run_id="R1", run_epoch=1, has_ended=phase == "ended", start=own.start
    )


def test_an_explicit_snapshot_wins_and_nothing_else_is_consulted() -> None:
    decision = opened(request(initialSnapshot={}), ENDED)
    assert decision.base.to_json() == {"kind": "snapshot", "checkpointId": None, "cleared": False}
    assert (decision.branch, decision.opens_branch, decision.stands_on) == ("b2", True, None)
    assert decision.start.to_json() == {
        "source": "initialSnapshot",
        "passedOver": [
            {"source": "checkpoint", "why": "not consulted"},
            {"source": "thread", "why": "not consulted"},
        ],
    }


def test_an_explicit_snapshot_beats_a_checkpoint_that_would_be_refused_fd_7() -> None:
    ended = run_fact("R1")
    known = facts(run_fact(), checkpoint=checkpoint_fact(ended, 6))
    decision = opened(request(initialSnapshot={"data": {"k": 1}}, checkpointId="R1:6"), known)
    assert decision.start.source == "initialSnapshot"
    assert decision.warnings == ()


def test_the_first_run_of_a_thread_is_on_main_also_from_a_snapshot() -> None:
    decision = opened(request(initialSnapshot={}), facts())
    assert (decision.branch, decision.opens_branch) == ("main", True)


def test_a_terminal_snapshot_is_refused_naming_its_status_fd_9() -> None:
    asked = request(initialSnapshot={"status": "completed"})
    assert "status 'completed'" in refused(asked, ENDED, TerminalSnapshot)


@pytest.mark.parametrize("snapshot", [[], "x", 0, False, {"messages": 1}])
def test_an_unreadable_snapshot_is_never_a_fresh_start_fd_9(snapshot: Any) -> None:
    refused(request(initialSnapshot=snapshot), facts(), UnreadableSnapshot)


@pytest.mark.parametrize("known", [AWAITING, RUNNING], ids=["awaiting", "running"])
def test_a_snapshot_while_a_run_has_not_ended_is_busy(known: ThreadFacts) -> None:
    said = refused(request(initialSnapshot={}), known, ThreadBusy)
    assert said.startswith("run R2 of thread 'alice' has not ended")
    assert "Its workflow is gone" in said


@pytest.mark.parametrize(
    "asked", [request(initialSnapshot={}), request(message="more")], ids=["left", "put into"]
)
def test_what_is_said_of_a_paused_run_that_is_in_the_way_can_be_done(asked: RunRequest) -> None:
    said = refused(asked, AWAITING, ThreadBusy)
    assert "a start without any of these takes it over" in said
    assert adopted(request(), AWAITING).run_id == "R2"
    assert "abandon ends it first" in said
    assert opened(asked.model_copy(update={"abandon": True}), AWAITING).ends[0].run_id == "R2"


def test_what_is_said_of_a_run_left_running_that_is_in_the_way_can_be_done() -> None:
    said = refused(request(message="more", recover=True), RUNNING, ThreadBusy)
    assert "recover goes on with it, abandon ends it first" in said
    assert "without any of these ends it as Indeterminate and is the thread's next turn" in said
    assert adopted(request(recover=True), RUNNING).start.source == "recovered"
    assert opened(request(message="more"), RUNNING).ends[0].cause.kind == "Indeterminate"


def test_an_abandoned_run_is_ended_as_cancelled_in_the_same_transaction() -> None:
    decision = opened(request(initialSnapshot={}, abandon=True), AWAITING)
    assert [ending.to_json() for ending in decision.ends] == [
        {"runId": "R2", "cause": {"kind": "Cancelled", "message": "abandoned", "details": {}}}
    ]


def test_abandon_without_a_run_to_abandon_ends_nothing() -> None:
    assert opened(request(initialSnapshot={}, abandon=True), ENDED).ends == ()


def test_a_fork_at_a_runs_end_is_the_next_turn_of_that_prefix() -> None:
    known = facts(run_fact(), fork=checkpoint_fact(run_fact("R1"), 6))
    decision = opened(request(forkFrom="R1:6"), known)
    assert decision.base.to_json() == {
        "kind": "checkpoint",
        "checkpointId": "R1:6",
        "cleared": True,
    }
    assert (decision.branch, decision.opens_branch) == ("b2", True)
    assert decision.stands_on == BranchPoint(thread_id="alice", branch="main", up_to=16)
    assert decision.start.to_json() == {
        "source": "forkFrom",
        "passedOver": [
            {"source": "initialSnapshot", "why": "not given"},
            {"source": "checkpoint", "why": "not consulted"},
            {"source": "thread", "why": "not consulted"},
        ],
    }


def test_a_fork_elsewhere_takes_the_position() -> None:
    known = facts(run_fact(), fork=checkpoint_fact(run_fact("R1"), 3))
    base = opened(request(forkFrom="R1:3"), known).base
    assert (base.checkpoint_id, base.cleared) == ("R1:3", False)


def test_a_fork_of_a_run_that_awaits_on_another_thread_takes_its_position() -> None:
    waiting = run_fact("R9", "awaiting", thread_id="bob")
    decision = opened(request(forkFrom="R9:6"), facts(fork=checkpoint_fact(waiting, 6)))
    assert decision.base.cleared is False
    assert decision.branch == "main"
    assert decision.stands_on == BranchPoint(thread_id="bob", branch="main", up_to=16)


def test_a_fork_from_nowhere_is_always_refused() -> None:
    for policy in ("fresh", "refuse"):
        asked = request(forkFrom="R1:99", config={"onUnknownCheckpoint": policy})
        assert "'R1:99'" in refused(asked, ENDED, UnknownCheckpoint)


def test_a_fork_while_a_run_has_not_ended_is_busy_unless_abandoned() -> None:
    known = facts(run_fact(phase="awaiting"), fork=checkpoint_fact(run_fact("R1"), 6))
    assert TICKET in refused(request(forkFrom="R1:6"), known, ThreadBusy)
    decision = opened(request(forkFrom="R1:6", abandon=True), known)
    assert [ending.cause.message for ending in decision.ends] == ["abandoned"]


def test_a_run_taken_over_five_times_without_a_commit_is_ended_recover_or_not() -> None:
    """AW-14."""
    spent = facts(run_fact(phase="running", takeovers=5, lost_because="terminated"))
    decision = opened(request(recover=True), spent)
    assert decision.start.source == "thread"
    assert [ending.to_json() for ending in decision.ends] == [
        {
            "runId": "R2",
            "cause": {
                "kind": "Indeterminate",
                "message": "the run was left running and it was taken over 5 times without a "
                "commit",
                "details": {"reason": "no progress", "takeovers": 5},
            },
        }
    ]
    assert [warning.code for warning in decision.warnings] == ["run_was_lost"]
    once_less = facts(run_fact(phase="running", takeovers=4))
    assert adopted(request(recover=True), once_less).start.source == "recovered"


def test_a_run_that_waits_may_be_taken_over_as_often_as_it_takes() -> None:
    """AW-14: reaching Awaiting resets the count."""
    waiting = facts(run_fact(phase="awaiting", takeovers=9))
    assert adopted(request(), waiting).start.source == "paused"


def test_an_ephemeral_run_is_no_point_to_fork_from() -> None:
    run = run_fact("R1", config={"checkpointStore": "ephemeral"})
    known = facts(run_fact(), fork=checkpoint_fact(run, 6))
    said = refused(request(forkFrom="R1:6"), known, InvalidRequest)
    assert said.startswith("forkFrom R1:6 is of an ephemeral run")


def test_a_rewind_names_the_effects_that_run_again_and_keeps_the_graph_of_the_position() -> None:
    run = run_fact(phase="awaiting")
    point = checkpoint_fact(run, 3, effects_behind=("pay:0 (done)", "mail:1 (begun)"))
    known = facts(run, checkpoint=point, requested_graph="expense-review@ffffffffffffffff")
    warnings = opened(request(checkpointId="R2:3"), known).warnings
    assert [warning.code for warning in warnings] == ["effects_run_again", "pinned_graph"]
    assert "run again under new keys: pay:0 (done), mail:1 (begun)." in warnings[0].message
    assert warnings[1].message == (
        "the position is of graph expense-review@0123456789abcdef, which goes on; not "
        "expense-review@ffffffffffffffff"
    )


def test_a_fork_from_the_middle_of_an_ended_run_goes_on_at_its_position() -> None:
    point = checkpoint_fact(run_fact("R1"), 3, effects_behind=("pay:0 (done)",))
    decision = opened(request(forkFrom="R1:3"), facts(run_fact(), fork=point))
    assert decision.goes_on_at == "R1:3"
    assert [warning.code for warning in decision.warnings] == ["effects_run_again"]
    end = checkpoint_fact(run_fact("R1"), 6, effects_behind=())
    at_end = opened(request(forkFrom="R1:6"), facts(run_fact(), fork=end))
    assert (at_end.goes_on_at, at_end.warnings) == (None, ())
