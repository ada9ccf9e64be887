"""What stands in the way of a start while the thread's latest run has not ended."""

from shlex import quote

from seeding.decisions import RunEnding, Source
from seeding.errors import ThreadBusy
from seeding.facts import RunFact, ThreadFacts, is_elsewhere
from seeding.request import RunRequest
from seeding.run_endings import ABANDONED, cancelled


def check_owner_is_here(run: RunFact, namespace: str | None) -> None:
    """Refuse to take over or to end what another namespace may still execute.

    Neither ``recover`` nor ``abandon`` changes that: whoever asks from elsewhere cannot know.

    Args:
        run: A run that has not ended.
        namespace: The namespace of the execution that starts; None is not known.

    Raises:
        ThreadBusy: The owner is elsewhere.
    """
    if not is_elsewhere(run.namespace, namespace):
        return
    thread = quote(run.thread_id)
    raise ThreadBusy(
        f"{_open_run(run.thread_id, run)}; it belongs to namespace {run.namespace!r} and may still "
        f"be executed there, this start is in {namespace!r}, which neither takes it over nor ends "
        f"it. See to it there: TEMPORAL_NAMESPACE={quote(run.namespace or '')} fermata reconcile "
        f"{thread}; or go on beside it on another thread: fermata fork {thread} --at "
        f"{run.last_checkpoint} --to THREAD",
        runId=run.run_id,
        tickets=list(run.tickets),
        namespace=run.namespace,
    )


def leave_latest(request: RunRequest, facts: ThreadFacts, because: str) -> tuple[RunEnding, ...]:
    """Return what has to end before the thread's latest state is left behind.

    Raises:
        ThreadBusy: The latest run has not ended, and the request does not abandon it or another
            namespace owns it.
    """
    latest = facts.latest
    if latest is None or latest.has_ended:
        return ()
    check_owner_is_here(latest, facts.namespace)
    if request.abandon:
        return (cancelled(latest, ABANDONED),)
    raise ThreadBusy(
        f"{_open_run(facts.thread_id, latest)}; {because}, which would leave that run behind. "
        f"{_what_works(latest)}",
        runId=latest.run_id,
        tickets=list(latest.tickets),
    )


def check_queue(request: RunRequest, facts: ThreadFacts) -> None:
    """Refuse a new run that would go before the turns that came first (KU-35).

    Raises:
        ThreadBusy: Turns are queued, and the request is none of them and abandons nothing.
    """
    if not facts.queued or request.queued_turn is not None or request.abandon:
        return
    thread = quote(facts.thread_id)
    turns = "1 turn is" if facts.queued == 1 else f"{facts.queued} turns are"
    raise ThreadBusy(
        f"{turns} queued on thread {facts.thread_id!r} and come first; queue this one behind them "
        f"with config.onBusy 'queue', or see to them: fermata queue {thread}",
        runId=None,
        tickets=[],
        queued=facts.queued,
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
