"""What stands in the way of a start while the thread's latest run has not ended."""

from seeding.decisions import RunEnding, Source
from seeding.errors import ThreadBusy
from seeding.facts import RunFact, ThreadFacts
from seeding.request import RunRequest
from seeding.run_endings import ABANDONED, cancelled


def check_owner_is_here(request: RunRequest, facts: ThreadFacts, run: RunFact) -> None:
    """Refuse to take over, unasked, what another namespace may still execute.

    Raises:
        ThreadBusy: The owner is elsewhere, and the request neither recovers nor abandons.
    """
    elsewhere = run.namespace and facts.namespace and run.namespace != facts.namespace
    if elsewhere and not (request.recover or request.abandon):
        raise ThreadBusy(
            f"{_open_run(facts.thread_id, run)}; it belongs to namespace {run.namespace!r} and "
            f"may still be executed there, this start is in {facts.namespace!r}. If it is not, "
            "start with recover to go on with it here, or with abandon to end it",
            runId=run.run_id,
            tickets=list(run.tickets),
            namespace=run.namespace,
        )


def leave_latest(request: RunRequest, facts: ThreadFacts, because: str) -> tuple[RunEnding, ...]:
    """Return what has to end before the thread's latest state is left behind.

    Raises:
        ThreadBusy: The latest run has not ended and the request does not abandon it.
    """
    latest = facts.latest
    if latest is None or latest.has_ended:
        return ()
    if request.abandon:
        return (cancelled(latest, ABANDONED),)
    raise ThreadBusy(
        f"{_open_run(facts.thread_id, latest)}; {because}, which would leave that run behind. "
        f"{_what_works(latest)}",
        runId=latest.run_id,
        tickets=list(latest.tickets),
    )


def cannot_take(thread_id: str, run: RunFact, source: Source) -> ThreadBusy:
    """Return the refusal of content for a run that goes on as it is."""
    return ThreadBusy(
        f"{_open_run(thread_id, run)}; it would go on as it is (source {source}), and a message, "
        f"input, data or metadata cannot be put into it. {_what_works(run)}",
        runId=run.run_id,
        tickets=list(run.tickets),
    )


def _open_run(thread_id: str, run: RunFact) -> str:
    doing = f"is awaiting {', '.join(run.tickets)}" if run.tickets else f"is {run.phase}"
    return f"run {run.run_id} of thread {thread_id!r} has not ended and {doing}"


def _what_works(run: RunFact) -> str:
    """Return what a caller can do about a run whose workflow is gone."""
    if run.phase == "awaiting":
        return (
            "Its workflow is gone; a start without any of these takes it over, so that it can be "
            "answered, and abandon ends it first"
        )
    return (
        "Its workflow is gone; recover goes on with it, abandon ends it first, and a start "
        "without any of these ends it as Indeterminate and is the thread's next turn"
    )
