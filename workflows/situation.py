"""What the inbox knows when it judges a command, and what becomes of one that it accepts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from seeding.tickets import OpenTicket, TicketClosing
from workflows.inbox_model import (
    AnswerTaken,
    CancelRequest,
    KeptAnswer,
    LiftTaken,
    PauseTaken,
    Remembered,
    Reply,
    TurnTaken,
)

MAX_LISTED = 20
"""How many open tickets a refusal names."""

Phase = Literal["starting", "open", "ended"]
Effect = AnswerTaken | PauseTaken | LiftTaken | KeptAnswer | CancelRequest | TurnTaken


@dataclass(frozen=True)
class Situation:
    """What the inbox knows at one moment; the mappings are views and not to be changed.

    Attributes:
        open: Open tickets by id, pauses included; empty while starting.
        undecided: Ids of the open tickets of nodes that have no winner yet. While starting
            after continue-as-new, those the last execution left open.
        pause: Id of the open pause.
        pause_active: Whether a pause is in force once all accepted commands are committed.
        pause_pending: Whether a pause is accepted and not committed, so its id is unknown.
        winner: Returns how a ticket of this run is decided, committed or not; None if it is not.
        next_occurrence: Returns a node's lowest occurrence that may still open a ticket.
        unstored: How many turns are not in the log's queue yet, and their bytes.
    """

    phase: Phase
    run_id: str | None
    thread_id: str | None
    open: Mapping[str, OpenTicket]
    undecided: Sequence[str]
    pause: str | None
    pause_active: bool
    pause_pending: bool
    winner: Callable[[str], TicketClosing | None]
    can_ask: Mapping[str, bool]
    next_occurrence: Callable[[str], int]
    commands: Mapping[str, Remembered]
    unnamed_used: bool
    cancelling: bool
    cause: str | None
    on_busy: str
    kept_count: int
    kept_bytes: int
    unstored: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Admission:
    """An accepted command: what its sender is told, and what the inbox does about it."""

    reply: Reply
    effect: Effect | None = None
    command_id: str | None = None
