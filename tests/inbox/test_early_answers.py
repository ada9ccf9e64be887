"""Contract 5: an answer may come before its ticket, and before the run knows itself."""

from typing import Any

from seeding.errors import AlreadyDecided, InvalidCommand, NothingToAnswer, UnknownTicket
from seeding.tickets import TicketClosing
from tests.inbox.runs import ASKING, NOW, answer_of, refused, send, ticket, waiting
from workflows.admission import MAX_KEPT, MAX_KEPT_BYTES
from workflows.inbox import Inbox
from workflows.inbox_model import Reply

GATE = "R:gate:0:0"


def to(name: str, decision: str = "approve", **more: Any) -> dict[str, Any]:
    return {"ticket": name, "decision": decision, **more}


def codes(inbox: Inbox) -> list[str]:
    return [entry.code for entry in inbox.refusals]


class TestBeforeTheTicket:
    def test_it_is_kept_and_wins_when_the_ticket_opens(self):
        inbox = waiting()
        assert send(inbox, to(GATE)) == Reply(run_id="R", ticket=GATE, pending=True)
        assert inbox.take() is None
        inbox.tickets_changed([ticket()], {})
        assert answer_of(inbox).closing.decision == "approve"

    def test_a_wrong_one_goes_to_the_refusals_and_leaves_the_ticket_open(self):
        inbox = waiting()
        send(inbox, to(GATE, "maybe"))
        inbox.tickets_changed([ticket()], {})
        assert inbox.take() is None
        assert codes(inbox) == ["DecisionNotAllowed"]
        assert inbox.refusals[0].payload == to(GATE, "maybe")
        assert send(inbox, to(GATE)) == Reply(run_id="R", ticket=GATE)

    def test_the_first_valid_one_wins(self):
        inbox = waiting()
        for decision, actor in [("maybe", "x"), ("deny", "anna"), ("approve", "bob")]:
            assert send(inbox, to(GATE, decision, actor=actor)).pending
        inbox.tickets_changed([ticket()], {})
        assert answer_of(inbox).closing.actor == "anna"
        assert codes(inbox) == ["DecisionNotAllowed", "AlreadyDecided"]
        assert "by 'anna'" in inbox.refusals[1].message

    def test_it_is_judged_as_of_the_opening(self):
        inbox = waiting()
        send(inbox, to(GATE), now="2026-02-01T00:00:00Z")
        inbox.tickets_changed([ticket(deadline="2026-03-01T11:00:00Z")], {})
        assert answer_of(inbox).received_at == "2026-02-01T00:00:00Z"

    def test_one_whose_execution_passed_without_asking_is_listed(self):
        inbox = waiting()
        send(inbox, to("R:gate:0:5"))
        inbox.tickets_changed([], {"gate": 1})
        assert codes(inbox) == ["UnknownTicket"]

    def test_a_later_occurrence_waits_its_turn(self):
        inbox = waiting(ticket())
        send(inbox, to("R:gate:1:0", "deny"))
        send(inbox, to(GATE))
        answer_of(inbox)
        inbox.tickets_changed([], {"gate": 1})
        assert inbox.take() is None
        inbox.tickets_changed([ticket(occurrence=1)], {"gate": 1})
        assert answer_of(inbox).closing.decision == "deny"

    def test_its_command_id_gets_the_first_answer(self):
        inbox = waiting()
        send(inbox, to(GATE, commandId="c1"))
        repeat = Reply(run_id="R", ticket=GATE, duplicate=True, pending=True)
        assert send(inbox, to(GATE, commandId="c1")) == repeat
        inbox.tickets_changed([ticket()], {})
        assert send(inbox, to(GATE, commandId="c1")) == repeat
        assert answer_of(inbox).closing.command_id == "c1"

    def test_the_command_id_of_one_refused_later_is_judged_anew(self):
        inbox = waiting()
        send(inbox, to(GATE, "maybe", commandId="c1"))
        inbox.tickets_changed([ticket()], {})
        assert send(inbox, to(GATE, "deny", commandId="c1")) == Reply(run_id="R", ticket=GATE)

    def test_their_number_is_bounded(self):
        inbox = waiting()
        for number in range(MAX_KEPT):
            send(inbox, to(f"R:gate:{number}:0"))
        refusal = refused(inbox, to(f"R:gate:{MAX_KEPT}:0"))
        assert isinstance(refusal, InvalidCommand)
        assert "no more early answers are kept; 1000 wait" in refusal.message

    def test_their_size_is_bounded(self):
        inbox = waiting()
        large = "x" * 60_000
        for number in range(MAX_KEPT_BYTES // 60_000):
            send(inbox, to(f"R:gate:{number}:0", value=large))
        assert "no more early answers" in refused(inbox, to("R:gate:9:0", value=large)).message
        inbox.tickets_changed([ticket()], {})
        assert send(inbox, to("R:gate:9:0", value=large)).pending


class TestBeforeTheRun:
    def test_a_named_answer_is_kept_unjudged(self):
        inbox = Inbox()
        assert send(inbox, to(GATE)) == Reply(run_id=None, ticket=GATE, pending=True)
        inbox.started("R", "alice", ASKING)
        inbox.tickets_changed([ticket()], {})
        assert answer_of(inbox).closing.decision == "approve"

    def test_one_of_another_run_is_refused_once_the_run_is_known(self):
        inbox = Inbox()
        send(inbox, to("other:gate:0:0"))
        inbox.started("R", "alice", ASKING)
        inbox.tickets_changed([], {})
        assert codes(inbox) == ["UnknownTicket"]

    def test_one_of_a_run_that_is_restored_meets_its_winner(self):
        inbox = Inbox()
        send(inbox, to(GATE))
        won = TicketClosing(ticket=GATE, outcome="answered", decision="deny", actor="anna")
        inbox.started("R", "alice", ASKING, [won])
        inbox.tickets_changed([], {"gate": 1})
        assert codes(inbox) == ["AlreadyDecided"]

    def test_the_winner_itself_delivered_again_is_no_refusal(self):
        inbox = Inbox()
        send(inbox, to(GATE, commandId="c1"))
        won = TicketClosing(ticket=GATE, outcome="answered", decision="approve", command_id="c1")
        inbox.started("R", "alice", ASKING, [won])
        inbox.tickets_changed([ticket(occurrence=1)], {"gate": 1})
        assert inbox.refusals == ()
        assert send(inbox, to(GATE, commandId="c1")).duplicate

    def test_an_overdue_ticket_refuses_by_the_moment_of_receipt(self):
        inbox = Inbox()
        send(inbox, to(GATE), now=NOW)
        inbox.started("R", "alice", ASKING)
        inbox.tickets_changed([ticket(deadline="2026-03-01T11:30:00Z")], {})
        assert codes(inbox) == ["Expired"]

    def test_no_ticket_is_refused_at_once(self):
        assert isinstance(refused(Inbox(), to("nonsense")), UnknownTicket)

    def test_an_unnamed_answer_has_nothing_to_answer(self):
        assert isinstance(refused(Inbox(), {"decision": "approve"}), NothingToAnswer)

    def test_a_cancel_and_a_pause_are_accepted(self):
        inbox = Inbox()
        assert send(inbox, {}, "pause").accepted
        assert send(inbox, {"reason": "no"}, "cancel").accepted
        inbox.started("R", "alice", ASKING)
        inbox.tickets_changed([], {})
        assert inbox.cancel is not None
        assert inbox.cancel.reason == "no"
        taken = inbox.take()
        assert taken is not None
        assert taken.kind == "pause"

    def test_there_is_no_pause_to_lift_yet(self):
        assert refused(Inbox(), {}).code == "NO_ACTIVE_PAUSE"

    def test_a_refused_start_ends_everything(self):
        inbox = Inbox()
        send(inbox, to(GATE))
        inbox.ended("no graph 'x'")
        assert codes(inbox) == ["PIPELINE_TERMINAL"]
        assert refused(inbox, {}, "cancel").code == "PIPELINE_TERMINAL"


class TestTheLogWasAhead:
    """Design, section 1: what is held is dropped and the log is read again."""

    def accepted(self) -> Inbox:
        inbox = waiting(ticket("a"), ticket("b"))
        send(inbox, to("R:a:0:0", actor="anna"))
        send(inbox, to("R:b:0:0", actor="bob"))
        answer_of(inbox)
        return inbox

    def test_a_winner_the_log_has_is_not_committed_again(self):
        inbox = self.accepted()
        won = TicketClosing(ticket="R:a:0:0", outcome="answered", decision="approve", actor="anna")
        inbox.started("R", "alice", ASKING, [won])
        inbox.tickets_changed([ticket("b")], {"a": 1})
        assert inbox.refusals == ()
        assert answer_of(inbox).closing.ticket == "R:b:0:0"

    def test_a_winner_that_another_one_overtook_is_listed(self):
        inbox = self.accepted()
        won = TicketClosing(ticket="R:a:0:0", outcome="answered", decision="deny", actor="eve")
        inbox.started("R", "alice", ASKING, [won])
        inbox.tickets_changed([ticket("b")], {"a": 1})
        assert codes(inbox) == ["AlreadyDecided"]
        assert "by 'eve'" in inbox.refusals[0].message
        assert isinstance(refused(inbox, to("R:a:0:0")), AlreadyDecided)

    def test_winners_of_tickets_that_are_still_open_stay(self):
        inbox = self.accepted()
        inbox.started("R", "alice", ASKING, [])
        inbox.tickets_changed([ticket("a"), ticket("b")], {})
        assert answer_of(inbox).closing.ticket == "R:a:0:0"

    def test_a_large_value_that_the_log_holds_by_reference_is_the_same_answer(self):
        inbox = waiting(ticket())
        send(inbox, to(GATE, value="x" * 60_000))
        staged = TicketClosing(
            ticket=GATE, outcome="answered", decision="approve", value={"$ref": "r", "bytes": 1}
        )
        inbox.started("R", "alice", ASKING, [staged])
        inbox.tickets_changed([], {"gate": 1})
        assert inbox.refusals == ()
        assert inbox.take() is None
