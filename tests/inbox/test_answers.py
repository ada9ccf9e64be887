"""Contract 5: which ticket an answer is for, and what happens to it."""

from typing import Any

import pytest

from seeding.errors import (
    AlreadyDecided,
    AmbiguousAnswer,
    NothingToAnswer,
    PipelineTerminal,
    UnknownTicket,
)
from seeding.tickets import TicketClosing
from tests.inbox.runs import NOW, answer_of, kinds, refused, send, ticket, waiting
from workflows.inbox import Inbox
from workflows.inbox_model import Reply

APPROVE = {"decision": "approve"}
GATE = "R:gate:0:0"


def to(name: str, decision: str = "approve", **more: Any) -> dict[str, Any]:
    return {"ticket": name, "decision": decision, **more}


class TestNamed:
    def test_an_answer_to_an_open_ticket_is_the_winner(self):
        inbox = waiting(ticket())
        assert send(inbox, to(GATE, actor="anna")) == Reply(run_id="R", ticket=GATE)
        taken = answer_of(inbox)
        assert taken.closing == TicketClosing(
            ticket=GATE, outcome="answered", decision="approve", actor="anna"
        )
        assert (taken.ticket.node_id, taken.ticket.occurrence) == ("gate", 0)

    def test_the_reply_is_that_of_the_contract(self):
        assert send(waiting(ticket()), to(GATE)).to_json() == {
            "accepted": True,
            "runId": "R",
            "ticket": GATE,
            "duplicate": False,
            "pending": False,
        }

    def test_a_second_answer_names_the_winner(self):
        inbox = waiting(ticket())
        send(inbox, to(GATE, actor="anna", commandId="c1"))
        refusal = refused(inbox, to(GATE, "deny", actor="bob"))
        assert isinstance(refusal, AlreadyDecided)
        assert refusal.message == (
            "ticket R:gate:0:0 is decided: answered, decision 'approve', by 'anna', command 'c1'"
        )
        assert refusal.details == {
            "ticket": GATE,
            "outcome": "answered",
            "decision": "approve",
            "actor": "anna",
            "commandId": "c1",
        }

    def test_the_winner_is_named_after_its_commit_too(self):
        inbox = waiting(ticket())
        send(inbox, to(GATE, actor="anna"))
        answer_of(inbox)
        inbox.tickets_changed([], {"gate": 1})
        assert "decision 'approve', by 'anna'" in refused(inbox, to(GATE, "deny")).message

    def test_an_expired_ticket_says_so(self):
        inbox = waiting(ticket())
        closing = TicketClosing(ticket=GATE, outcome="expired")
        inbox.tickets_changed([], {"gate": 1}, [closing])
        refusal = refused(inbox, to(GATE))
        assert isinstance(refusal, AlreadyDecided)
        assert refusal.message == "ticket R:gate:0:0 is decided: expired"

    def test_a_ticket_decided_before_this_execution_names_its_winner(self):
        inbox = Inbox()
        closing = TicketClosing(ticket=GATE, outcome="answered", decision="deny", actor="anna")
        inbox.started("R", "alice", {"gate": True}, [closing])
        inbox.tickets_changed([], {"gate": 1})
        assert "decision 'deny', by 'anna'" in refused(inbox, to(GATE)).message

    def test_an_expiry_can_see_that_an_answer_came_first(self):
        inbox = waiting(ticket())
        assert inbox.winner(GATE) is None
        send(inbox, to(GATE))
        winner = inbox.winner(GATE)
        assert winner is not None
        assert winner.decision == "approve"

    @pytest.mark.parametrize(
        "name",
        [
            "nonsense",
            "",
            "R:gate:0",
            "other-run:gate:0:0",
            "R:check:0:0",
            "R:missing:0:0",
            "R:gate:-1:0",
            "R::0:7",
        ],
    )
    def test_pb_b1_no_such_ticket_is_refused_and_shows_the_open_ones(self, name: str):
        inbox = waiting(ticket("a"), ticket("b"))
        refusal = refused(inbox, {"ticket": name or " ", "decision": "approve"})
        assert isinstance(refusal, UnknownTicket)
        assert refusal.details["open"] == ["R:a:0:0", "R:b:0:0"]
        assert "R:a:0:0, R:b:0:0" in refusal.message
        assert send(inbox, to("R:a:0:0")).accepted
        assert send(inbox, to("R:b:0:0")).accepted

    def test_pb_b2_the_answer_of_another_turn_changes_nothing(self):
        inbox = waiting(ticket())
        assert isinstance(refused(inbox, to("R-before:gate:0:0")), UnknownTicket)
        assert inbox.take() is None

    def test_an_answer_to_an_execution_that_is_behind_is_refused(self):
        inbox = waiting(ticket(occurrence=2), behind={"gate": 2})
        assert isinstance(refused(inbox, to("R:gate:1:0")), UnknownTicket)

    def test_answers_leave_in_order_of_acceptance(self):
        inbox = waiting(ticket("a"), ticket("b"))
        send(inbox, to("R:b:0:0"))
        send(inbox, to("R:a:0:0"))
        assert answer_of(inbox).closing.ticket == "R:b:0:0"
        inbox.tickets_changed([ticket("a")], {"b": 1})
        assert answer_of(inbox).closing.ticket == "R:a:0:0"
        inbox.tickets_changed([], {"a": 1, "b": 1})
        assert inbox.take() is None

    def test_an_answer_stays_in_hand_until_its_commit_is_adopted(self):
        inbox = waiting(ticket("a"), ticket("b"))
        send(inbox, to("R:a:0:0"))
        assert inbox.take() == inbox.take()
        inbox.tickets_changed([ticket("a"), ticket("b")], {"check": 3})
        assert answer_of(inbox).closing.ticket == "R:a:0:0"

    def test_an_unknown_field_never_becomes_state(self):
        assert refused(waiting(ticket()), to(GATE, state={"x": 1})).code == "InvalidCommand"


