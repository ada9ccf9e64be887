"""The commits a run makes, each a pure function of what is held and one thing that happened.

Nothing here looks at a flag, a clock or what else arrived: a racing input changes only what the
next ordinal is (design, section 1).
"""

from collections.abc import Sequence

from seeding.commits import (
    AuditDraft,
    Disposition,
    EndCause,
    Opening,
    PositionHead,
    StateCommand,
    ThreadCommit,
)
from seeding.identity import message_id, ticket_id
from seeding.model import JsonObject
from seeding.tickets import Ticket, TicketClosing, TicketReference
from workflows.held import Held
from workflows.pass_budget import counted, renewed
from workflows.scheduler import Step

PAUSES = "pauses"
"""Counter of the pauses a run has had; numbers their tickets."""

UNNAMED = "unnamedAnswers"
"""Counter of accepted answers with neither ticket nor command id; at most one a run."""

_KEPT_COUNTERS = (PAUSES, UNNAMED)


def opening_commit(
    held: Held,
    opening: Opening,
    step: Step | None,
    *,
    messages: Sequence[JsonObject],
    state: Sequence[StateCommand],
    events: Sequence[AuditDraft],
    cancelled: EndCause | None = None,
) -> ThreadCommit:
    """Return ordinal 0: the run opens, or, cancelled before it could, ends at once.

    Args:
        held: What is held before the run has any commit.
        opening: What the seed decided.
        step: The entry nodes' dispatch; None for a run that ends at once.
        messages: Copied and new messages; those without an id get one.
        state: Thread cells to set.
        events: Provenance and warnings.
        cancelled: The cause of a run cancelled before it opened.
    """
    facts = held.facts
    ended = cancelled is not None
    return ThreadCommit(
        thread_id=facts.thread_id,
        run_id=facts.run_id,
        disposition=Disposition(kind="Ended" if ended else "Running", cause=cancelled),
        opening=opening,
        messages=_with_ids(held, messages),
        state=(*state, *(step.state if step else ())),
        rows=step.rows if step else (),
        position=_opening_head(held, step),
        events=tuple(events),
        checkpoint="end" if ended else None,
        result=end_report("cancelled", {}, held) if ended else None,
    )


def _opening_head(held: Held, step: Step | None) -> PositionHead:
    if step is None:
        return PositionHead()
    if held.facts.config.max_passes is None:
        return step.head
    return renewed(step.head)


def node_commit(
    held: Held, step: Step, *, opened: Ticket | None = None, closed: TicketClosing | None = None
) -> ThreadCommit:
    """Return the commit of one completion, one gate that opens, or one accepted answer."""
    facts = held.facts
    return ThreadCommit(
        thread_id=facts.thread_id,
        run_id=facts.run_id,
        disposition=_live(held, opened, closed),
        messages=_with_ids(held, step.messages),
        state=step.state,
        rows=step.rows,
        position=_keeping_counters(held, step),
        opened=() if opened is None else (opened,),
        closed=() if closed is None else (closed,),
        events=tuple(AuditDraft(kind="warning", body=warning) for warning in step.warnings),
        node_id=step.node_id,
        checkpoint="pause" if opened is not None else ("node" if step.rows else None),
    )


def pause_ticket(held: Held, reason: str | None, message: str | None = None) -> Ticket:
    """Return the ticket of the next pause of this run; it has no node."""
    facts = held.facts
    return Ticket(
        ticket=ticket_id(facts.run_id, "", 0, held.head.counters.get(PAUSES, 0)),
        run_id=facts.run_id,
        thread_id=facts.thread_id,
        node_id="",
        occurrence=0,
        kind="pause",
        message=message,
        reason=reason,
    )


