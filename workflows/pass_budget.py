"""The budget of scheduler passes: a run that has spent it pauses, and goes on when told (ORC-10).

A pass is a step that dispatched an effect. This budget has nothing to do with the rounds of a loop
(SG-7) and with the run's iterations (SG-14): lifting the pause renews it and neither of those.
"""

from seeding.commits import PositionHead
from workflows.held import Held
from workflows.scheduler import due

REASON = "max_passes"
"""Reason of a pause that a spent budget makes."""

RENEWED_AT = "passesRenewedAt"
"""Counter of the passes that lie before the present budget."""


def is_spent(held: Held) -> bool:
    """Return whether the effects that are due are past the budget, and are not to be begun.

    What was dispatched within the budget comes to its end and is committed; control nodes are
    no passes and go on.
    """
    most = held.facts.config.max_passes
    counters = held.head.counters
    if most is None or counters.get("passes", 0) - counters.get(RENEWED_AT, 0) <= most:
        return False
    return any(execution.kind == "effect" for execution in due(held.position))


def said_of(held: Held) -> str:
    """Return what the pause says for people."""
    most = held.facts.config.max_passes
    return f"{most} {'step has' if most == 1 else 'steps have'} called nodes (config.maxPasses)"


def renewed(head: PositionHead) -> dict[str, int]:
    """Return the counter of a budget that begins at a position.

    What is due there counts as one pass of it, however many steps dispatched it.
    """
    return {RENEWED_AT: max(0, head.counters.get("passes", 0) - 1)}


def paused_reason(held: Held) -> str | None:
    """Return why the run paused by itself; None where it is not paused or a person did it."""
    pause = held.pause
    return pause.reason if pause is not None and pause.is_by_budget else None
