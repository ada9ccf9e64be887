"""The answers an execution has had, also those of the runs its run goes on with."""

from sqlalchemy import Connection, bindparam, select

from activities.log.encoding import load
from activities.log.facts import MANY
from activities.log.run_points import read_run_points
from activities.log.tables import tickets
from seeding.errors import CorruptLog
from seeding.identity import ticket_id
from seeding.tickets import TicketClosing

_CLOSED = select(tickets.c.ticket, tickets.c.closing).where(
    tickets.c.ticket.in_(bindparam("tickets", expanding=True)),
    tickets.c.closed_version <= bindparam("version"),
)


def read_answers(
    connection: Connection, run_id: str, node_id: str, occurrence: int, count: int
) -> list[TicketClosing]:
    """Return how the first ``count`` questions of an execution were closed, in order.

    One that a run it goes on with was answered counts; where both have one, the newer run's.

    Raises:
        CorruptLog: Of one of them nothing says how it was closed.
    """
    found: dict[int, TicketClosing] = {}
    closed: dict[int, None] = {}
    for point in read_run_points(connection, run_id):
        numbers = {ticket_id(point.run_id, node_id, occurrence, n): n for n in range(count)}
        asked = list(numbers)
        for first in range(0, count, MANY):
            parameters = {"tickets": asked[first : first + MANY], "version": point.up_to}
            for ticket, closing in connection.execute(_CLOSED, parameters):
                read = TicketClosing.model_validate(load(closing, f"the closing of {ticket}"))
                closed[numbers[ticket]] = None
                if read.outcome == "answered":
                    found[numbers[ticket]] = read
    for n in range(count):
        if n not in closed:
            raise CorruptLog(
                f"ticket {ticket_id(run_id, node_id, occurrence, n)} was closed and is not in the "
                "list of tickets; fermata rebuild makes it again"
            )
    return [found[n] for n in sorted(found)]