class TestUnnamed:
    def test_it_binds_to_the_one_open_ticket(self):
        inbox = waiting(ticket())
        assert send(inbox, APPROVE) == Reply(run_id="R", ticket=GATE)
        assert answer_of(inbox).unnamed

    def test_a_pause_does_not_count(self):
        inbox = waiting(ticket(), ticket("", kind="pause"))
        assert send(inbox, APPROVE).ticket == GATE

    def test_nothing_open_is_nothing_to_answer(self):
        assert isinstance(refused(waiting(), APPROVE), NothingToAnswer)

    def test_only_a_pause_open_is_nothing_to_answer(self):
        inbox = waiting(ticket("", kind="pause"))
        assert isinstance(refused(inbox, APPROVE), NothingToAnswer)

    def test_pb_b16_several_open_are_ambiguous_until_one_is_left(self):
        inbox = waiting(ticket("a"), ticket("b"))
        refusal = refused(inbox, APPROVE)
        assert isinstance(refusal, AmbiguousAnswer)
        assert "name one of them: R:a:0:0, R:b:0:0" in refusal.message
        send(inbox, to("R:a:0:0"))
        assert send(inbox, APPROVE).ticket == "R:b:0:0"

    def test_pb_e10_the_copy_that_comes_at_once_answers_nothing(self):
        inbox = waiting(ticket())
        send(inbox, APPROVE)
        assert isinstance(refused(inbox, APPROVE), NothingToAnswer)
        assert kinds(inbox) == ["answer"]

    def test_pb_e10_the_copy_that_comes_late_does_not_answer_the_next_question(self):
        inbox = waiting(ticket())
        send(inbox, APPROVE)
        answer_of(inbox)
        inbox.tickets_changed([ticket(occurrence=1)], {"gate": 1})
        refusal = refused(inbox, APPROVE)
        assert isinstance(refusal, AmbiguousAnswer)
        assert "the open ticket is R:gate:1:0" in refusal.message
        assert send(inbox, to("R:gate:1:0")).accepted

    def test_a_refused_one_does_not_use_up_the_allowance(self):
        inbox = waiting(ticket())
        assert refused(inbox, {"decision": "maybe"}).code == "DecisionNotAllowed"
        assert send(inbox, APPROVE).accepted

    def test_one_with_a_command_id_does_not_use_up_the_allowance(self):
        inbox = waiting(ticket())
        send(inbox, {"decision": "approve", "commandId": "c1"})
        answer_of(inbox)
        inbox.tickets_changed([ticket(occurrence=1)], {"gate": 1})
        assert send(inbox, APPROVE).ticket == "R:gate:1:0"
        answer_of(inbox)
        inbox.tickets_changed([ticket(occurrence=2)], {"gate": 2})
        assert send(inbox, {"decision": "approve", "commandId": "c2"}).ticket == "R:gate:2:0"

    def test_the_log_can_say_that_the_allowance_is_used(self):
        inbox = Inbox()
        inbox.started("R", "alice", {"gate": True}, unnamed_used=True)
        inbox.tickets_changed([ticket()], {})
        assert isinstance(refused(inbox, APPROVE), AmbiguousAnswer)


