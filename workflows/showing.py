"""What a run shows of itself: pure projections of what is held (contract, sections 4 and 5)."""

from collections.abc import Sequence

from seeding.bounded import shown_by_reference
from seeding.commits import EndCause
from seeding.identity import WORKFLOW_END
from seeding.json_values import MAX_PAYLOAD_BYTES
from seeding.model import JsonObject
from seeding.state import Status
from seeding.tickets import Ticket
from workflows.answer_line import answer_line
from workflows.held import Held
from workflows.pass_budget import paused_reason
from workflows.scheduler import Plan, shown_iterator


def outcome_of(cause: EndCause | None) -> tuple[Status | None, str | None]:
    """Return the state's ``status`` and ``error`` for a cause (contract 3, INT-13)."""
    if cause is None:
        return None, None
    if cause.kind in ("NaturalEnd", "Stopped"):
        return "completed", None
    if cause.kind == "Cancelled":
        return "cancelled", None
    return "failed", cause.message


def phase_of(held: Held) -> str:
    """Return the run's phase (contract 4)."""
    if held.cause is not None:
        return "ended"
    if held.pause is not None:
        return "paused"
    return "awaiting" if held.tickets else "running"


def shown_state(held: Held, messages: JsonObject) -> JsonObject:
    """Return the state as query ``state`` answers it.

    Args:
        held: What is held.
        messages: ``{"count", "checkpointId"}`` in place of the messages themselves.
    """
    status, error = outcome_of(held.cause)
    budget = MAX_PAYLOAD_BYTES // 4
    iterator = shown_iterator(held.position)
    return {
        "status": status,
        "isComplete": held.cause is not None,
        "error": error,
        "messages": messages,
        "data": shown_by_reference(held.data, "data", budget),
        "metadata": shown_by_reference(held.metadata, "metadata", budget),
        "threadId": held.facts.thread_id,
        "currentNodeId": held.head.current_node_id,
        "iterationCount": held.head.iteration_count,
        "iterator": None if iterator is None else shown_by_reference(iterator, "iterator", budget),
        **held.extra,
        "run": shown_run(held),
    }


def shown_run(held: Held) -> JsonObject:
    """Return the ``run`` block of a state."""
    facts = held.facts
    shown: JsonObject = {
        "runId": facts.run_id,
        "runEpoch": facts.run_epoch,
        "phase": phase_of(held),
        # Null for a person's pause, whose reason stands in its ticket (contract 4).
        "pausedReason": paused_reason(held),
        "graph": facts.graph_name,
        "branch": facts.branch,
        "checkpointId": held.checkpoint_id if held.cause is None else WORKFLOW_END,
        "waitingFor": [ticket.shown() for ticket in held.open_tickets],
    }
    if held.cause is not None:
        shown["cause"] = held.cause.kind
    return shown


def shown_starting(thread_id: str) -> JsonObject:
    """Return the state of a run that has not opened yet."""
    return {"threadId": thread_id, "run": {"phase": "starting", "waitingFor": []}}


def shown_refused(thread_id: str, refusal: JsonObject) -> JsonObject:
    """Return the state of a refused run: why, and the thread's last run."""
    return {"threadId": thread_id, "run": {"phase": "refused", "waitingFor": [], **refusal}}


def current_details(held: Held, plan: Plan) -> str:
    """Return the Markdown that the Temporal UI shows of the run as it stands."""
    if held.cause is not None:
        return f"**Ended**: {held.cause.kind}" + (
            f" - {held.cause.message}" if held.cause.message else ""
        )
    waiting = held.open_tickets
    if not waiting:
        done = sum(1 for node in held.position.nodes.values() if node.delivers)
        return f"**Running**: {done} of {len(plan.nodes)} nodes done{_round(held)}"
    lines: list[str] = []
    for ticket in waiting:
        lines += _ticket_lines(held, ticket.body, ticket.created_at, ticket.deadline)
    return "\n".join(lines)


def _round(held: Held) -> str:
    iterator = held.head.iterator
    if iterator is None:
        return ""
    return f", `{iterator.node_id}` at item {iterator.index + 1} of {iterator.items}"


def _ticket_lines(held: Held, ticket: Ticket, since: str, until: str | None) -> Sequence[str]:
    what = "a pause" if ticket.is_pause else f"{ticket.kind} at `{ticket.node_id}`"
    then = ticket.on_deadline or "its node fails as expired"
    until_text = f"until {until}, then {then}" if until else "for as long as it takes"
    quoted = [f"> {line}" for line in (ticket.message or "").splitlines()]
    # An indented block, not a fenced one: an id may hold backticks.
    return [
        f"**Waits** for {what} since {since}, {until_text}.",
        "",
        *quoted,
        "",
        f"    {answer_line(held.facts.thread_id, ticket)}",
        "",
    ]
