"""What has to hold of a run whatever arrived when (``random_answers``), as the log tells it."""

from collections import Counter

from activities.log import StoredRun
from seeding.model import as_object
from seeding.tickets import TicketClosing
from tests.engine.charges import Charges
from tests.engine.crashing import assert_whole
from tests.engine.random_answers import Played, Told
from tests.engine.random_crashes import STATUS
from tests.engine.stage import Stage
from workflows.refusals import MAX_REFUSALS


def judge(played: Played) -> None:
    """Assert it.

    Raises:
        AssertionError: Something does not hold.
    """
    stage, schedule, told = played.stage, played.schedule, played.told
    (thread,) = [found.thread_id for found in stage.log.threads()]
    assert_whole(stage, thread)
    assert stage.log.verify() == []
    first = stage.log.runs(thread)[0]
    assert first.cause is not None
    assert played.status == STATUS[first.cause.kind], (played.failure, first.cause)
    if first.cause.kind == "Cancelled":
        assert schedule.may_cancel
    closings = one_outcome_each(stage, thread, first)
    told_is_so(closings, told, first)
    assert sum(_is_unnamed(closing) for closing in closings.values()) <= 1
    charged_as_approved(closings, Charges(played.service).charged(thread), first)
    shown = [str((as_object(entry["payload"]) or {}).get("ticket")) for entry in played.refusals]
    assert any(ticket.endswith(":nowhere:0:0") for ticket in shown) or len(shown) == MAX_REFUSALS
    messages_are_there_once(stage, thread, told)


def one_outcome_each(stage: Stage, thread: str, run: StoredRun) -> dict[str, TicketClosing]:
    """Return how each ticket of a run was closed; each was opened once and closed once."""
    opened: Counter[str] = Counter()
    closed: Counter[str] = Counter()
    closings: dict[str, TicketClosing] = {}
    for stored in stage.log.commits(thread, limit=10_000):
        commit = stored.operation.commit
        if commit.run_id != run.run_id:
            continue
        opened.update(ticket.ticket for ticket in commit.opened)
        closed.update(closing.ticket for closing in commit.closed)
        closings.update((closing.ticket, closing) for closing in commit.closed)
    assert opened == closed, (opened, closed)
    assert set(opened.values()) <= {1}
    assert {closing.outcome for closing in closings.values()} <= {
        "answered",
        "expired",
        "cancelled",
    }
    return {ticket: closing for ticket, closing in closings.items() if ticket.split(":")[1]}


def told_is_so(closings: dict[str, TicketClosing], told: Told, run: StoredRun) -> None:
    """An answer that was acknowledged is the outcome, unless the end of the run overtook it."""
    for command, answer in told.answers.items():
        closing = closings[str(answer["ticket"])]
        if closing.outcome == "cancelled":
            assert run.cause is not None
            assert run.cause.kind == "Cancelled"
            continue
        assert (closing.outcome, closing.command_id) == ("answered", command)
        assert closing.decision == answer.get("decision")
        assert closing.actor == answer["actor"]


def charged_as_approved(
    closings: dict[str, TicketClosing], charged: dict[str, int], run: StoredRun
) -> None:
    """Each approved charge was made once; none was made that was not approved."""
    assert set(charged.values()) <= {1}
    approved = approved_executions(closings)
    assert set(charged) <= approved, (charged, approved)
    if run.cause is not None and run.cause.kind == "NaturalEnd":
        assert set(charged) == approved, (charged, approved)


def approved_executions(closings: dict[str, TicketClosing]) -> set[str]:
    """Return the charges, each ``node:occurrence``, that the answers allow."""
    by_gate: dict[tuple[str, str], list[str]] = {}
    for ticket, closing in closings.items():
        _, node, occurrence, _ = ticket.split(":")
        if closing.outcome == "answered":
            by_gate.setdefault((node, occurrence), []).append(closing.decision or "said")
    allowed: set[str] = set()
    in_order = sorted(by_gate)
    rounds: Counter[str] = Counter()
    for node, occurrence in in_order:
        decisions = by_gate[node, occurrence]
        needed = 2 if _takes_two(closings, node) else 1
        if node == "ask":
            allowed.add(f"ask:{occurrence}")
        elif decisions == ["approve"] * needed:
            # A charge counts its own executions, so that a denied round leaves none out.
            allowed.add(f"pay_{node}:{rounds[node]}")
            rounds[node] += 1
    return allowed


def messages_are_there_once(stage: Stage, thread: str, told: Told) -> None:
    """Each accepted message is on the thread once, and no other more often."""
    said = Counter(str(message["content"]) for message in stage.log.messages(thread))
    assert set(said.values()) <= {1}, said
    assert set(told.messages) <= set(said)


def _takes_two(closings: dict[str, TicketClosing], node: str) -> bool:
    return node == "gate" and any(ticket.split(":")[1] == "ask" for ticket in closings)


def _is_unnamed(closing: TicketClosing) -> bool:
    return closing.outcome == "answered" and closing.command_id is None
