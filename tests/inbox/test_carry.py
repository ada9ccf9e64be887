"""Design 4.8: the inbox goes through continue-as-new without losing or changing a thing."""

import json

from seeding.model import JsonObject
from seeding.tickets import OpenTicket, TicketClosing
from tests.inbox.runs import ASKING, NOW, answer_of, kinds, pause, refused, send, ticket, waiting
from workflows.carrying import MAX_CARRY_BYTES
from workflows.inbox import Inbox
from workflows.inbox_model import LiftTaken, PauseTaken, Reply

GATE = "R:gate:0:0"


def carried(inbox: Inbox) -> Inbox:
    return Inbox.from_carry(json.loads(json.dumps(inbox.carry())))


def go_on(inbox: Inbox, *open_tickets: OpenTicket, decided: tuple[TicketClosing, ...] = ()) -> None:
    inbox.started("R", "alice", ASKING, decided)
    inbox.tickets_changed(open_tickets, {})


def test_an_empty_inbox_is_small():
    assert len(json.dumps(Inbox().carry())) < 250


def test_everything_accepted_is_still_there():
    inbox = waiting(ticket("a"), ticket("b"))
    send(inbox, {"ticket": "R:a:0:0", "decision": "deny", "commandId": "c1"})
    send(inbox, {"ticket": "R:gate:3:0", "value": None, "decision": "approve"})
    send(inbox, {"decision": "approve"})
    send(inbox, {}, "pause")
    send(inbox, {"reason": "enough"}, "cancel")
    inbox.receive_signal("nonsense", [], NOW)
    after = carried(inbox)
    go_on(after, ticket("a"), ticket("b"))
    assert after.carry() == inbox.carry()
    assert kinds(after) == ["answer", "answer", "pause"]
    assert after.cancel == inbox.cancel
    assert after.refusals == inbox.refusals
    assert after.unnamed_used
    assert send(after, {"decision": "approve", "commandId": "c1"}).duplicate


def test_a_command_in_hand_is_taken_again():
    inbox = waiting(ticket())
    send(inbox, {"decision": "approve"})
    taken = answer_of(inbox)
    after = carried(inbox)
    go_on(after, ticket())
    assert answer_of(after) == taken


def test_a_command_in_hand_that_the_log_has_is_not():
    inbox = waiting(ticket())
    send(inbox, {"decision": "approve"})
    closing = answer_of(inbox).closing
    after = carried(inbox)
    go_on(after, decided=(closing,))
    assert after.take() is None
    assert after.refusals == ()


def test_a_pause_in_hand_that_the_log_has_is_not():
    inbox = waiting()
    send(inbox, {}, "pause")
    send(inbox, {})
    assert isinstance(inbox.take(), PauseTaken)
    after = carried(inbox)
    go_on(after, pause())
    assert isinstance(after.take(), LiftTaken)
    again = carried(after)
    go_on(again, decided=(TicketClosing(ticket="R::0:0", outcome="answered"),))
    assert again.take() is None
    assert again.refusals == ()


class TestBeforeTheLogIsRead:
    """A command may come before the next execution knows more than what was carried."""

    def test_an_unnamed_answer_binds_as_before(self):
        after = carried(waiting(ticket()))
        reply = send(after, {"decision": "approve"})
        assert reply == Reply(run_id="R", ticket=GATE, pending=True)
        assert refused(after, {"decision": "approve"}).code == "AmbiguousAnswer"
        go_on(after, ticket())
        assert answer_of(after).unnamed

    def test_the_copy_of_an_unnamed_answer_is_refused_as_before(self):
        inbox = waiting(ticket())
        send(inbox, {"decision": "approve"})
        assert refused(carried(inbox), {"decision": "approve"}).code == "NothingToAnswer"

    def test_several_open_are_ambiguous_as_before(self):
        after = carried(waiting(ticket("a"), ticket("b")))
        assert refused(after, {"decision": "approve"}).code == "AmbiguousAnswer"

    def test_a_winner_is_named_as_before(self):
        inbox = waiting(ticket())
        send(inbox, {"decision": "approve", "actor": "anna"})
        refusal = refused(carried(inbox), {"ticket": GATE, "decision": "deny"})
        assert refusal.code == "AlreadyDecided"

    def test_a_pause_is_lifted_as_before(self):
        after = carried(waiting(pause()))
        assert refused(after, {}, "pause").code == "INWARD_SIGNAL_ALREADY_PENDING"
        assert refused(after, {"ticket": "R::0:1"}).code == "UnknownTicket"
        assert send(after, {"ticket": "R::0:0"}) == Reply(run_id="R", ticket="R::0:0")
        assert refused(after, {}).code == "NO_ACTIVE_PAUSE"
        go_on(after, pause())
        assert isinstance(after.take(), LiftTaken)


def full_inbox() -> Inbox:
    inbox = waiting(ticket())
    send(inbox, {"decision": "approve", "value": "x" * 50_000})
    for number in range(1, 1000):
        send(inbox, {"ticket": f"R:gate:{number}:0", "decision": "deny", "commandId": f"c{number}"})
    for _ in range(100):
        inbox.receive_signal("cancel", ["x" * 900], NOW)
    return inbox


def test_refusals_and_command_ids_are_trimmed_and_commands_never_are():
    inbox = full_inbox()
    whole: JsonObject = inbox.carry()
    assert len(json.dumps(whole, separators=(",", ":"))) > MAX_CARRY_BYTES
    assert (len(whole["queue"]), len(whole["kept"])) == (1, 999)
    assert (whole["commands"], whole["refusals"]) == ([], [])


def test_the_oldest_are_trimmed_first():
    inbox = waiting()
    for number in range(100):
        inbox.receive_signal("cancel", [f"{number} " + "x" * 900], NOW)
    for number in range(900):
        send(inbox, {"ticket": f"R:gate:{number}:0", "decision": "deny", "commandId": f"c{number}"})
    whole: JsonObject = inbox.carry()
    assert len(json.dumps(whole, separators=(",", ":"))) <= MAX_CARRY_BYTES
    assert whole["refusals"][-1]["payload"].startswith("99 ")
    assert 0 < len(whole["refusals"]) < 100
    assert whole["commands"][-1]["commandId"] == "c899"
