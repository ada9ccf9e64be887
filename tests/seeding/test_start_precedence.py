"""SG-12, clause 1: which source wins, for every combination of what can be given and found."""

from collections.abc import Iterator
from typing import Any

import pytest
from thread_facts import Phase, checkpoint_fact, facts, request, run_fact

from seeding.decisions import Adopt, Open, Restore, StartDecision
from seeding.errors import FermataError
from seeding.facts import BranchFact, ThreadFacts
from seeding.request import RunRequest
from seeding.start import resolve_start

# The columns are the phase of the thread's latest run. "-" cannot occur: a run's checkpoint
# without a run, or one of a run that has not ended beside a latest run that has.
TABLE = """
snapshot    checkpoint  abandon  none                  ended                 awaiting              running
none        none        no       fresh/main            thread/main           paused                thread/main+I
none        none        yes      fresh/main            thread/main           thread/main+A         thread/main+A
none        unknown     no       fresh/main!           fresh/b2!             ThreadBusy            ThreadBusy
none        unknown     yes      fresh/main!           fresh/b2!             fresh/b2!+A           fresh/b2!+A
none        refused     no       UnknownCheckpoint     UnknownCheckpoint     UnknownCheckpoint     UnknownCheckpoint
none        foreign     no       CheckpointThreadMismatch CheckpointThreadMismatch CheckpointThreadMismatch CheckpointThreadMismatch
none        of-ended    no       -                     CheckpointOfEndedRun  CheckpointOfEndedRun  CheckpointOfEndedRun
none        of-ended    yes      -                     CheckpointOfEndedRun  CheckpointOfEndedRun  CheckpointOfEndedRun
none        last        no       -                     -                     checkpoint            checkpoint
none        last        yes      -                     -                     InvalidRequest        InvalidRequest
none        earlier     no       -                     -                     checkpoint/b2!+S      checkpoint/b2!+S
given       none        no       initialSnapshot/main  initialSnapshot/b2    ThreadBusy            ThreadBusy
given       none        yes      initialSnapshot/main  initialSnapshot/b2    initialSnapshot/b2+A  initialSnapshot/b2+A
given       unknown     no       initialSnapshot/main  initialSnapshot/b2    ThreadBusy            ThreadBusy
given       refused     no       initialSnapshot/main  initialSnapshot/b2    ThreadBusy            ThreadBusy
given       foreign     no       initialSnapshot/main  initialSnapshot/b2    ThreadBusy            ThreadBusy
given       of-ended    no       -                     initialSnapshot/b2    ThreadBusy            ThreadBusy
given       last        yes      -                     -                     initialSnapshot/b2+A  initialSnapshot/b2+A
given       earlier     no       -                     -                     ThreadBusy            ThreadBusy
fork        none        no       forkFrom/main         forkFrom/b2           ThreadBusy            ThreadBusy
fork        none        yes      forkFrom/main         forkFrom/b2           forkFrom/b2+A         forkFrom/b2+A
fork        of-ended    no       -                     forkFrom/b2           ThreadBusy            ThreadBusy
lost-fork   none        no       UnknownCheckpoint     UnknownCheckpoint     UnknownCheckpoint     UnknownCheckpoint
terminal    none        no       TerminalSnapshot      TerminalSnapshot      TerminalSnapshot      TerminalSnapshot
terminal    of-ended    yes      -                     TerminalSnapshot      TerminalSnapshot      TerminalSnapshot
unreadable  none        no       UnreadableSnapshot    UnreadableSnapshot    UnreadableSnapshot    UnreadableSnapshot
unreadable  last        yes      -                     -                     UnreadableSnapshot    UnreadableSnapshot
"""  # noqa: E501

SNAPSHOTS: dict[str, dict[str, Any]] = {
    "none": {},
    "given": {"initialSnapshot": {}},
    "fork": {"forkFrom": "R9:6"},
    "lost-fork": {"forkFrom": "R9:99"},
    "terminal": {"initialSnapshot": {"status": "failed"}},
    "unreadable": {"initialSnapshot": []},
}


def cells() -> Iterator[Any]:
    header, *rows = [line.split() for line in TABLE.strip().splitlines()]
    for snapshot, checkpoint, abandon, *outcomes in rows:
        for latest, expected in zip(header[3:], outcomes, strict=True):
            if expected != "-":
                name = f"{snapshot} {checkpoint} {abandon} {latest}"
                yield pytest.param(snapshot, checkpoint, abandon, latest, expected, id=name)


