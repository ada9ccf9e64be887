"""Whatever arrives, in whatever order: one winner a ticket, nothing lost, carry unseen.

A small engine stands in for the run: it opens tickets, commits what it takes and keeps the log.
Two inboxes get the same commands; one of them is carried to a new execution every now and then.
"""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from seeding.errors import CommandRefused
from seeding.model import JsonObject
from seeding.tickets import OpenTicket, TicketClosing
from tests.inbox.runs import ASKING, NOW, pause, ticket
from workflows.inbox import Inbox
from workflows.inbox_model import AnswerTaken, PauseTaken, Reply

Told = Callable[[Inbox], None]


class Engine:
    """A run that opens tickets and commits commands, with a log."""

    def __init__(self) -> None:
        self.log: list[TicketClosing] = []
        self.open: dict[str, OpenTicket] = {}
        self.behind = {"a": 0, "b": 0}
        self.pauses = 0
        self.accepted = self.refused = 0
        self.steady, self.carried = Inbox(), Inbox()
        self.both(lambda inbox: inbox.started("R", "alice", ASKING))
        self.tell([])

    def both(self, told: Told) -> None:
        told(self.steady)
        told(self.carried)

    def tell(self, closed: list[TicketClosing]) -> None:
        shown = list(self.open.values())
        self.both(lambda inbox: inbox.tickets_changed(shown, dict(self.behind), closed))

    def close(self, closing: TicketClosing) -> None:
        gone = self.open.pop(closing.ticket).body
        if gone.node_id:
            self.behind[gone.node_id] += 1
        self.log.append(closing)

    def send(self, name: str, payload: Any) -> None:
        outcomes: list[Reply | str] = []
        for inbox in (self.steady, self.carried):
            try:
                outcomes.append(inbox.receive(name, [payload], NOW, door="signal"))
            except CommandRefused as error:
                outcomes.append(f"{error.code}: {error.message}")
        assert outcomes[0] == outcomes[1]
        if name == "resume" and isinstance(outcomes[0], Reply):
            self.accepted += not outcomes[0].duplicate
        elif name == "resume":
            self.refused += 1

    def ask(self, node: str) -> None:
        opened = ticket(node, self.behind[node])
        if opened.body.ticket not in self.open:
            self.open[opened.body.ticket] = opened
            self.tell([])

    def complete(self, node: str) -> None:
        if not any(item.body.node_id == node for item in self.open.values()):
            self.behind[node] += 1
            self.tell([])

    def expire(self, _: str) -> None:
        for name in list(self.open):
            if self.steady.winner(name) is None and not self.open[name].body.is_pause:
                closing = TicketClosing(ticket=name, outcome="expired")
                self.close(closing)
                self.tell([closing])
                return

    def commit(self, how: str) -> None:
        taken = self.steady.take()
        assert taken == self.carried.take()
        if taken is None:
            return
        closed: list[TicketClosing] = []
        if isinstance(taken, AnswerTaken):
            closed = [taken.closing]
        elif isinstance(taken, PauseTaken):
            opened = pause(self.pauses)
            self.open[opened.body.ticket] = opened
            self.pauses += 1
        else:
            held = next(name for name, item in self.open.items() if item.body.is_pause)
            closed = [TicketClosing(ticket=held, outcome="answered", actor=taken.actor)]
        for closing in closed:
            self.close(closing)
        if how == "acknowledged":
            self.tell(closed)
        else:
            self.both(lambda inbox: inbox.started("R", "alice", ASKING, self.log))
            self.tell([])

    def continue_as_new(self, _: str) -> None:
        self.carried = Inbox.from_carry(json.loads(json.dumps(self.carried.carry())))
        self.carried.started("R", "alice", ASKING, self.log)
        self.carried.tickets_changed(list(self.open.values()), dict(self.behind))

    def check(self) -> None:
        decided = [closing.ticket for closing in self.log]
        assert len(decided) == len(set(decided))
        assert self.steady.refusals == self.carried.refusals
        assert self.steady.has_commands == self.carried.has_commands
        assert self.steady.cancel == self.carried.cancel
        for name in (*self.open, *decided):
            assert self.steady.winner(name) == self.carried.winner(name)

    def check_nothing_is_lost(self) -> None:
        """Every accepted answer is in the log, listed as refused, queued or kept."""
        held: JsonObject = self.steady.carry()
        logged = [closing for closing in self.log if closing.outcome == "answered"]
        listed = [entry for entry in self.steady.refusals if entry.name == "resume"]
        queued = [item for item in held["queue"] if item["kind"] != "pause"]
        late = len(listed) - self.refused
        assert self.accepted == len(logged) + late + len(queued) + len(held["kept"])


tickets = st.sampled_from(
    ["R:a:0:0", "R:a:1:0", "R:a:2:0", "R:b:0:0", "R:b:1:0", "R:check:0:0", "S:a:0:0", "R::0:0"]
)
decisions = st.sampled_from(["approve", "deny", "maybe"])
command_ids = st.sampled_from(["c1", "c2", "c3"])
answers = st.fixed_dictionaries(
    {"decision": decisions}, optional={"ticket": tickets, "commandId": command_ids}
)
LIFTS: list[dict[str, str]] = [{}, {"ticket": "R::0:0"}, {"ticket": "R::0:1"}]
lifts = st.sampled_from(LIFTS)
steps = st.one_of(
    st.tuples(st.just("resume"), answers),
    st.tuples(st.just("resume"), lifts),
    st.tuples(st.just("pause"), st.just(LIFTS[0])),
    st.tuples(st.sampled_from(["ask", "complete"]), st.sampled_from(["a", "b"])),
    st.tuples(st.just("commit"), st.sampled_from(["acknowledged", "log is ahead"])),
    st.tuples(st.sampled_from(["expire", "continue_as_new"]), st.just("")),
)


def play(engine: Engine, step: tuple[str, Any]) -> None:
    name, what = step
    if name in ("resume", "pause", "cancel"):
        engine.send(name, what)
    else:
        getattr(engine, name)(what)
    engine.check()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(steps, max_size=40))
def test_one_winner_a_ticket_nothing_lost_and_carry_unseen(played: list[tuple[str, Any]]):
    engine = Engine()
    for step in played:
        play(engine, step)
    engine.check_nothing_is_lost()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(steps, max_size=25), st.integers(min_value=1, max_value=10))
def test_pb_e10_an_unnamed_answer_sent_again_decides_no_second_ticket(
    played: list[tuple[str, Any]], later: int
):
    engine = Engine()
    unnamed: JsonObject = {"decision": "deny", "actor": "once"}
    engine.ask("a")
    engine.send("resume", unnamed)
    for number, step in enumerate(played):
        play(engine, step)
        if number % later == 0:
            engine.send("resume", unnamed)
    won = [closing for closing in engine.log if closing.actor == "once"]
    assert len(won) <= 1
