"""What becomes of a message that is offered to a run: refused, or queued as the next turn (KU-34).

A message never answers a ticket and never passes a gate. With ``onBusy`` ``queue`` or
``supersede`` it is taken in every phase until the workflow has closed, also while the run's end
is on its way to the log, so that none falls between two turns.
"""

from seeding.errors import CommandRefused, PipelineTerminal, RunBusy
from seeding.json_values import size_in_bytes
from seeding.model import JsonObject
from workflows.commands import Message
from workflows.inbox_model import Reply, TurnTaken
from workflows.instants import Moment, show_moment
from workflows.message_line import MAX_UNSTORED, MAX_UNSTORED_BYTES, fits
from workflows.situation import MAX_LISTED, Admission, Situation


def admit_message(situation: Situation, command: Message, now: Moment) -> Admission:
    """Return what becomes of a message received at ``now``.

    Raises:
        PipelineTerminal: The run is over, and the message is not to be queued.
        RunBusy: The run is open and does not queue; or too much waits for the log already.
    """
    wanted = command.on_busy or situation.on_busy
    if wanted == "reject":
        raise _rejected(situation)
    request = _request_of(command)
    if not fits(situation.unstored, size_in_bytes(request)):
        raise RunBusy(
            f"{situation.unstored[0]} messages wait for the log, which does not answer now; this "
            f"one was not taken, send it again later (at most {MAX_UNSTORED} wait, and "
            f"{MAX_UNSTORED_BYTES} bytes of them)"
        )
    turn = TurnTaken(
        request=request, supersedes=wanted == "supersede", received_at=show_moment(now)
    )
    return Admission(Reply(run_id=situation.run_id, pending=True), turn)


def _request_of(command: Message) -> JsonObject:
    """Return the start that a message will be, as far as its sender said it."""
    request: JsonObject = {"message": command.message}
    if command.graph is not None:
        request["graph"] = command.graph
    if command.idempotency_key is not None:
        request["idempotencyKey"] = command.idempotency_key
    return request


def _rejected(situation: Situation) -> CommandRefused:
    if situation.phase == "ended":
        return PipelineTerminal(
            f"the run is over ({situation.cause}); message changes nothing", cause=situation.cause
        )
    open_tickets = list(situation.open)[:MAX_LISTED]
    waits = f"; it waits for {', '.join(open_tickets)}" if open_tickets else ""
    return RunBusy(
        f"the run is open{waits}; the message was not taken, send it when the run is over, or "
        "with onBusy 'queue'",
        open=list(open_tickets),
    )
