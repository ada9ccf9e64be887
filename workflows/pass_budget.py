"""The budget of scheduler passes: a run that has spent it pauses, and goes on when told (ORC-10).

A pass is a step that dispatched an effect. This budget has nothing to do with the rounds of a loop
(SG-7) and with the run's iterations (SG-14): lifting the pause renews it and neither of those.

What a step within the budget dispatched is called and comes to its end, whatever is committed
together with it and whoever takes the run over meanwhile; what a later step dispatched is due and
is not called. Both follow from what is held alone.
"""

from collections.abc import Callable

from seeding.commits import PositionHead
from workflows.held import Held
from workflows.scheduler import Execution, Step, due

REASON = "max_passes"
"""Reason of a pause that a spent budget makes."""

RENEWED_AT = "passesRenewedAt"
"""Counter of the passes that lie before the present budget."""

WITHIN = "orderWithinPasses"
"""Counter of the dispatches up to the last step within the present budget."""

ANSWERED = "answeredPastPasses:"
"""With a node's id: counter of the answers of its execution, the last of them past the budget.

The call after an answer keeps the order of its execution, which tells nothing of when it was made
due.
"""


def within(held: Held) -> tuple[Execution, ...]:
    """Return the due executions that may be called, in dispatch order: all, where none is past."""
    found = due(held.position)
    if held.facts.config.max_passes is None:
        return found
    return tuple(execution for execution in found if not _is_past(held, execution))


def is_reached(held: Held, is_called: Callable[[Execution], bool]) -> bool:
    """Return whether the run is to pause: calls are due past the budget and none within it.

    Args:
        held: What is held. Nothing is in flight.
        is_called: Whether an execution was begun, as a delay that is running was.
    """
    allowed = within(held)
    if len(allowed) == len(due(held.position)):
        return False
    return all(is_called(execution) for execution in allowed)


def said_of(held: Held) -> str:
    """Return what the pause says for people."""
    most = held.facts.config.max_passes
    return f"{most} {'step has' if most == 1 else 'steps have'} called nodes (config.maxPasses)"


def counted(held: Held, step: Step) -> dict[str, int]:
    """Return the budget's counters after a step; none where passes are not limited."""
    most = held.facts.config.max_passes
    if most is None:
        return {}
    kept = {name: count for name, count in held.head.counters.items() if _is_own(name)}
    if step.position.passes - kept.get(RENEWED_AT, 0) <= most:
        return {**kept, WITHIN: step.position.order}
    return {**kept, **_answered(held, step)}


def renewed(head: PositionHead) -> PositionHead:
    """Return a head at which a budget begins.

    What is due there counts as one pass of it, however many steps dispatched it.
    """
    others = {name: count for name, count in head.counters.items() if not _is_own(name)}
    fresh = {
        RENEWED_AT: max(0, others.get("passes", 0) - 1),
        WITHIN: others.get("order", 0),
    }
    return head.model_copy(update={"counters": {**others, **fresh}})


def paused_reason(held: Held) -> str | None:
    """Return why the run paused by itself; None where it is not paused or a person did it."""
    pause = held.pause
    return pause.reason if pause is not None and pause.is_by_budget else None


def _is_past(held: Held, execution: Execution) -> bool:
    """Return whether a step past the budget dispatched an effect. Control nodes are no passes."""
    if execution.kind != "effect":
        return False
    counters = held.head.counters
    answered = counters.get(f"{ANSWERED}{execution.node_id}")
    return execution.order > counters.get(WITHIN, 0) or execution.ask == answered


def _is_own(name: str) -> bool:
    return name in (RENEWED_AT, WITHIN) or name.startswith(ANSWERED)


def _answered(held: Held, step: Step) -> dict[str, int]:
    """Return the mark of an effect that the step makes due again by an answer."""
    node_id = step.node_id or ""
    before = held.position.executions.get(node_id)
    now = step.position.executions.get(node_id)
    if before is None or now is None or now.kind != "effect" or now.ask == before.ask:
        return {}
    return {f"{ANSWERED}{node_id}": now.ask}