def pause_commit(held: Held, ticket: Ticket) -> ThreadCommit:
    """Return the commit by which a pause is held; it stacks with open gates."""
    count = held.head.counters.get(PAUSES, 0) + 1
    return ThreadCommit(
        thread_id=held.facts.thread_id,
        run_id=held.facts.run_id,
        disposition=_live(held, ticket, None),
        position=_counting(held.head, {PAUSES: count}),
        opened=(ticket,),
        checkpoint="pause",
    )


def with_unnamed_answer(commit: ThreadCommit) -> ThreadCommit:
    """Return ``commit`` counting an answer that named neither its ticket nor itself."""
    return commit.model_copy(update={"position": _counting(commit.position, {UNNAMED: 1})})


def lift_commit(held: Held, closing: TicketClosing) -> ThreadCommit:
    """Return the commit by which a pause is lifted; one that a budget made renews that budget."""
    by_budget = held.pause is not None and held.pause.is_by_budget
    return ThreadCommit(
        thread_id=held.facts.thread_id,
        run_id=held.facts.run_id,
        disposition=_live(held, None, closing),
        position=renewed(held.head) if by_budget else held.head,
        closed=(closing,),
    )


def end_commit(
    held: Held,
    cause: EndCause,
    status: str,
    report: JsonObject,
    closed: Sequence[TicketClosing] = (),
) -> ThreadCommit:
    """Return the commit that ends the run; open tickets leave as cancelled.

    Args:
        held: What is held.
        cause: Why the run ends.
        status: The result's status (contract 3).
        report: The result's ``metadata``.
        closed: How tickets left that did not simply end with the run.
    """
    named = [closing.ticket for closing in closed]
    retired = tuple(
        TicketClosing(ticket=ticket.ticket, outcome="cancelled")
        for ticket in held.tickets
        if ticket.ticket not in named
    )
    return ThreadCommit(
        thread_id=held.facts.thread_id,
        run_id=held.facts.run_id,
        disposition=Disposition(kind="Ended", cause=cause),
        position=held.head,
        closed=(*closed, *retired),
        checkpoint="end",
        result=end_report(status, report, held),
    )


def summary_of(commit: ThreadCommit) -> str:
    """Return what a decision was, in a few words, for the Temporal UI."""
    if any(ticket.is_pause for ticket in commit.opened):
        return "paused"
    if not commit.closed:
        return commit.node_id or ""
    closing = commit.closed[0]
    if commit.node_id is None:
        return "pause lifted"
    said = closing.decision or closing.outcome
    return f"{commit.node_id}: {said}" + (f" by {closing.actor}" if closing.actor else "")


def end_report(status: str, metadata: JsonObject, held: Held) -> JsonObject:
    """Return the result of an ended run without ``results``, which are the run's rows."""
    return {
        "status": status,
        "metadata": metadata,
        "warnings": list(held.facts.warnings),
        "start": held.facts.start,
    }


def _live(held: Held, opened: Ticket | None, closed: TicketClosing | None) -> Disposition:
    gone = None if closed is None else closed.ticket
    named: list[TicketReference] = [item for item in held.references if item.ticket != gone]
    if opened is not None:
        named.append(opened.reference)
    return Disposition(kind="Awaiting" if named else "Running", tickets=tuple(named))


def _with_ids(held: Held, messages: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Return messages each with an id, first; one that brings its own, not null, keeps it."""
    identified: list[JsonObject] = []
    for index, message in enumerate(messages):
        own = {"id": message_id(held.facts.run_id, held.next_ordinal, index)}
        given = {key: value for key, value in message.items() if key != "id" or value is not None}
        identified.append({**own, **given})
    return tuple(identified)


def _keeping_counters(held: Held, step: Step) -> PositionHead:
    counters = held.head.counters
    kept = {name: counters[name] for name in _KEPT_COUNTERS if name in counters}
    kept.update(counted(held, step))
    return _counting(step.head, kept) if kept else step.head


def _counting(head: PositionHead, counts: dict[str, int]) -> PositionHead:
    return head.model_copy(update={"counters": {**head.counters, **counts}})
