"""Which decisions of the start table this version can carry out.

The table is whole; what goes on with a run whose workflow is gone, or starts from a stored
checkpoint, is refused here by name until it can be executed. Then this module is deleted.
"""

from seeding.decisions import Adopt, Open, StartDecision
from seeding.errors import NotAvailable
from seeding.start import ABANDONED, SUPERSEDED

_ELSEWHERE = (
    "start another thread with its state as initialSnapshot (fermata state THREAD --checkpoint "
    "ID --json)"
)


def executable(decision: StartDecision) -> None:
    """Pass a decision that can be carried out.

    Raises:
        NotAvailable: It cannot be yet; the message says what it would do and what the caller
            can do meanwhile. Nothing was written.
    """
    refused = _refusal(decision)
    if refused is not None:
        raise NotAvailable(refused)


def _refusal(decision: StartDecision) -> str | None:
    if isinstance(decision, Adopt):
        return _adopting(decision)
    if isinstance(decision, Open):
        return _opening(decision)
    return None


def _adopting(decision: Adopt) -> str:
    if decision.start.source == "recovered":
        return (
            f"recover would go on with run {decision.run_id} from its last commit, which is not "
            "available in this version; without recover the run is ended as Indeterminate and "
            "the thread's next turn starts"
        )
    return (
        f"this start would adopt run {decision.run_id}, whose workflow is gone, and go on with "
        "it untouched, which is not available in this version; the run stays in the log as it "
        f"is. Meanwhile {_ELSEWHERE}"
    )


def _opening(decision: Open) -> str | None:
    point = decision.base.checkpoint_id
    if decision.start.source == "forkFrom":
        return (
            f"forkFrom would open a run on a new branch from checkpoint {point}, which is not "
            f"available in this version; meanwhile {_ELSEWHERE}, with status null and "
            "isComplete false where the checkpoint is a run's end"
        )
    reasons = {ending.cause.message: ending.run_id for ending in decision.ends}
    if SUPERSEDED in reasons:
        return (
            f"this start would end run {reasons[SUPERSEDED]} as superseded and open a run on a "
            f"new branch from its checkpoint {point}, which is not available in this version; "
            f"the run stays in the log as it is. Meanwhile {_ELSEWHERE}"
        )
    if ABANDONED in reasons:
        return (
            f"abandon would end run {reasons[ABANDONED]}, whose workflow is gone, as cancelled "
            "before the new one opens, which is not available in this version; the run stays "
            f"in the log as it is. Meanwhile start on another thread, or {_ELSEWHERE}"
        )
    return None
