"""What goes into the scheduler and what comes out of it, beside the position itself."""

from dataclasses import dataclass
from typing import Literal

from seeding.commits import EndCause, PositionHead, RunRow, StateCommand
from seeding.identity import ticket_id
from seeding.model import Json, JsonObject, Model
from seeding.tickets import Ticket, TicketKind
from workflows.position import Position


class NodeFailureReport(Model):
    """How an execution failed.

    Attributes:
        message: For people.
        code: For programs.
        retryable: As the node gave it; only a literal true retries (ERR-2).
        details: Added to the error object only if given.
        routable: Whether this is a node-level failure, which may follow an error edge; any
            other failure never does (ERR-3).
        cause: The original error of a failure that is not node-level.
    """

    message: str
    code: str = "node_error"
    retryable: Json = False
    details: Json = None
    routable: bool = True
    cause: str | None = None


class Turn(Model):
    """What a ``for_each`` execution does to its iterator.

    Attributes:
        kind: A round, or the closing execution.
        items: The items, on an execution that enters the loop; None otherwise.
        result: What came back from the round before, on a re-entry.
    """

    kind: Literal["round", "closing"]
    items: list[Json] | None = None
    result: Json = None


class Completion(Model):
    """The end of one execution: its outputs by port, or its failure.

    ``outputs`` are as the node gave them, control outputs and all. ``retries`` is how many
    retries this execution spent before (ERR-11).
    """

    node_id: str
    occurrence: int
    outputs: JsonObject = {}
    failure: NodeFailureReport | None = None
    turn: Turn | None = None
    retries: int = 0


class Asked(Model):
    """A question of one execution: the ticket to open, without its address."""

    node_id: str
    occurrence: int
    kind: TicketKind = "approval"
    message: str | None = None
    input: Json = None
    answer_schema: JsonObject | None = None
    allowed: list[str] | None = None
    who: list[str] | None = None
    deadline_after: float | None = None
    on_deadline: str | None = None
    approved_by: list[str] | None = None

    def ticket(self, run_id: str, thread_id: str, n: int) -> Ticket:
        """Return the ticket this question opens; ``n`` is the execution's ``ask``."""
        return Ticket(
            ticket=ticket_id(run_id, self.node_id, self.occurrence, n),
            run_id=run_id,
            thread_id=thread_id,
            **self.model_dump(),
        )


class Limits(Model):
    """What a completion is judged against beside the position.

    Attributes:
        max_iterations: The largest ``iterationCount`` (SG-14).
        data_keys: The keys the thread's ``data`` has now, for a state update that clears it.
        metadata_keys: The same of ``metadata``.
    """

    max_iterations: int
    data_keys: tuple[str, ...] = ()
    metadata_keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One transition: the next position and what the commit that makes it durable holds.

    Attributes:
        position: The position after it.
        head: Its small part, for the commit row.
        rows: Outputs, items and results to append.
        state: Thread cells that a node set or removed, and the position cells that changed.
        messages: Messages to append, without ids.
        node_id: The node whose completion, question or answer this is; None at the opening.
        warnings: ``{"code", "message"}`` each.
        asked: The question whose ticket this step opens.
    """

    position: Position
    head: PositionHead
    rows: tuple[RunRow, ...] = ()
    state: tuple[StateCommand, ...] = ()
    messages: tuple[JsonObject, ...] = ()
    node_id: str | None = None
    warnings: tuple[JsonObject, ...] = ()
    asked: Asked | None = None


@dataclass(frozen=True)
class Ending:
    """The run ends here and the completion is not applied (SG-14).

    ``report`` is the metadata of the run's result.
    """

    cause: EndCause
    report: JsonObject
