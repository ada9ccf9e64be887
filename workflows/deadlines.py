"""Deadlines of open tickets: one timer each, from the moment the log recorded the ticket.

An answer that was taken before the timer fires wins; the losing timer is cancelled, so that no
closed ticket keeps a run busy.
"""

import asyncio
from collections import deque
from datetime import datetime, timedelta

from temporalio import workflow

from seeding.tickets import OpenTicket, TicketClosing
from workflows.graph.gate_config import DEFAULT, DENY, KEEP, read_gate
from workflows.scheduler import Plan
from workflows.summaries import summary


class Deadlines:
    """The timers of a run's open tickets.

    Attributes:
        due: Tickets whose deadline has passed and whose expiry is not committed.
    """

    def __init__(self) -> None:
        self._timers: dict[str, asyncio.Task[None]] = {}
        self.due: deque[str] = deque()

    def keep(self, open_tickets: list[OpenTicket]) -> None:
        """Hold a timer for each open ticket with a deadline, and none for any other."""
        wanted = {
            item.body.ticket: item
            for item in open_tickets
            if item.deadline is not None and item.body.on_deadline != KEEP
        }
        for ticket in list(self._timers):
            if ticket not in wanted:
                self._timers.pop(ticket).cancel()
        self.due = deque(ticket for ticket in self.due if ticket in wanted)
        for ticket, item in wanted.items():
            if ticket not in self._timers:
                self._timers[ticket] = asyncio.create_task(self._expire(ticket, item))

    def close(self) -> None:
        """Cancel every timer; the run is over."""
        self.keep([])

    async def _expire(self, ticket: str, item: OpenTicket) -> None:
        assert item.deadline is not None
        left = datetime.fromisoformat(item.deadline) - workflow.now()
        if left > timedelta(0):
            await workflow.sleep(left, summary=summary(f"deadline of {ticket}"))
        self.due.append(ticket)


def expiry(plan: Plan, item: OpenTicket) -> TicketClosing:
    """Return how a ticket leaves ``open`` by its deadline: with the answer that its gate gives."""
    ticket, decision, value = item.body, None, None
    if ticket.on_deadline == DENY:
        decision = DENY
    elif ticket.on_deadline == DEFAULT:
        gate = read_gate(plan.nodes[ticket.node_id].node)
        decision, value = (None, gate.default) if gate.allowed is None else (gate.default, None)
    return TicketClosing(ticket=ticket.ticket, outcome="expired", decision=decision, value=value)
