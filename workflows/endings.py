"""Why a run should end now: one pure rule over what is held and what has been asked for."""

from seeding.commits import EndCause
from workflows.held import Held
from workflows.inbox_model import CancelRequest
from workflows.scheduler import Ending, Plan, is_finished, report


def cancelled_cause(reason: str | None) -> EndCause:
    """Return the cause of a run that somebody cancelled."""
    return EndCause(kind="Cancelled", message=reason)


def reason_to_end(
    plan: Plan, held: Held, cancel: CancelRequest | None, ending: Ending | None
) -> Ending | None:
    """Return the end that is at hand, or None while the run goes on.

    A cancel wins over everything else (contract 3), then an end that took the place of a
    commit (SG-14), then the verdict of a failure or a stop (ORC-11), then the natural end:
    nothing is due and nobody is waited for.

    Args:
        plan: The plan of the pinned graph.
        held: What is held.
        cancel: The accepted cancel.
        ending: The end that took the place of a commit.
    """
    if cancel is not None:
        return Ending(cause=cancelled_cause(cancel.reason), report={})
    if ending is not None:
        return ending
    if held.head.verdict is not None:
        cause = EndCause.model_validate(held.head.verdict)
        return Ending(cause=cause, report=report(plan, held.position))
    if is_finished(held.position) and not held.tickets:
        return Ending(cause=EndCause(kind="NaturalEnd"), report=report(plan, held.position))
    return None
