"""The verbs that reach an open run through its doors: ``resume``, ``pause``, ``cancel``."""

from typing import Annotated

import typer

from client.callbacks import check_callback
from client.command import options
from client.command.arguments import (
    WORKER_SECONDS,
    AnswerSeconds,
    AsJson,
    Thread,
    examples,
)
from client.command.connecting import act_at
from client.command.output import print_json, print_line
from client.thread_models import NOT_GIVEN
from client.threads import Threads
from workflows.inbox_model import Reply

Reason = Annotated[str | None, typer.Option(help="Why, as it is recorded.")]
EXAMPLES = {
    "resume": (
        "fermata resume alice  # lifts a pause",
        "fermata resume alice --decision approve --actor carol",
    ),
    "pause": ("fermata pause alice --reason 'checking the numbers'",),
    "cancel": ("fermata cancel alice --reason 'not needed any more'",),
}


def register(app: typer.Typer) -> None:
    """Add the verbs to the application."""
    for verb in (resume, pause, cancel):
        app.command(epilog=examples(*EXAMPLES[verb.__name__]))(verb)


def resume(
    thread: Thread,
    ticket: Annotated[
        str | None, typer.Option(help="The ticket; may be left out where one is open.")
    ] = None,
    decision: Annotated[str | None, typer.Option(help="Such as approve or deny.")] = None,
    value: Annotated[
        str | None, typer.Option(help="JSON, or a text that is taken as it is.")
    ] = None,
    actor: Annotated[str | None, typer.Option(help="Who answers, as it is recorded.")] = None,
    command_id: Annotated[
        str | None, typer.Option(help="The same id again gets the first answer again.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(help="The callback of the ticket; it is compared before anything is sent."),
    ] = None,
    timeout: AnswerSeconds = WORKER_SECONDS,
    as_json: AsJson = False,
) -> None:
    """Answer what the run of THREAD waits for.

    An approval takes a decision, another question a value. `fermata tickets` prints the line
    that answers each open ticket. Without a decision and a value it lifts the run's pause.
    """
    if token is not None:
        check_callback(ticket or "", token)
    answer = NOT_GIVEN if value is None else options.answer_value(value)
    answers = decision is not None or value is not None

    async def resuming(threads: Threads) -> Reply:
        named = ticket
        if named is None and answers:
            named = await _only_ticket(threads, thread, timeout)
        return await threads.resume(
            thread,
            ticket=named,
            decision=decision,
            value=answer,
            actor=actor,
            command_id=command_id,
            within=timeout,
        )

    reply = act_at(thread, resuming)
    print_reply(reply, as_json, _taken(reply) if answers else "the pause is lifted")


def pause(
    thread: Thread,
    reason: Reason = None,
    timeout: AnswerSeconds = WORKER_SECONDS,
    as_json: AsJson = False,
) -> None:
    """Hold the run of THREAD before its next node.

    Lift the pause with: fermata resume THREAD
    """
    reply = act_at(thread, lambda threads: threads.pause(thread, reason=reason, within=timeout))
    print_reply(reply, as_json, "the run will pause before its next node")


def cancel(
    thread: Thread,
    reason: Reason = None,
    timeout: AnswerSeconds = WORKER_SECONDS,
    as_json: AsJson = False,
) -> None:
    """Cancel the run of THREAD, also while it waits."""
    reply = act_at(thread, lambda threads: threads.cancel(thread, reason=reason, within=timeout))
    print_reply(reply, as_json, "the run will end as cancelled")


async def _only_ticket(threads: Threads, thread: str, seconds: float) -> str | None:
    """Return the one open ticket of a node; None leaves it to the run to refuse by name."""
    shown = await threads.tickets(thread, within=seconds)
    waiting = [item.ticket for item in shown if not item.is_pause]
    return waiting[0] if len(waiting) == 1 else None


def _taken(reply: Reply) -> str:
    what = "the answer was taken before" if reply.duplicate else "the answer is taken"
    if reply.pending:
        what = "the answer is kept for the ticket, which is not open yet"
    return f"{what} (ticket {reply.ticket})" if reply.ticket else what


def print_reply(reply: Reply, as_json: bool, text: str) -> None:
    """Print the run's answer to a command: as JSON, or ``text`` for people."""
    if as_json:
        print_json(reply.to_json())
    else:
        print_line(text)