class TestCommandId:
    def test_a_repeat_gets_the_first_answer_whatever_it_says(self):
        inbox = waiting(ticket())
        send(inbox, to(GATE, commandId="c1"))
        repeat = Reply(run_id="R", ticket=GATE, duplicate=True)
        assert send(inbox, to(GATE, commandId="c1")) == repeat
        assert send(inbox, {"value": 5, "commandId": "c1"}) == repeat
        assert send(inbox, to("nonsense", commandId="c1")) == repeat
        assert kinds(inbox) == ["answer"]

    def test_a_late_repeat_does_not_answer_the_next_question(self):
        inbox = waiting(ticket())
        send(inbox, {"decision": "approve", "commandId": "c1"})
        answer_of(inbox)
        inbox.tickets_changed([ticket(occurrence=1)], {"gate": 1})
        reply = send(inbox, {"decision": "approve", "commandId": "c1"})
        assert reply == Reply(run_id="R", ticket=GATE, duplicate=True)
        assert inbox.take() is None

    def test_a_repeat_of_a_refused_one_is_judged_anew(self):
        inbox = waiting(ticket())
        assert refused(inbox, to(GATE, "maybe", commandId="c1")).code == "DecisionNotAllowed"
        reply = send(inbox, to(GATE, "deny", commandId="c1"))
        assert reply == Reply(run_id="R", ticket=GATE)

    def test_an_id_of_the_log_is_known_after_a_takeover(self):
        inbox = Inbox()
        closing = TicketClosing(
            ticket=GATE, outcome="answered", decision="approve", command_id="c1"
        )
        inbox.started("R", "alice", {"gate": True}, [closing])
        inbox.tickets_changed([ticket(occurrence=1)], {"gate": 1})
        reply = send(inbox, {"decision": "approve", "commandId": "c1"})
        assert reply == Reply(run_id="R", ticket=GATE, duplicate=True)


ORDER: list[tuple[dict[str, Any], str]] = [
    ({"ticket": "x", "decision": 5}, "InvalidCommand"),
    ({"ticket": "other:gate:0:0", "decision": "maybe", "actor": "bob"}, "UnknownTicket"),
    ({"ticket": "R:a:0:0", "decision": "maybe", "actor": "bob"}, "AlreadyDecided"),
    ({"ticket": "R:late:0:0", "decision": "maybe", "actor": "bob"}, "Expired"),
    ({"ticket": "R:b:0:0", "decision": "maybe", "actor": "bob", "value": 1}, "ActorNotAllowed"),
    ({"ticket": "R:b:0:0", "decision": "maybe", "actor": "anna", "value": 1}, "DecisionNotAllowed"),
    ({"ticket": "R:b:0:0", "decision": "deny", "actor": "anna", "value": 1}, "AnswerInvalid"),
    ({"decision": "maybe", "value": 1}, "AmbiguousAnswer"),
]


def strict_inbox() -> Inbox:
    rules: dict[str, Any] = {"who": ["anna"], "answer_schema": {"type": "string"}}
    late = ticket("late", deadline="2026-03-01T11:30:00Z", **rules)
    inbox = waiting(ticket("a", **rules), ticket("b", **rules), late)
    send(inbox, to("R:a:0:0", actor="anna"))
    return inbox


@pytest.mark.parametrize(("payload", "code"), ORDER)
def test_wrong_in_two_ways_gets_the_first(payload: dict[str, Any], code: str):
    assert refused(strict_inbox(), payload).code == code


@pytest.mark.parametrize(("payload", "code"), ORDER)
def test_after_the_end_only_a_wrong_shape_comes_before_the_end(payload: dict[str, Any], code: str):
    inbox = strict_inbox()
    inbox.ended("NaturalEnd")
    expected = code if code == "InvalidCommand" else "PIPELINE_TERMINAL"
    assert refused(inbox, payload).code == expected


def test_nothing_open_comes_before_the_used_allowance():
    inbox = waiting(ticket())
    send(inbox, APPROVE)
    answer_of(inbox)
    inbox.tickets_changed([], {"gate": 1})
    assert isinstance(refused(inbox, {"decision": "maybe"}), NothingToAnswer)


def test_the_end_names_its_cause():
    inbox = waiting(ticket())
    inbox.ended("Cancelled")
    refusal = refused(inbox, to(GATE))
    assert isinstance(refusal, PipelineTerminal)
    assert refusal.message == "the run is over (Cancelled); resume changes nothing"


def test_what_the_end_overtook_is_listed():
    inbox = waiting(ticket())
    send(inbox, to(GATE, actor="anna"))
    send(inbox, to("R:gate:1:0"))
    inbox.ended("Cancelled")
    assert [entry.code for entry in inbox.refusals] == ["PIPELINE_TERMINAL"] * 2
    assert inbox.refusals[0].payload == to(GATE, actor="anna")
    assert inbox.refusals[0].at == NOW
    assert inbox.take() is None
