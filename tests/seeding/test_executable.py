"""What this version refuses to carry out, by name, and what it carries out."""

import pytest
from thread_facts import Phase, checkpoint_fact, facts, request, run_fact

from seeding.errors import NotAvailable
from seeding.executable import executable
from seeding.facts import BranchFact, ThreadFacts
from seeding.request import RunRequest
from seeding.start import resolve_start

AWAITING = run_fact(phase="awaiting")
RUNNING = run_fact(phase="running")


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        (request(), facts()),
        (request(), facts(run_fact())),
        (request(), facts(RUNNING)),
        (request(checkpointId="nope"), facts(run_fact())),
        (request(initialSnapshot={}), facts(run_fact())),
        (request(abandon=True), facts(run_fact())),
        (request(), facts(run_fact(), chain_run=AWAITING)),
    ],
    ids=["fresh", "thread", "lost", "unknown", "snapshot", "nothing to abandon", "restore"],
)
def test_these_decisions_are_carried_out(asked: RunRequest, known: ThreadFacts) -> None:
    executable(resolve_start(asked, known))


@pytest.mark.parametrize(
    ("asked", "known", "said"),
    [
        (request(), facts(AWAITING), "would adopt run R2"),
        (
            request(checkpointId="R2:6"),
            facts(AWAITING, checkpoint=checkpoint_fact(AWAITING, 6)),
            "would adopt run R2",
        ),
        (request(recover=True), facts(RUNNING), "recover would go on with run R2"),
        (
            request(checkpointId="R2:3"),
            facts(AWAITING, checkpoint=checkpoint_fact(AWAITING, 3)),
            "would end run R2 as superseded .* from its checkpoint R2:3",
        ),
        (
            request(forkFrom="R2:6"),
            facts(run_fact(), fork=checkpoint_fact(run_fact(), 6)),
            "forkFrom would open a run on a new branch from checkpoint R2:6",
        ),
        (
            request(),
            facts(branch_without_run=BranchFact(name="main", point=checkpoint_fact(RUNNING, 3))),
            "forkFrom would open",
        ),
        (request(abandon=True), facts(AWAITING), "abandon would end run R2"),
        (request(abandon=True, initialSnapshot={}), facts(RUNNING), "abandon would end run R2"),
    ],
)
def test_these_are_refused_by_name_with_a_way_on(
    asked: RunRequest, known: ThreadFacts, said: str
) -> None:
    with pytest.raises(NotAvailable, match=f"{said}.*not available in this version"):
        executable(resolve_start(asked, known))


def test_a_restore_is_carried_out_in_every_phase() -> None:
    phases: tuple[Phase, ...] = ("running", "awaiting", "ended")
    for phase in phases:
        executable(resolve_start(request(), facts(chain_run=run_fact(phase=phase))))
