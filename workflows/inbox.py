"""The inbox of a run: one place where signals and updates arrive (design 4.6, contract 5).

The workflow holds one :class:`Inbox`, hands every command to it with the moment of receipt,
and takes accepted commands out in the order in which they were accepted. Judging is pure and
lies in ``admission`` and ``judging``; this class keeps what they need to know. It reads no
clock and waits for nothing.
"""

from collections.abc import Mapping, Sequence

from seeding.errors import (
    CommandRefused,
    FermataError,
    InvalidCommand,
    NoActivePause,
    PipelineTerminal,
)
from seeding.model import JsonObject
from seeding.run_endings import SUPERSEDED
from seeding.tickets import OpenTicket, TicketClosing
from workflows.accepted_commands import CommandMemory, as_told
from workflows.admission import admit, already_decided, unknown_ticket
from workflows.carrying import bounded_carry
from workflows.command_queue import CommandQueue
from workflows.commands import Arguments
from workflows.inbox_model import (
    AnswerTaken,
    CancelRequest,
    Carry,
    Door,
    KeptAnswer,
    LiftTaken,
    PauseTaken,
    RefusalEntry,
    Reply,
    Taken,
    TurnTaken,
)
from workflows.instants import Moment
from workflows.kept_answers import KeptAnswers, judged
from workflows.message_line import MessageLine
from workflows.occurrences import Behind, NextOccurrence, first_occurrence, occurrence_reader
from workflows.refusals import MAX_REFUSALS, refusal_entry
from workflows.situation import Admission, Phase, Situation


