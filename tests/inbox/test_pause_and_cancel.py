"""INT-5, INT-16, FD-24..26: pauses, their lifting, cancels, messages, unknown names."""

import json
from typing import Any

import pytest

from seeding.tickets import TicketClosing
from tests.inbox.runs import ASKING, NOW, answer_of, kinds, pause, refused, send, ticket, waiting
from workflows.commands import Undecodable
from workflows.inbox import Inbox
from workflows.inbox_model import CancelRequest, LiftTaken, PauseTaken, Reply
from workflows.refusals import MAX_REFUSALS

PENDING = "INWARD_SIGNAL_ALREADY_PENDING"


def commit_pause(inbox: Inbox, *beside: Any, n: int = 0) -> None:
    assert isinstance(inbox.take(), PauseTaken)
    inbox.tickets_changed([*beside, pause(n)], {})


class TestPause:
    def test_fd_26_the_codes_in_their_order(self):
        inbox = waiting()
        assert send(inbox, {"reason": "lunch"}, "pause") == Reply(run_id="R")
        assert refused(inbox, {}, "pause").code == PENDING
        assert inbox.take() == PauseTaken(reason="lunch", received_at=NOW)
        inbox.tickets_changed([pause()], {})
        assert refused(inbox, {}, "pause").code == PENDING
        assert send(inbox, {}) == Reply(run_id="R", ticket="R::0:0")
        assert refused(inbox, {}).code == "NO_ACTIVE_PAUSE"
        assert isinstance(inbox.take(), LiftTaken)
        inbox.tickets_changed([], {})
        assert refused(inbox, {}).code == "NO_ACTIVE_PAUSE"
        inbox.ended("NaturalEnd")
        for name in ("pause", "cancel", "resume"):
            assert refused(inbox, {}, name).code == "PIPELINE_TERMINAL"

    def test_a_gate_is_no_pause(self):
        assert refused(waiting(ticket()), {}).code == "NO_ACTIVE_PAUSE"

    def test_it_is_pending_until_it_is_committed(self):
        inbox = waiting()
        assert not inbox.pause_pending
        send(inbox, {}, "pause")
        assert inbox.pause_pending
        assert inbox.has_commands
        commit_pause(inbox)
        assert not inbox.pause_pending
        assert not inbox.has_commands

    def test_one_that_is_not_committed_yet_is_lifted_in_order(self):
        inbox = waiting()
        send(inbox, {}, "pause")
        assert send(inbox, {}).ticket is None
        assert kinds(inbox) == ["pause", "lift"]
        commit_pause(inbox)
        assert isinstance(inbox.take(), LiftTaken)
        inbox.tickets_changed([], {})
        assert inbox.take() is None
        assert inbox.refusals == ()

    def test_a_new_one_may_follow_a_lift(self):
        inbox = waiting(pause())
        send(inbox, {})
        send(inbox, {}, "pause")
        assert isinstance(inbox.take(), LiftTaken)
        inbox.tickets_changed([], {})
        commit_pause(inbox, n=1)
        assert inbox.take() is None

    def test_answers_are_taken_while_it_is_open(self):
        inbox = waiting(ticket(), pause())
        send(inbox, {"decision": "approve"})
        assert answer_of(inbox).closing.ticket == "R:gate:0:0"
        inbox.tickets_changed([pause()], {"gate": 1})
        assert send(inbox, {}).ticket == "R::0:0"

    def test_one_that_a_budget_opened_first_is_not_opened_twice(self):
        inbox = waiting()
        send(inbox, {}, "pause")
        inbox.tickets_changed([pause()], {})
        assert inbox.take() is None
        assert inbox.refusals == ()

    def test_one_that_a_restored_run_has_already_is_not_opened_twice(self):
        inbox = Inbox()
        send(inbox, {}, "pause")
        inbox.started("R", "alice", ASKING)
        inbox.tickets_changed([pause()], {})
        assert inbox.take() is None


class TestLiftByName:
    def test_the_ticket_of_the_pause_lifts_it(self):
        inbox = waiting(pause())
        given = {"ticket": "R::0:0", "actor": "anna", "commandId": "c1"}
        assert send(inbox, given) == Reply(run_id="R", ticket="R::0:0")
        assert send(inbox, given) == Reply(run_id="R", ticket="R::0:0", duplicate=True)
        assert inbox.take() == LiftTaken(
            ticket="R::0:0", actor="anna", command_id="c1", received_at=NOW
        )

    def test_a_late_copy_does_not_lift_the_next_pause(self):
        inbox = waiting(pause())
        send(inbox, {"ticket": "R::0:0"})
        inbox.take()
        inbox.tickets_changed([pause(1)], {})
        refusal = refused(inbox, {"ticket": "R::0:0"})
        assert refusal.code == "AlreadyDecided"
        assert inbox.take() is None

    def test_another_pause_is_unknown(self):
        assert refused(waiting(pause()), {"ticket": "R::0:1"}).code == "UnknownTicket"
        assert refused(waiting(), {"ticket": "R::0:0"}).code == "UnknownTicket"
        assert refused(waiting(pause()), {"ticket": "other::0:0"}).code == "UnknownTicket"

    def test_the_name_of_a_pause_that_is_not_committed_is_compared_later(self):
        inbox = waiting()
        send(inbox, {}, "pause")
        assert send(inbox, {"ticket": "R::0:9"}).pending
        commit_pause(inbox)
        assert inbox.take() is None
        assert [entry.code for entry in inbox.refusals] == ["UnknownTicket"]

    def test_a_pause_takes_no_decision(self):
        given = {"ticket": "R::0:0", "decision": "approve"}
        assert refused(waiting(pause()), given).code == "DecisionNotAllowed"

    def test_before_the_run_is_known_it_is_kept(self):
        inbox = Inbox()
        assert send(inbox, {"ticket": "R::0:0"}).pending
        inbox.started("R", "alice", ASKING)
        inbox.tickets_changed([pause()], {})
        assert isinstance(inbox.take(), LiftTaken)

    def test_before_a_run_that_is_not_paused_it_comes_to_nothing(self):
        inbox = Inbox()
        send(inbox, {"ticket": "R::0:0"})
        inbox.started("R", "alice", ASKING)
        inbox.tickets_changed([], {})
        assert inbox.take() is None
        assert [entry.code for entry in inbox.refusals] == ["NO_ACTIVE_PAUSE"]


