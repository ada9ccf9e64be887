"""What one commit says to whoever follows a thread: its events, derived, never stored.

Nothing of them is in a table of its own, so there is nothing that could lag behind the commits
or would have to be made again.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from seeding.commits import CommitOperation, EndCause, ThreadCommit
from seeding.model import JsonObject, Model

EventKind = Literal["run", "ticketClosed", "ticketOpened", "stateChanged", "audit"]
RunWord = Literal["Running", "Awaiting", "Resumed", "Completed", "Cancelled", "Failed"]
CommitKind = Literal["Running", "Awaiting", "Ended"]

_COMPLETED = ("NaturalEnd", "Stopped")


class EventRow(Model):
    """One event of a thread.

    Attributes:
        version: The thread version of its commit: the cursor after it.
        index: Its place among the events of that commit, from 0.
        kind: ``run``: the run's state changed, ``body.state`` is the new one and at its end
            ``body.cause`` says why. ``ticketClosed``, ``ticketOpened``: a ticket. ``stateChanged``:
            the keys of ``data`` and ``metadata`` that were set or removed. ``audit``: what was
            recorded and decides nothing.
    """

    version: int
    index: int
    run_id: str
    ordinal: int
    at: str
    kind: EventKind
    body: JsonObject


def run_word(kind: CommitKind, cause: EndCause | None, before: CommitKind | None) -> RunWord | None:
    """Return what the feed says of a run after a commit; None where its state is as it was.

    Args:
        kind: What the commit says of the run.
        cause: Why the run ended, if it did.
        before: What its commit before said; None for its first, or one that was pruned.
    """
    if kind == "Ended":
        if cause is not None and cause.kind == "Cancelled":
            return "Cancelled"
        return "Completed" if cause is not None and cause.kind in _COMPLETED else "Failed"
    if kind == before:
        return None
    return "Resumed" if (kind, before) == ("Running", "Awaiting") else kind


def events_of(
    operation: CommitOperation,
    *,
    at: str,
    before: CommitKind | None,
    changed: Sequence[tuple[str, str]],
) -> list[EventRow]:
    """Return the events of a commit, in order: run, tickets, state, audit.

    Args:
        operation: The commit as it was accepted; its state commands are not looked at.
        at: When the log accepted it.
        before: What the run's commit before said of the run.
        changed: The thread's cells that it set or removed, each by ``data`` or ``metadata`` and
            key, in the order of its commands.
    """
    bodies = _bodies(operation.commit, before, changed)
    return [
        EventRow(
            version=operation.expected_thread_version + 1,
            index=index,
            run_id=operation.run_id,
            ordinal=operation.ordinal,
            at=at,
            kind=kind,
            body=body,
        )
        for index, (kind, body) in enumerate(bodies)
    ]


def _bodies(
    commit: ThreadCommit, before: CommitKind | None, changed: Sequence[tuple[str, str]]
) -> Iterator[tuple[EventKind, JsonObject]]:
    said = commit.disposition
    word = run_word(said.kind, said.cause, before)
    if word is not None:
        cause = {"cause": said.cause.kind} if said.cause is not None else {}
        yield "run", {"state": word, **cause}
    for closing in commit.closed:
        yield (
            "ticketClosed",
            {
                "ticket": closing.ticket,
                "outcome": closing.outcome,
                "decision": closing.decision,
                "actor": closing.actor,
            },
        )
    for ticket in commit.opened:
        yield (
            "ticketOpened",
            {
                "ticket": ticket.ticket,
                "nodeId": ticket.node_id,
                "kind": ticket.kind,
                "message": ticket.message,
            },
        )
    if changed:
        keys: JsonObject = {}
        for cell, key in dict.fromkeys(changed):
            keys.setdefault(cell, []).append(key)
        yield "stateChanged", keys
    for draft in commit.events:
        yield "audit", {"kind": draft.kind, "body": draft.body}
