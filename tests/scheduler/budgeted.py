"""Runs with a budget of passes, as commits alone: what completed together, what may begin then."""

from collections.abc import Mapping, Sequence

from seeding.commits import Opening, PositionHead
from seeding.model import JsonObject
from seeding.request import RunConfig
from seeding.tickets import TicketClosing
from workflows import pass_budget
from workflows.completions import Batch, next_control, settle
from workflows.effects import EffectId, Finished, effect_id
from workflows.endings import reason_to_end
from workflows.graph.model import Graph
from workflows.held import Held, RunFacts, after
from workflows.inbox_model import AnswerTaken, CancelRequest
from workflows.scheduler import Execution, NodeFailureReport, due, open_position
from workflows.transitions import lift_commit, opening_commit, pause_commit, pause_ticket
from workflows.wire import AskWire, NodeCallResult

from .graphs import plan_of

NO_INPUT: Mapping[str, JsonObject] = {}
OPENING = Opening(run_epoch=1, chain_id="R", graph_id="test", graph_digest="0" * 64)


def facts(max_passes: int | None) -> RunFacts:
    """Return what never changes of a run R with this budget."""
    config = RunConfig(max_passes=max_passes)
    return RunFacts("alice", "R", 1, 1, "main", "test@0", config, {})


class Budgeted:
    """A run on effects that are told when to complete; begins and pauses as the rules say."""

    def __init__(self, built: Graph, max_passes: int | None) -> None:
        self.plan = plan_of(built)
        step = open_position(self.plan, NO_INPUT, 10_000)
        held = Held(facts=facts(max_passes), position=step.position, head=step.head)
        opening = opening_commit(held, OPENING, step, messages=[], state=[], events=[])
        self.held = after(held, opening, step.position)
        self.called: list[str] = []
        self._in_flight: dict[EffectId, str] = {}
        self.settle_controls()

    @property
    def in_flight(self) -> list[str]:
        """The nodes that were called and have not ended."""
        return list(self._in_flight.values())

    @property
    def is_paused(self) -> bool:
        """Whether the run holds a pause."""
        return self.held.pause is not None

    @property
    def due(self) -> list[str]:
        """The nodes that are due, called or not."""
        return [execution.node_id for execution in due(self.held.position)]

    def finish(self, *nodes: str) -> "Budgeted":
        """Commit, in one batch, the ends of the calls of these nodes."""
        return self.finish_with(ends=nodes)

    def fail(self, node: str) -> "Budgeted":
        """Commit a failure of a node, which no error edge takes."""
        return self.finish_with(fails=[node])

    def ask(self, node: str) -> "Budgeted":
        """Commit the question that the call of a node came to."""
        return self.finish_with(asks=[node])

    def finish_with(
        self, *, ends: Sequence[str] = (), asks: Sequence[str] = (), fails: Sequence[str] = ()
    ) -> "Budgeted":
        """Commit, in one batch, what the calls of nodes came to: ends, questions, failures."""
        ended, asked = NodeCallResult(outputs={"out": 1}), NodeCallResult(ask=AskWire(message="?"))
        boom = NodeFailureReport(message="boom")
        come: list[tuple[str, NodeCallResult, NodeFailureReport | None]] = [
            *((node, ended, None) for node in ends),
            *((node, asked, None) for node in asks),
            *((node, NodeCallResult(), boom) for node in fails),
        ]
        batch = Batch(self.held)
        for node, result, failure in come:
            execution = self.held.position.executions[node]
            del self._in_flight[effect_id(execution)]
            batch.add(settle(self.plan, batch.held, Finished(execution, result, failure, 0)))
        self.held = batch.held
        return self.settle_controls()

    def why_end(self, cancel: CancelRequest | None = None) -> str | None:
        """Return the kind of the cause the run is to end with, None while it goes on."""
        ending = reason_to_end(self.plan, self.held, cancel, None)
        return None if ending is None else ending.cause.kind

    def answer(self, node: str) -> "Budgeted":
        """Commit an answer to the open question of a node."""
        ticket = next(item.ticket for item in self.held.tickets if item.node_id == node)
        taken = AnswerTaken(
            closing=TicketClosing(ticket=ticket, outcome="answered", decision="yes"),
            received_at="2026-03-01T12:00:00Z",
        )
        batch = Batch(self.held)
        batch.add(settle(self.plan, self.held, taken))
        self.held = batch.held
        return self._go_on()

    def pause(self) -> "Budgeted":
        """Commit a person's pause; what is in flight goes on."""
        self.held = after(self.held, pause_commit(self.held, pause_ticket(self.held, "lunch")))
        return self

    def lift(self) -> "Budgeted":
        """Commit the lifting of the open pause."""
        assert self.held.pause is not None
        closing = TicketClosing(ticket=self.held.pause.ticket, outcome="answered")
        self.held = after(self.held, lift_commit(self.held, closing))
        return self.settle_controls()

    def settle_controls(self) -> "Budgeted":
        """Commit the control nodes that are due, unless the run is paused, and go on."""
        batch = Batch(self.held)
        while not self.is_paused and (control := next_control(batch.held)) is not None:
            batch.add(settle(self.plan, batch.held, control))
        self.held = batch.held
        return self._go_on()

    def taken_over(self) -> "Budgeted":
        """Lose what was called and has not ended, and go on from the last commit."""
        self._in_flight.clear()
        stored = self.held.head.model_dump_json(by_alias=True)
        assert PositionHead.model_validate_json(stored) == self.held.head
        return self._go_on()

    def _go_on(self) -> "Budgeted":
        if self.is_paused or self.why_end() is not None:
            return self
        if not self._in_flight and pass_budget.is_reached(self.held, self._is_called):
            ticket = pause_ticket(self.held, pass_budget.REASON, pass_budget.said_of(self.held))
            self.held = after(self.held, pause_commit(self.held, ticket))
            return self
        for execution in pass_budget.within(self.held):
            if not self._is_called(execution):
                self._in_flight[effect_id(execution)] = execution.node_id
                self.called.append(execution.node_id)
        return self

    def _is_called(self, execution: Execution) -> bool:
        return effect_id(execution) in self._in_flight