class TestCancel:
    def test_it_is_noted_and_a_second_one_is_refused(self):
        inbox = waiting()
        assert send(inbox, {"reason": "wrong"}, "cancel") == Reply(run_id="R")
        assert inbox.cancel == CancelRequest(reason="wrong", by="door")
        assert refused(inbox, {}, "cancel").code == PENDING

    def test_a_paused_run_can_be_cancelled(self):
        inbox = waiting(ticket(), pause())
        assert send(inbox, {}, "cancel").accepted

    def test_no_pause_beside_a_cancel(self):
        inbox = waiting()
        send(inbox, {}, "cancel")
        assert refused(inbox, {}, "pause").code == PENDING

    def test_the_servers_own_cancel_is_noted_without_refusal(self):
        inbox = waiting()
        inbox.native_cancel("by the button")
        assert inbox.cancel == CancelRequest(reason="by the button", by="native")
        inbox.native_cancel()
        assert inbox.cancel == CancelRequest(reason="by the button", by="native")
        assert refused(inbox, {}, "cancel").code == PENDING

    def test_the_first_reason_stays(self):
        inbox = waiting()
        send(inbox, {"reason": "first"}, "cancel")
        inbox.native_cancel("second")
        assert inbox.cancel == CancelRequest(reason="first", by="door")

    def test_after_the_end_the_servers_cancel_is_nothing(self):
        inbox = waiting()
        inbox.ended("NaturalEnd")
        inbox.native_cancel()
        assert inbox.cancel is None


class TestMessage:
    def test_reject_refuses_and_names_what_the_run_waits_for(self):
        refusal = refused(waiting(ticket()), {"message": "hi"}, "message")
        assert refusal.code == "ThreadBusy"
        assert "it waits for R:gate:0:0; the message was not taken" in refusal.message


BAD_SIGNALS: list[tuple[str, Any, Any]] = [
    ("approve", [{"a": 1}], {"a": 1}),
    ("resume", [], None),
    ("resume", [{}, {}], [{}, {}]),
    ("resume", ["x"], "x"),
    ("cancel", Undecodable(text="binary/x, 3 bytes"), "binary/x, 3 bytes"),
    ("resume", [{"value": float("nan")}], '{"value": NaN}'),
    ("resume", [{"value": "\ud800"}], '{"value": "\\ud800"}'),
    ("\ud800", [None], None),
    ("x" * 5_000, [None], None),
]


class TestSignals:
    def test_a_good_one_is_taken(self):
        inbox = waiting(ticket())
        inbox.receive_signal("resume", [{"decision": "deny"}], NOW)
        assert answer_of(inbox).closing.decision == "deny"
        assert inbox.refusals == ()

    def test_a_refused_one_is_listed(self):
        inbox = waiting()
        inbox.receive_signal("resume", [{"ticket": "x", "decision": "deny"}], NOW)
        (entry,) = inbox.refusals
        assert entry.to_json() == {
            "name": "resume",
            "code": "UnknownTicket",
            "message": "'x' is no ticket that is open or may still open in this run of thread "
            "'alice'; open: none",
            "payload": {"ticket": "x", "decision": "deny"},
            "at": NOW,
        }

    def test_a_refused_update_is_not_listed(self):
        inbox = waiting()
        refused(inbox, {"decision": "deny"})
        assert inbox.refusals == ()

    @pytest.mark.parametrize(("name", "arguments", "shown"), BAD_SIGNALS)
    def test_whatever_comes_is_listed_and_can_be_shown(self, name: str, arguments: Any, shown: Any):
        inbox = waiting()
        inbox.receive_signal(name, arguments, NOW)
        (entry,) = inbox.refusals
        assert entry.code == "InvalidCommand"
        assert entry.payload == shown
        written = json.dumps(entry.to_json(), allow_nan=False, ensure_ascii=False).encode()
        assert len(written) < 4_096

    def test_a_large_payload_is_shortened(self):
        inbox = waiting()
        inbox.receive_signal("resume", [{"value": "x" * 100_000}], NOW)
        assert inbox.refusals[0].payload == '{"value": "' + "x" * 1013 + "…"

    def test_a_payload_that_is_nested_too_deeply_is_listed(self):
        value: Any = 1
        for _ in range(100_000):
            value = [value]
        inbox = waiting()
        inbox.receive_signal("resume", [{"value": value}], NOW)
        assert inbox.refusals[0].payload == "(cannot be shown: RecursionError)"

    def test_the_last_hundred_are_kept(self):
        inbox = waiting()
        for number in range(MAX_REFUSALS + 5):
            inbox.receive_signal("cancel", [number], NOW)
        assert [entry.payload for entry in inbox.refusals] == list(range(5, MAX_REFUSALS + 5))


def test_a_pause_that_ends_with_its_run_is_decided():
    inbox = waiting(pause())
    inbox.tickets_changed([], {}, [TicketClosing(ticket="R::0:0", outcome="cancelled")])
    assert refused(inbox, {"ticket": "R::0:0"}).message.endswith("is decided: cancelled")
