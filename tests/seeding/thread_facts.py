"""Facts and requests for the tests of the start table: one thread, ``alice``, three runs.

``R1`` has ended; ``R2`` is opened last. A fact is built with defaults and changed by keyword.
"""

from typing import Any, Literal

import pytest

from seeding.decisions import Adopt, Open
from seeding.errors import FermataError
from seeding.facts import CheckpointFact, RunFact, ThreadFacts
from seeding.request import RunRequest
from seeding.start import resolve_start

THREAD = "alice"
TICKET = "R2:gate:0:0"
Phase = Literal["running", "awaiting", "ended"]


def run_fact(run_id: str = "R2", phase: Phase = "ended", **changes: Any) -> RunFact:
    """A run of the thread, in branch ``main``, with seven commits."""
    fields: dict[str, Any] = {
        "thread_id": THREAD,
        "branch": "main",
        "run_epoch": 2 if run_id == "R2" else 1,
        "last_ordinal": 6,
        "graph": "expense-review@0123456789abcdef",
    }
    if phase == "awaiting":
        fields["tickets"] = (TICKET,)
    if phase == "ended":
        fields["cause"] = "NaturalEnd"
    return RunFact(run_id=run_id, phase=phase, **{**fields, **changes})


def checkpoint_fact(run: RunFact, ordinal: int, **changes: Any) -> CheckpointFact:
    """A checkpoint of ``run``; its version is its ordinal plus 10 times the run's epoch."""
    fields: dict[str, Any] = {
        "checkpoint_id": f"{run.run_id}:{ordinal}",
        "run": run,
        "ordinal": ordinal,
        "thread_id": run.thread_id,
        "version": 10 * run.run_epoch + ordinal,
        "branch": run.branch,
        "is_last_of_run": ordinal == run.last_ordinal,
    }
    return CheckpointFact(**{**fields, **changes})


def facts(latest: RunFact | None = None, **changes: Any) -> ThreadFacts:
    """Facts of the thread with ``latest`` as its run opened last; none without it."""
    fields: dict[str, Any] = {"thread_id": THREAD, "latest": latest}
    if latest is not None:
        fields |= {"version": 27, "highest_epoch": latest.run_epoch, "branch_count": 1}
    return ThreadFacts(**{**fields, **changes})


def request(**fields: Any) -> RunRequest:
    """A request for ``expense-review`` on the thread."""
    return RunRequest.model_validate({"graph": "expense-review", "threadId": THREAD, **fields})


def opened(asked: RunRequest, known: ThreadFacts) -> Open:
    """The decision of a start that opens a run."""
    decision = resolve_start(asked, known)
    assert isinstance(decision, Open)
    return decision


def adopted(asked: RunRequest, known: ThreadFacts) -> Adopt:
    """The decision of a start that adopts a run."""
    decision = resolve_start(asked, known)
    assert isinstance(decision, Adopt)
    return decision


def refused(asked: RunRequest, known: ThreadFacts, kind: type[FermataError]) -> str:
    """The message of a start that is refused."""
    with pytest.raises(kind) as caught:
        resolve_start(asked, known)
    return caught.value.message


ENDED = facts(run_fact())
AWAITING = facts(run_fact(phase="awaiting"))
RUNNING = facts(run_fact(phase="running", lost_because="terminated"))
