"""What becomes of one command, given what the inbox knows: pure, nothing is changed here.

``admit`` applies the order of contract section 5: shape, run over, then what the command
asks for. ``route`` says where one answer that names its ticket goes; the inbox asks it again
when a ticket opens that an answer was kept for.
"""

from seeding.errors import (
    AlreadyDecided,
    AmbiguousAnswer,
    InvalidCommand,
    NoActivePause,
    NothingToAnswer,
    PipelineTerminal,
    SignalAlreadyPending,
    UnknownTicket,
)
from seeding.identity import parse_ticket_id
from seeding.json_values import size_in_bytes
from seeding.tickets import TicketClosing
from workflows.commands import Answer, Arguments, Cancel, Lift, Message, Pause, parse_command
from workflows.inbox_model import (
    AnswerTaken,
    CancelRequest,
    KeptAnswer,
    LiftTaken,
    PauseTaken,
    Reply,
)
from workflows.instants import Moment, show_moment
from workflows.judging import judge
from workflows.message_admission import admit_message
from workflows.situation import MAX_LISTED, Admission, Situation

MAX_KEPT = 1_000
"""How many early answers a run keeps."""

MAX_KEPT_BYTES = 256 * 1024
"""How many bytes of JSON the kept answers may have in all."""

NOT_OPEN = (
    "the run is not open yet: a worker that serves its node types has to take its start up (the "
    "Temporal UI shows what the start activity last failed with)"
)
"""What is known in the run itself of a start that takes long."""


def admit(situation: Situation, name: str, arguments: Arguments, now: Moment) -> Admission:
    """Return what becomes of a command received at ``now``.

    Raises:
        CommandRefused: Some subclass of it; the first wrong thing wins.
    """
    command = parse_command(name, arguments)
    if isinstance(command, Message):
        return admit_message(situation, command, now)
    if situation.phase == "ended":
        raise PipelineTerminal(
            f"the run is over ({situation.cause}); {name} changes nothing",
            cause=situation.cause,
        )
    match command:
        case Answer() | Lift():
            return _admit_resume(situation, command, now)
        case Pause():
            return _admit_pause(situation, command, now)
        case Cancel():
            return _admit_cancel(situation, command)


def route(situation: Situation, answer: Answer, now: Moment) -> AnswerTaken | KeptAnswer:
    """Return where an answer that names its ticket goes: to the log, or kept.

    Raises:
        UnknownTicket: No such ticket can exist in this run, or its execution is behind.
        AlreadyDecided: The ticket has its answer; the message names the winner.
        CommandRefused: The answer is judged and wrong (see ``judge``).
    """
    ticket = answer.ticket or ""
    name = parse_ticket_id(ticket)
    if name is None or (situation.run_id not in (None, name.run_id)):
        raise unknown_ticket(situation, ticket)
    winner = situation.winner(ticket)
    if winner is not None:
        raise already_decided(winner)
    if situation.phase == "starting":
        return _keep(situation, answer, now)
    opened = situation.open.get(ticket)
    if opened is not None:
        return AnswerTaken(
            closing=judge(opened, answer, now),
            value_given=answer.value_given,
            received_at=show_moment(now),
        )
    asks = situation.can_ask.get(name.node_id, False)
    if not asks or name.occurrence < situation.next_occurrence(name.node_id):
        raise unknown_ticket(situation, ticket)
    return _keep(situation, answer, now)


def unknown_ticket(situation: Situation, ticket: str) -> UnknownTicket:
    """Return the refusal of an answer whose ticket is none of this run, naming those open."""
    listed = list(situation.open)[:MAX_LISTED]
    thread = "" if situation.thread_id is None else f" of thread {situation.thread_id!r}"
    return UnknownTicket(
        f"{ticket[:200]!r} is no ticket that is open or may still open in this run{thread}; "
        f"open: {', '.join(listed) or 'none'}",
        ticket=ticket[:200],
        open=listed,
    )


def already_decided(winner: TicketClosing) -> AlreadyDecided:
    """Return the refusal of an answer to a decided ticket, naming the winner."""
    parts = [winner.outcome]
    if winner.decision is not None:
        parts.append(f"decision {winner.decision!r}")
    if winner.actor is not None:
        parts.append(f"by {winner.actor!r}")
    if winner.command_id is not None:
        parts.append(f"command {winner.command_id!r}")
    return AlreadyDecided(
        f"ticket {winner.ticket} is decided: {', '.join(parts)}",
        ticket=winner.ticket,
        outcome=winner.outcome,
        decision=winner.decision,
        actor=winner.actor,
        commandId=winner.command_id,
    )