def given_facts(snapshot: str, checkpoint: str, latest: str) -> ThreadFacts:
    phases: dict[str, Phase] = {"ended": "ended", "awaiting": "awaiting", "running": "running"}
    run = run_fact(phase=phases[latest]) if latest in phases else None
    changes: dict[str, Any] = {}
    if snapshot == "fork":
        changes["fork"] = checkpoint_fact(run_fact("R9", thread_id="bob"), 6)
    if checkpoint == "foreign":
        changes["checkpoint"] = checkpoint_fact(run_fact("R9", thread_id="bob"), 6)
    if checkpoint == "of-ended":
        changes["checkpoint"] = checkpoint_fact(run_fact("R1"), 3)
    if checkpoint in ("last", "earlier") and run is not None:
        changes["checkpoint"] = checkpoint_fact(run, 6 if checkpoint == "last" else 3)
    return facts(run, **changes)


def given_request(snapshot: str, checkpoint: str, abandon: str) -> RunRequest:
    fields = {**SNAPSHOTS[snapshot], "abandon": abandon == "yes"}
    if checkpoint != "none":
        fields["checkpointId"] = "some:1"
    if checkpoint == "refused":
        fields["config"] = {"onUnknownCheckpoint": "refuse"}
    return request(**fields)


def summary(decision: StartDecision) -> str:
    """Return a decision as the table writes it.

    The source; ``/branch`` of a new run; ``!`` for a warning about the named checkpoint; ``+``
    and the first letter of why the run before is ended.
    """
    assert not isinstance(decision, Restore)
    if isinstance(decision, Adopt):
        return decision.start.source
    mark = "" if decision.start.source == "thread" else "!" * len(decision.warnings)
    ends = "".join(f"+{_letter(decision, index)}" for index in range(len(decision.ends)))
    return f"{decision.start.source}/{decision.branch}{mark}{ends}"


def _letter(decision: Open, index: int) -> str:
    cause = decision.ends[index].cause
    return (cause.message or "")[0].upper() if cause.kind == "Cancelled" else cause.kind[0]


@pytest.mark.parametrize(("snapshot", "checkpoint", "abandon", "latest", "expected"), list(cells()))
def test_the_first_row_that_applies_wins(
    snapshot: str, checkpoint: str, abandon: str, latest: str, expected: str
) -> None:
    known = given_facts(snapshot, checkpoint, latest)
    try:
        outcome = summary(resolve_start(given_request(snapshot, checkpoint, abandon), known))
    except FermataError as error:
        outcome = type(error).__name__
    assert outcome == expected


@pytest.mark.parametrize("snapshot", ["given", "fork", "lost-fork", "terminal", "unreadable"])
@pytest.mark.parametrize("abandon", ["yes", "no"])
@pytest.mark.parametrize("latest", ["ended", "awaiting", "running"])
@pytest.mark.parametrize(
    "checkpoint", ["unknown", "refused", "foreign", "of-ended", "last", "earlier"]
)
def test_beside_an_explicit_snapshot_a_checkpoint_changes_nothing(
    snapshot: str, abandon: str, latest: str, checkpoint: str
) -> None:
    def outcome(named: str) -> object:
        known = given_facts(snapshot, named, latest)
        try:
            return resolve_start(given_request(snapshot, named, abandon), known)
        except FermataError as error:
            return type(error), error.message

    assert outcome(checkpoint) == outcome("none")


def test_a_branch_without_a_run_comes_last() -> None:
    branch = BranchFact(name="main", point=checkpoint_fact(run_fact("R9", thread_id="bob"), 6))
    lonely = facts(branch_count=1, branch_without_run=branch)
    assert summary(resolve_start(request(), lonely)) == "forkFrom/main"
    assert summary(resolve_start(request(initialSnapshot={}), lonely)) == "initialSnapshot/b2"
    assert summary(resolve_start(request(checkpointId="nope"), lonely)) == "fresh/b2!"
    beside = facts(run_fact(), branch_without_run=branch)
    assert summary(resolve_start(request(), beside)) == "thread/main"
