"""SG-12: a start never takes over, and never ends, what another namespace may still execute."""

from typing import Any

import pytest
from thread_facts import Phase, adopted, checkpoint_fact, facts, opened, refused, request, run_fact

from seeding.errors import ThreadBusy
from seeding.facts import ThreadFacts, is_elsewhere

OPEN_PHASES: tuple[Phase, ...] = ("awaiting", "running")
ROWS: dict[str, dict[str, Any]] = {
    "latest run": {},
    "snapshot": {"initialSnapshot": {}},
    "fork": {"forkFrom": "R1:6"},
    "unknown checkpoint": {"checkpointId": "nope"},
}
WISHES: dict[str, dict[str, Any]] = {
    "plain": {},
    "recover": {"recover": True},
    "abandon": {"abandon": True},
    "message": {"message": "hi"},
}


def owned_by(namespace: str | None, phase: Phase, **changes: Any) -> ThreadFacts:
    """A thread whose latest run another start, in namespace ``us``, finds as ``namespace``'s."""
    run = run_fact(phase=phase, namespace=namespace, **changes)
    return facts(run, namespace="us", fork=checkpoint_fact(run_fact("R1"), 6))


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("phase", OPEN_PHASES)
def test_a_run_of_another_namespace_is_busy_whatever_the_start_wishes(
    row: str, wish: str, phase: Phase
) -> None:
    asked = request(**ROWS[row], **WISHES[wish])
    doing = "is awaiting R2:gate:0:0" if phase == "awaiting" else "is running"
    assert refused(asked, owned_by("eu", phase), ThreadBusy) == (
        f"run R2 of thread 'alice' has not ended and {doing}; it belongs to namespace 'eu' and may "
        "still be executed there, this start is in 'us', which neither takes it over nor ends it. "
        "See to it there: TEMPORAL_NAMESPACE=eu fermata reconcile alice; or go on beside it on "
        "another thread: fermata fork alice --at R2:6 --to THREAD"
    )


@pytest.mark.parametrize("ordinal", [3, 6], ids=["earlier", "last"])
@pytest.mark.parametrize("recover", [False, True])
@pytest.mark.parametrize("phase", OPEN_PHASES)
def test_nor_is_one_of_its_checkpoints_gone_back_to(
    ordinal: int, recover: bool, phase: Phase
) -> None:
    run = run_fact(phase=phase, namespace="eu")
    known = facts(run, namespace="us", checkpoint=checkpoint_fact(run, ordinal))
    said = refused(request(checkpointId=f"R2:{ordinal}", recover=recover), known, ThreadBusy)
    assert "it belongs to namespace 'eu'" in said


def test_one_that_made_no_progress_is_not_ended_from_elsewhere_either() -> None:
    """AW-14 holds where the run belongs."""
    refused(request(recover=True), owned_by("eu", "running", takeovers=5), ThreadBusy)
    decision = opened(request(recover=True), owned_by("us", "running", takeovers=5))
    assert [ending.cause.kind for ending in decision.ends] == ["Indeterminate"]


@pytest.mark.parametrize("namespace", ["us", "", None])
def test_at_home_or_where_no_namespace_was_recorded_it_goes_on_and_is_abandoned(
    namespace: str | None,
) -> None:
    for phase in OPEN_PHASES:
        known = owned_by(namespace, phase)
        assert adopted(request(recover=True), known).run_id == "R2"
        assert opened(request(abandon=True), known).ends[0].cause.message == "abandoned"


def test_a_run_that_has_ended_belongs_to_nobody() -> None:
    assert opened(request(), owned_by("eu", "ended")).start.source == "thread"


@pytest.mark.parametrize(
    ("owner", "here", "elsewhere"),
    [
        ("eu", "us", True),
        ("us", "us", False),
        ("", "us", False),
        (None, "us", False),
        ("eu", "", False),
        ("eu", None, False),
    ],
)
def test_an_owner_is_elsewhere_only_where_both_namespaces_are_known(
    owner: str | None, here: str | None, elsewhere: bool
) -> None:
    assert is_elsewhere(owner, here) is elsewhere