def _admit_resume(situation: Situation, command: Answer | Lift, now: Moment) -> Admission:
    first = situation.commands.get(command.command_id) if command.command_id else None
    if first is not None:
        reply = Reply(
            run_id=situation.run_id, ticket=first.ticket, duplicate=True, pending=first.pending
        )
        return Admission(reply)
    if isinstance(command, Lift):
        return _admit_lift(situation, command, now)
    if command.ticket is not None:
        return _admit_answer(situation, command, now, unnamed=False)
    bound = command.model_copy(update={"ticket": _bound_ticket(situation, command)})
    return _admit_answer(situation, bound, now, unnamed=command.command_id is None)


def _bound_ticket(situation: Situation, answer: Answer) -> str:
    """Return the ticket that an answer without one is for (contract 5, binding at receipt)."""
    candidates = situation.undecided
    if not candidates and situation.phase == "starting":
        raise NothingToAnswer(f"{NOT_OPEN}; name the ticket to answer it early")
    if not candidates:
        raise NothingToAnswer("no ticket of a node is open; name the ticket to answer it early")
    listed = list(candidates[:MAX_LISTED])
    if len(candidates) > 1:
        raise AmbiguousAnswer(
            f"{len(candidates)} tickets are open, name one of them: {', '.join(listed)}",
            open=listed,
        )
    if situation.unnamed_used and answer.command_id is None:
        raise AmbiguousAnswer(
            "this run has had its one answer without ticket and commandId, and this may be the "
            f"same one delivered again; the open ticket is {listed[0]}",
            open=listed,
        )
    return candidates[0]


def _admit_answer(situation: Situation, answer: Answer, now: Moment, *, unnamed: bool) -> Admission:
    goes = route(situation, answer, now).model_copy(update={"unnamed": unnamed})
    reply = Reply(
        run_id=situation.run_id, ticket=answer.ticket, pending=isinstance(goes, KeptAnswer)
    )
    return Admission(reply, goes, answer.command_id)


def _keep(situation: Situation, answer: Answer, now: Moment) -> KeptAnswer:
    size = size_in_bytes(answer.payload())
    if situation.kept_count >= MAX_KEPT or situation.kept_bytes + size > MAX_KEPT_BYTES:
        raise InvalidCommand(
            f"resume: no more early answers are kept; {situation.kept_count} wait for their "
            f"tickets already (at most {MAX_KEPT}, and {MAX_KEPT_BYTES} bytes in all); "
            "send this one again when its ticket is open"
        )
    return KeptAnswer(answer=answer, received_at=show_moment(now), size=size)


def _admit_lift(situation: Situation, command: Lift, now: Moment) -> Admission:
    ticket = command.ticket
    pending = False
    if ticket is None:
        if not situation.pause_active:
            if situation.phase == "starting":
                raise NoActivePause(f"{NOT_OPEN}; name the pause's ticket to lift it early")
            raise NoActivePause("there is no pause to lift; an answer names decision or value")
    else:
        pending = _check_named_lift(situation, ticket)
    effect = LiftTaken(
        ticket=ticket,
        actor=command.actor,
        command_id=command.command_id,
        received_at=show_moment(now),
    )
    reply = Reply(run_id=situation.run_id, ticket=ticket or situation.pause, pending=pending)
    return Admission(reply, effect, command.command_id)


def _check_named_lift(situation: Situation, ticket: str) -> bool:
    """Refuse the lifting of a pause that cannot be the named one; return whether it may be.

    True: the pause is not in the log yet, or the log is not read yet, so the name is compared
    when the command is committed.
    """
    name = parse_ticket_id(ticket)
    if name is None or situation.run_id not in (None, name.run_id):
        raise unknown_ticket(situation, ticket)
    winner = situation.winner(ticket)
    if winner is not None:
        raise already_decided(winner)
    if situation.phase == "starting" and situation.pause is None:
        return True
    if situation.pause_active and ticket == situation.pause:
        return False
    if situation.pause_active and situation.pause_pending:
        return True
    raise unknown_ticket(situation, ticket)


def _admit_pause(situation: Situation, command: Pause, now: Moment) -> Admission:
    if situation.cancelling:
        raise SignalAlreadyPending("a cancel is pending; the run ends, it does not pause")
    if situation.pause_active:
        raise SignalAlreadyPending("the run is paused or about to be; lift that pause with {}")
    effect = PauseTaken(reason=command.reason, received_at=show_moment(now))
    return Admission(Reply(run_id=situation.run_id), effect)


def _admit_cancel(situation: Situation, command: Cancel) -> Admission:
    if situation.cancelling:
        raise SignalAlreadyPending("a cancel is pending already; the run ends at its next step")
    return Admission(Reply(run_id=situation.run_id), CancelRequest(reason=command.reason))
