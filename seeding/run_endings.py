"""How a start ends the run it finds open: abandoned, superseded, or lost (design, section 3)."""

from seeding.commits import EndCause
from seeding.decisions import RunEnding
from seeding.facts import RunFact

SUPERSEDED = "superseded"
ABANDONED = "abandoned"

MAX_TAKEOVERS = 5
"""How often a run left running is taken over without a commit in between."""


def cancelled(run: RunFact, reason: str) -> RunEnding:
    """Return the end of a run that a caller leaves behind."""
    return RunEnding(run_id=run.run_id, cause=EndCause(kind="Cancelled", message=reason))


def is_spent(run: RunFact) -> bool:
    """Return whether a run was taken over so often that it is not taken over again (AW-14)."""
    return run.takeovers >= MAX_TAKEOVERS


def lost_cause(run: RunFact) -> EndCause:
    """Return the cause of a run left running that nothing executes any more."""
    if is_spent(run):
        said = f"it was taken over {run.takeovers} times without a commit"
        return EndCause(
            kind="Indeterminate",
            message=f"the run was left running and {said}",
            details={"reason": "no progress", "takeovers": run.takeovers},
        )
    reason = run.lost_because or "unknown"
    return EndCause(
        kind="Indeterminate",
        message=f"the run's workflow is gone and its last commit is Running; reason: {reason}",
        details={"reason": reason},
    )
