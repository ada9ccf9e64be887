"""What the inbox of a run says, holds and hands over.

Everything that survives continue-as-new is a model here: ``Carry`` and what it consists of.
"""

from typing import Annotated, Literal

from pydantic import Field

from seeding.identity import TicketName, parse_ticket_id
from seeding.model import Json, JsonObject, Model
from seeding.tickets import TicketClosing
from workflows.commands import Answer, Lift

Door = Literal["signal", "update"]


class Reply(Model):
    """The answer to an accepted command (contract, section 5).

    Attributes:
        run_id: None before the start activity has said which run this is.
        ticket: The ticket an answer was taken for.
        duplicate: The command was taken before; this repeats the first reply.
        pending: The answer is kept for a ticket that is not open yet, and not judged; or the
            message is queued as a turn.
        queued_turn: The number of the queued turn that a message has become.
    """

    accepted: bool = True
    run_id: str | None = None
    ticket: str | None = None
    duplicate: bool = False
    pending: bool = False
    queued_turn: int | None = None

    def to_json(self) -> JsonObject:
        """Return the reply as JSON; only that to a message says ``queuedTurn``."""
        shown = super().to_json()
        if self.queued_turn is None:
            shown.pop("queuedTurn")
        return shown


class RefusalEntry(Model):
    """One refused command, as query ``refusals`` shows it; ``at`` is its moment of receipt."""

    name: str
    code: str
    message: str
    payload: Json = None
    at: str


class CancelRequest(Model):
    """A cancel that was accepted; ``native`` is the server's own cancel."""

    reason: str | None = None
    by: Literal["door", "native"] = "door"


class KeptAnswer(Model):
    """An answer that waits, unjudged, for the ticket it names to open."""

    kind: Literal["kept"] = "kept"
    answer: Answer
    received_at: str
    unnamed: bool = False
    size: int = 0


class AnswerTaken(Model):
    """An accepted answer to commit: the winner of its ticket.

    Attributes:
        closing: How it closes its ticket.
        value_given: Whether the answer has a value, null included.
        unnamed: It came without ticket and without command id (one such a run).
    """

    kind: Literal["answer"] = "answer"
    closing: TicketClosing
    value_given: bool = False
    unnamed: bool = False
    received_at: str

    @property
    def ticket(self) -> TicketName:
        """The parts of the ticket it closes: run, node, occurrence, n."""
        name = parse_ticket_id(self.closing.ticket)
        assert name is not None, "only well-formed tickets are answered"
        return name

    def payload(self) -> JsonObject:
        """Return the command as its sender may have written it."""
        return Answer(
            ticket=self.closing.ticket,
            decision=self.closing.decision,
            value=self.closing.value,
            value_given=self.value_given,
            actor=self.closing.actor,
            command_id=self.closing.command_id,
        ).payload()


class PauseTaken(Model):
    """An accepted pause to commit."""

    kind: Literal["pause"] = "pause"
    reason: str | None = None
    received_at: str


class LiftTaken(Model):
    """An accepted lifting of a pause to commit; ``ticket`` where the sender named it."""

    kind: Literal["lift"] = "lift"
    ticket: str | None = None
    actor: str | None = None
    command_id: str | None = None
    received_at: str

    def payload(self) -> JsonObject:
        """Return the command as its sender may have written it."""
        return Lift(ticket=self.ticket, actor=self.actor, command_id=self.command_id).payload()


class TurnTaken(Model):
    """An accepted message, or what a start brought to a run it took over: a turn to queue.

    Attributes:
        request: The start it will be; a message that names no graph has none.
        supersedes: The open run is cancelled once the turn is in the queue.
        door: Where it came in.
    """

    request: JsonObject
    supersedes: bool = False
    door: Literal["signal", "update", "start"] = "update"
    received_at: str


Taken = AnswerTaken | PauseTaken | LiftTaken
QueueItem = Annotated[Taken, Field(discriminator="kind")]


class Remembered(Model):
    """A command id and the reply it got first."""

    command_id: str
    ticket: str | None = None
    pending: bool = False


class Carry(Model):
    """The inbox on its way through continue-as-new.

    ``open`` and ``pause`` name the tickets that were open, so that a command that arrives
    before the next execution has read the log binds as it would have bound before.
    """

    run_id: str | None = None
    open: list[str] = []
    pause: str | None = None
    queue: list[QueueItem] = []
    head_taken: bool = False
    kept: list[KeptAnswer] = []
    cancel: CancelRequest | None = None
    unnamed_used: bool = False
    on_busy: str = "reject"
    commands: list[Remembered] = []
    turns_taken: int = 0
    turns_stored: bool = False
    refusals: list[RefusalEntry] = []
