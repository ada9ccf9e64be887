"""What a run shows of itself in search attributes: small, bounded, a projection (contract 5)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from temporalio.common import SearchAttributeKey, SearchAttributeUpdate

from workflows.held import Held
from workflows.outcome import RESULT_STATUS
from workflows.showing import phase_of

SEARCH_ATTRIBUTES = {
    "ThreadId": "Keyword",
    "RunStatus": "Keyword",
    "GraphId": "Keyword",
    "CurrentNode": "Keyword",
    "OpenTickets": "KeywordList",
    "NextDeadline": "Datetime",
}
"""The attributes by name, with the type each is registered as."""

MAX_TICKETS = 20
MAX_TICKET_BYTES = 1500
"""The server terminates a run whose list passes 2,048 bytes (prototypes, A4)."""

MAX_VALUE = 255
"""The most characters of one value."""

_THREAD = SearchAttributeKey.for_keyword("ThreadId")
_STATUS = SearchAttributeKey.for_keyword("RunStatus")
_GRAPH = SearchAttributeKey.for_keyword("GraphId")
_NODE = SearchAttributeKey.for_keyword("CurrentNode")
_TICKETS = SearchAttributeKey.for_keyword_list("OpenTickets")
_DEADLINE = SearchAttributeKey.for_datetime("NextDeadline")


def status_shown(held: Held) -> str:
    """Return ``RunStatus``: the phase, or the result's status once the run ended."""
    return phase_of(held) if held.cause is None else RESULT_STATUS[held.cause.kind]


def standing(held: Held) -> tuple[object, ...]:
    """Return what has to change for the attributes to be set again: one event each time.

    They are set when a run opens, waits, goes on after a wait, or ends; never once a step.
    """
    return (status_shown(held), *(ticket.ticket for ticket in held.tickets))


def updates(held: Held, available: Sequence[str]) -> list[SearchAttributeUpdate[Any]]:
    """Return the updates that show ``held``, of the attributes that the server has."""
    deadlines = sorted(item.deadline for item in held.open_tickets if item.deadline)
    graph_id = held.facts.graph_name.rpartition("@")[0]
    wanted: list[SearchAttributeUpdate[Any]] = [
        _THREAD.value_set(held.facts.thread_id[:MAX_VALUE]),
        _STATUS.value_set(status_shown(held)),
        _GRAPH.value_set(graph_id[:MAX_VALUE]),
        _NODE.value_set(held.head.current_node_id[:MAX_VALUE]),
        _TICKETS.value_set(bounded_tickets([ticket.ticket for ticket in held.tickets])),
        _DEADLINE.value_set(datetime.fromisoformat(deadlines[0]))
        if deadlines
        else _DEADLINE.value_unset(),
    ]
    return [update for update in wanted if update.key.name in available]


def bounded_tickets(tickets: Sequence[str]) -> list[str]:
    """Return at most 20 ticket ids and 1,500 bytes of them; ``+n`` stands for the others."""
    shown: list[str] = []
    size = 0
    for ticket in tickets:
        size += len(ticket.encode())
        if len(shown) == MAX_TICKETS or size > MAX_TICKET_BYTES or len(ticket) > MAX_VALUE:
            break
        shown.append(ticket)
    rest = len(tickets) - len(shown)
    return [*shown, f"+{rest}"] if rest else shown