class Inbox:
    """Commands of one run: accepted, kept or refused.

    Each ticket gets at most one winner: an answer is reserved for its ticket when it is
    accepted and stays reserved until a commit shows the ticket closed.
    """

    def __init__(self, on_busy: str = "reject") -> None:
        self._phase: Phase = "starting"
        self._run_id: str | None = None
        self._thread_id: str | None = None
        self._cause: str | None = None
        self._on_busy = on_busy
        self._can_ask: Mapping[str, bool] = {}
        self._next_occurrence: NextOccurrence = first_occurrence
        self._open: dict[str, OpenTicket] = {}
        self._open_names: list[str] = []
        self._pause: str | None = None
        self._queue = CommandQueue()
        self._kept = KeptAnswers()
        self._commands = CommandMemory()
        self._refusals: list[RefusalEntry] = []
        self._cancel: CancelRequest | None = None
        self._unnamed_used = False
        self.line = MessageLine()

    # --- the doors ------------------------------------------------------------------------

    def receive(
        self, name: str, arguments: Arguments, now: Moment, *, door: Door = "update"
    ) -> Reply:
        """Take a command, or refuse it.

        Args:
            name: The name of the signal or update.
            arguments: Its decoded arguments.
            now: The moment of receipt.
            door: Where it came in. A refused signal is listed in ``refusals`` as well.

        Raises:
            CommandRefused: Nothing was changed; the subclass is the reason.
        """
        try:
            admission = admit(self._situation(), name, arguments, now)
        except CommandRefused as error:
            if door == "signal":
                self._refuse(refusal_entry(name, arguments, now, error))
            raise
        self._apply(admission, door)
        return admission.reply

    def receive_signal(self, name: str, arguments: Arguments, now: Moment) -> None:
        """Take a command or list its refusal; never raises."""
        try:
            self.receive(name, arguments, now, door="signal")
        except CommandRefused:
            return
        except Exception as error:
            # A fault of this code must not wedge a run that a person waits for.
            fault = InvalidCommand(f"{name[:100]} could not be judged: {type(error).__name__}")
            self._refuse(refusal_entry(name, arguments, now, fault))

    def check(self, name: str, arguments: Arguments, now: Moment) -> None:
        """Judge a command as ``receive`` would, without any effect, for update validators.

        Raises:
            CommandRefused: ``receive`` would refuse it.
        """
        admit(self._situation(), name, arguments, now)

    def native_cancel(self, reason: str | None = None) -> None:
        """Note the server's own cancel; a cancel that is pending already stays as it is."""
        if self._cancel is None and self._phase != "ended":
            self._cancel = CancelRequest(reason=reason, by="native")

    # --- what the engine tells ------------------------------------------------------------

    def started(
        self,
        run_id: str,
        thread_id: str,
        can_ask: Mapping[str, bool],
        decided: Sequence[TicketClosing] = (),
        *,
        on_busy: str = "reject",
        unnamed_used: bool = False,
    ) -> None:
        """Learn which run this is. ``tickets_changed`` follows before anything is awaited.

        Args:
            run_id: The run's id.
            thread_id: The thread it runs on.
            can_ask: Whether a node of the pinned graph may open a ticket, by node id.
            decided: How the run's closed tickets were closed, from the log.
            on_busy: What the run's config says of messages.
            unnamed_used: Whether the log says that the run has had its one answer with neither
                ticket nor command id.
        """
        self._phase = "open"
        self._run_id = run_id
        self._thread_id = thread_id
        self._can_ask = can_ask
        self._on_busy = on_busy
        self._unnamed_used = self._unnamed_used or unnamed_used
        self._learn(decided)

    def tickets_changed(
        self,
        open_tickets: Sequence[OpenTicket],
        behind: Behind,
        closed: Sequence[TicketClosing] = (),
    ) -> None:
        """Learn which tickets are open after an adopted commit.

        Accepted commands that the commit carried out leave the queue. Answers kept for a
        ticket that is open now are judged as of the later of its opening and their receipt;
        wrong ones, and those whose ticket can no longer open, go to ``refusals``.

        Args:
            open_tickets: All tickets that are open now, pauses included.
            behind: A node's lowest occurrence that may still open a ticket, that is the lowest
                one that is not completed.
            closed: How tickets left ``open`` with the commit. A ticket that is gone without
                being listed counts as closed by the answer taken for it, else as cancelled.
        """
        was_open, was_paused = self._open_names, self._pause
        self._next_occurrence = occurrence_reader(behind)
        self._open = {ticket.body.ticket: ticket for ticket in open_tickets}
        self._open_names = [t.body.ticket for t in open_tickets if not t.body.is_pause]
        self._pause = next((t.body.ticket for t in open_tickets if t.body.is_pause), None)
        self._learn(closed)
        gone = [ticket for ticket in was_open if ticket not in self._open]
        lifted = was_paused if was_paused not in (None, self._pause) else None
        self._learn(self._queue.unlisted(gone, lifted))
        self._queue.settle_head(was_paused, self._pause)
        self._queue.expire(None)
        self._settle_kept()

    def ended(self, cause: str) -> None:
        """Learn that the run is over; what was accepted and not committed is listed as refused."""
        error = PipelineTerminal(f"the run ended first ({cause})", cause=cause)
        for item in (*self._queue.items, *self._kept.release()):
            self._refuse_late(item, error)
        self._phase, self._cause = "ended", cause
        self._queue.clear()
        self._open, self._open_names, self._pause = {}, [], None

    # --- what the engine asks -------------------------------------------------------------

    def take(self) -> Taken | None:
        """Return the oldest accepted command that is not committed, or None.

        The same command is returned again until ``tickets_changed`` shows it carried out, so
        that one whose commit was not accepted is not lost.
        """
        while self._queue.items:
            head = self._queue.items[0]
            if isinstance(head, PauseTaken) and self._pause is not None:
                self._queue.drop_head()
            elif isinstance(head, LiftTaken) and self._pause is None:
                self._refuse_late(head, NoActivePause("there was no pause to lift"))
                self._queue.drop_head()
            elif isinstance(head, LiftTaken) and head.ticket not in (None, self._pause):
                self._refuse_late(head, unknown_ticket(self._situation(), head.ticket or ""))
                self._queue.drop_head()
            else:
                self._queue.head_taken = True
                return head
        return None

    @property
    def has_commands(self) -> bool:
        """Whether ``take`` has something to look at."""
        return bool(self._queue.items)

    @property
    def pause_pending(self) -> bool:
        """Whether a pause is accepted and not committed; nothing new is dispatched meanwhile."""
        return self._queue.pause_pending

    @property
    def cancel(self) -> CancelRequest | None:
        """The accepted cancel, by the door or the server."""
        return self._cancel

    @property
    def refusals(self) -> tuple[RefusalEntry, ...]:
        """The last refused commands, oldest first (query ``refusals``)."""
        return tuple(self._refusals)

    @property
    def unnamed_used(self) -> bool:
        """Whether the run has had its one answer with neither ticket nor command id."""
        return self._unnamed_used

    def expire(self, closing: TicketClosing) -> bool:
        """Reserve a ticket for its expiry, which the engine commits next.

        Returns:
            False where the ticket is not open or has a winner already; nothing is reserved.
        """
        if closing.ticket not in self._open or self._queue.is_reserved(closing.ticket):
            return False
        self._queue.expire(closing)
        return True

    def winner(self, ticket: str) -> TicketClosing | None:
        """Return how a ticket is decided, committed or reserved; an expiry looks here first."""
        return self._queue.winner(ticket)

    def turn_settled(self, outcome: Reply | FermataError) -> None:
        """Learn what became of the first turn of the line.

        A refused one that nobody waits for is listed; one that supersedes cancels the run, unless
        it was known before.
        """
        first = self.line.first
        assert first is not None, "only a turn of the line is settled"
        turn = first[1]
        self.line.settle(outcome)
        if isinstance(outcome, FermataError):
            if turn.door != "update":
                self._refuse(refusal_entry("message", [turn.request], turn.received_at, outcome))
        elif turn.supersedes and not outcome.duplicate and self._phase != "ended":
            self._cancel = self._cancel or CancelRequest(reason=SUPERSEDED)

    # --- inside -----------------------------------------------------------------------------

    def _situation(self) -> Situation:
        undecided = [name for name in self._open_names if not self._queue.is_reserved(name)]
        return Situation(
            phase=self._phase,
            run_id=self._run_id,
            thread_id=self._thread_id,
            open=self._open,
            undecided=undecided,
            pause=self._pause,
            pause_active=self._queue.ends_paused(self._pause is not None),
            pause_pending=self.pause_pending,
            winner=self._queue.winner,
            can_ask=self._can_ask,
            next_occurrence=self._next_occurrence,
            commands=self._commands.known,
            unnamed_used=self._unnamed_used,
            cancelling=self._cancel is not None,
            cause=self._cause,
            on_busy=self._on_busy,
            kept_count=len(self._kept.items),
            kept_bytes=self._kept.size,
            unstored=self.line.size,
        )

    def _apply(self, admission: Admission, door: Door) -> None:
        effect = admission.effect
        match effect:
            case AnswerTaken():
                self._queue.add(effect)
                self._unnamed_used = self._unnamed_used or effect.unnamed
            case KeptAnswer():
                self._kept.keep(effect)
                self._unnamed_used = self._unnamed_used or effect.unnamed
            case PauseTaken() | LiftTaken():
                self._queue.add(effect)
            case CancelRequest():
                self._cancel = effect
            case TurnTaken():
                self.line.add(effect.model_copy(update={"door": door}))
            case None:
                return
        if admission.command_id is not None:
            reply = admission.reply
            self._commands.remember(admission.command_id, reply.ticket, pending=reply.pending)

    def _learn(self, closings: Sequence[TicketClosing]) -> None:
        """Note how tickets were closed; a reserved answer that lost its ticket is refused."""
        for closing in closings:
            if closing.command_id is not None and closing.command_id not in self._commands.known:
                self._commands.remember(closing.command_id, closing.ticket)
        for answer, closing in self._queue.learn(closings):
            self._refuse_late(answer, already_decided(closing))

    def _settle_kept(self) -> None:
        """Judge the kept answers whose ticket is open, and refuse those that came to nothing."""
        if not self._kept.items:
            return
        kept = self._kept.release()
        situation = self._situation()
        for item in kept:
            goes = judged(situation, item, self._open)
            match goes:
                case AnswerTaken():
                    self._queue.add(goes)
                case KeptAnswer():
                    self._kept.keep(goes)
                case CommandRefused():
                    self._refuse_late(item, goes)

    def _refuse_late(self, item: Taken | KeptAnswer, error: CommandRefused) -> None:
        """List the refusal of a command that was accepted; its command id counts as unused.

        One that is the committed winner itself, delivered again to a run that was restored, is
        no refusal.
        """
        name, payload, ticket, command = as_told(item)
        if command is not None:
            committed = self._queue.decided(ticket)
            if committed is not None and committed.command_id == command:
                return
            self._commands.forget(command)
        self._refuse(refusal_entry(name, [payload], item.received_at, error))

    def _refuse(self, entry: RefusalEntry) -> None:
        self._refusals = [*self._refusals, entry][-MAX_REFUSALS:]

    # --- continue-as-new ------------------------------------------------------------------

    def carry(self) -> JsonObject:
        """Return what the next execution needs, at most about 200 KB of JSON.

        Refusals and the memory of command ids are trimmed to that, oldest first; accepted and
        kept commands never are. Decided tickets are not in it: ``started`` gets them.
        """
        return bounded_carry(
            Carry(
                run_id=self._run_id,
                open=self._open_names,
                pause=self._pause,
                queue=self._queue.items,
                head_taken=self._queue.head_taken,
                kept=self._kept.items,
                cancel=self._cancel,
                unnamed_used=self._unnamed_used,
                on_busy=self._on_busy,
                commands=list(self._commands.known.values()),
                turns_taken=self.line.taken,
                turns_stored=self.line.stored,
                refusals=self._refusals,
            )
        )

    @classmethod
    def from_carry(cls, carried: JsonObject) -> "Inbox":
        """Return the inbox that ``carry`` described, in phase ``starting``."""
        carry = Carry.model_validate(carried)
        inbox = cls()
        inbox._run_id = carry.run_id
        inbox._on_busy = carry.on_busy
        inbox._open_names, inbox._pause = carry.open, carry.pause
        inbox._queue = CommandQueue(carry.queue, head_taken=carry.head_taken)
        inbox._kept = KeptAnswers(carry.kept)
        inbox._cancel, inbox._unnamed_used = carry.cancel, carry.unnamed_used
        inbox._commands = CommandMemory(carry.commands)
        inbox._refusals = list(carry.refusals)
        inbox.line = MessageLine(carry.turns_taken, stored=carry.turns_stored)
        return inbox
