"""What the client says of a run: started, waiting, over."""

from enum import Enum
from typing import Literal

from pydantic import Field

from seeding.model import Json, JsonObject, Model, OpenModel


class NotGiven(Enum):
    """Marks an answer without a value; null is a value."""

    NOT_GIVEN = "not given"


NOT_GIVEN = NotGiven.NOT_GIVEN


class StartedRun(Model):
    """A run the server has taken on; whether the start is refused, its result says.

    ``run_id`` is the id of a run that this start opens. One that goes on with a run which had
    lost its workflow goes on under that run's id, which ``LiveRuns.opened`` returns.
    """

    run_id: str
    thread_id: str
    workflow_id: str


class TakenUp(Model):
    """A started run, and the id it goes on under; None where no worker has taken it up yet."""

    started: StartedRun
    run_id: str | None


class WaitingTicket(OpenModel):
    """An open ticket as ``waitingFor`` shows it (contract 4)."""

    ticket: str
    node_id: str = ""
    occurrence: int = 0
    kind: str
    message: str | None = None
    input: Json = None
    answer_schema: JsonObject | None = Field(default=None, alias="schema")
    allowed: list[str] | None = None
    created_at: str
    deadline: str | None = None

    @property
    def is_pause(self) -> bool:
        """Whether this is a pause, which is lifted and not answered."""
        return self.kind == "pause"


class Standing(Model):
    """Where a run has come to: it waits for somebody, or it is over.

    Attributes:
        phase: ``awaiting`` or ``paused`` for a run that waits, else ``ended``.
        tickets: What it waits for.
        warnings: What its start warned of, ``{"code", "message"}`` each.
        result: The result of a run that is over (contract 3).
    """

    run_id: str
    thread_id: str
    phase: Literal["awaiting", "paused", "ended"]
    tickets: tuple[WaitingTicket, ...] = ()
    warnings: tuple[JsonObject, ...] = ()
    result: JsonObject | None = None
