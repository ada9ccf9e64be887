"""Contract, section 5: a message to a run is refused, or taken to be queued as a turn (KU-34)."""

from typing import Any

import pytest

from seeding.errors import UnknownGraph
from tests.inbox.runs import ASKING, NOW, refused, send, ticket, waiting
from workflows.inbox import Inbox
from workflows.inbox_model import Reply
from workflows.message_line import MAX_UNSTORED

QUEUED = {"message": "hi", "onBusy": "queue"}
STORED = Reply(run_id="R", pending=True, queued_turn=1)


def starting(on_busy: str = "reject") -> Inbox:
    return Inbox(on_busy)


def ended() -> Inbox:
    inbox = waiting()
    inbox.ended("NaturalEnd")
    return inbox


@pytest.mark.parametrize("phase", [starting, waiting, ended])
@pytest.mark.parametrize("on_busy", ["queue", "supersede"])
def test_it_is_taken_in_every_phase(phase: Any, on_busy: str):
    inbox = phase()

    reply = send(inbox, {"message": "hi", "onBusy": on_busy}, "message")

    assert (reply.accepted, reply.pending, reply.ticket) == (True, True, None)
    assert inbox.line.first is not None
    number, turn = inbox.line.first
    assert (number, turn.request, turn.supersedes) == (1, {"message": "hi"}, on_busy == "supersede")
    assert inbox.cancel is None


def test_rejected_it_is_busy_while_the_run_is_open_and_terminal_afterwards():
    assert refused(starting(), {"message": "hi"}, "message").code == "ThreadBusy"
    assert refused(waiting(), {"message": "hi"}, "message").code == "ThreadBusy"
    assert refused(ended(), {"message": "hi"}, "message").code == "PIPELINE_TERMINAL"


def test_the_runs_config_decides_where_the_message_does_not():
    inbox = starting("queue")
    assert send(inbox, {"message": "hi"}, "message").pending
    inbox.started("R", "alice", ASKING, on_busy="supersede")
    send(inbox, {"message": "ho"}, "message")
    assert refused(inbox, {"message": "hi", "onBusy": "reject"}, "message").code == "ThreadBusy"
    inbox.turn_settled(STORED)
    assert inbox.line.first is not None
    assert inbox.line.first[1].supersedes


def test_it_answers_no_ticket():
    inbox = waiting(ticket())
    send(inbox, {**QUEUED, "message": "approve"}, "message")
    assert inbox.take() is None
    assert not inbox.has_commands


def test_what_its_sender_named_goes_along_and_nothing_else():
    inbox = waiting()
    send(inbox, {**QUEUED, "graph": "g", "idempotencyKey": "k"}, "message")
    assert inbox.line.first is not None
    assert inbox.line.first[1].request == {"message": "hi", "graph": "g", "idempotencyKey": "k"}


def test_one_that_supersedes_cancels_once_it_is_stored_and_not_when_it_was_known():
    inbox = waiting()
    for duplicate in (True, False):
        send(inbox, {"message": "hi", "onBusy": "supersede"}, "message")
        assert inbox.cancel is None
        inbox.turn_settled(STORED.model_copy(update={"duplicate": duplicate}))
    assert inbox.cancel is not None
    assert inbox.cancel.reason == "superseded"


def test_a_refused_signal_is_listed_and_a_refused_update_is_answered():
    inbox = waiting()
    inbox.receive_signal("message", [QUEUED], NOW)
    inbox.turn_settled(UnknownGraph("no graph"))
    assert [(item.name, item.code) for item in inbox.refusals] == [("message", "UnknownGraph")]

    send(inbox, QUEUED, "message")
    refusal = UnknownGraph("no graph")
    inbox.turn_settled(refusal)
    assert len(inbox.refusals) == 1
    assert inbox.line.outcome(inbox.line.taken) is refusal


def test_only_so_many_wait_for_a_log_that_does_not_answer():
    inbox = waiting()
    for _ in range(MAX_UNSTORED):
        send(inbox, QUEUED, "message")
    assert "100 messages wait for the log" in refused(inbox, QUEUED, "message").message
    inbox.turn_settled(STORED)
    send(inbox, QUEUED, "message")


def test_so_many_bytes_wait_for_a_log_that_does_not_answer():
    inbox = waiting()
    for _ in range(4):
        send(inbox, {**QUEUED, "message": "x" * 60_000}, "message")
    assert refused(inbox, {**QUEUED, "message": "x" * 60_000}, "message").code == "ThreadBusy"


def test_the_count_goes_on_over_continue_as_new():
    inbox = waiting()
    send(inbox, QUEUED, "message")
    inbox.turn_settled(STORED)
    again = Inbox.from_carry(inbox.carry())
    send(again, QUEUED, "message")
    assert again.line.first is not None
    assert (again.line.first[0], again.line.stored) == (2, True)
