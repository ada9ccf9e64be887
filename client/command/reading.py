"""The verbs that read the log; they need no worker and no server."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from activities.log import AsyncLogReader
from client import reading
from client.command import people
from client.command.arguments import AsJson, Thread, examples
from client.command.connecting import hush
from client.command.output import print_json
from client.log_opening import open_log
from client.settings import settings
from client.waiting import tickets_document
from seeding.model import Json

_Document = TypeVar("_Document", bound=Json)

EXAMPLES = {
    "tickets": ("fermata tickets", "fermata tickets alice --json"),
    "state": (
        "fermata state alice",
        "fermata state alice --full --json",
    ),
    "threads": ("fermata threads",),
    "runs": ("fermata runs alice", "fermata runs alice --json"),
    "messages": ("fermata messages alice",),
    "checkpoints": ("fermata checkpoints alice",),
    "provenance": ("fermata provenance alice",),
}


def register(app: typer.Typer) -> None:
    """Add the verbs to the application."""
    for verb in (tickets, state, messages, threads, runs, checkpoints, provenance):
        app.command(epilog=examples(*EXAMPLES[verb.__name__]))(verb)


def state(
    thread: Thread,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="One that `fermata checkpoints` lists; by default its latest state."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show large values whole.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the state of THREAD as the log has it."""
    _show(
        lambda log: reading.state_document(log, thread, checkpoint, full=full),
        people.print_state,
        as_json,
    )


def threads(as_json: AsJson = False) -> None:
    """List the threads of the log."""
    _show(reading.threads_document, people.print_threads, as_json)


def runs(thread: Thread, as_json: AsJson = False) -> None:
    """List the runs of THREAD, oldest first.

    With --json the rows of ended runs carry their results.
    """
    _show(lambda log: reading.runs_document(log, thread), people.print_runs, as_json)


def messages(thread: Thread, as_json: AsJson = False) -> None:
    """Show the messages of THREAD, oldest first."""
    _show(lambda log: log.messages(thread), people.print_messages, as_json)


def checkpoints(thread: Thread, as_json: AsJson = False) -> None:
    """List the checkpoints of THREAD, oldest first."""
    _show(lambda log: reading.checkpoints_document(log, thread), people.print_checkpoints, as_json)


def tickets(
    thread: Annotated[
        str | None, typer.Argument(metavar="THREAD", help="The thread; by default all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what is waited for, each with the line that answers it.

    live says whether the server has the run that waits open; unknown where none answered.
    """
    hush()
    _show(lambda log: asyncio.run(tickets_document(log, thread)), people.print_tickets, as_json)


def provenance(thread: Thread, as_json: AsJson = False) -> None:
    """Show where the latest run of THREAD started.

    That is which source won, which were passed over and why, and what the start cleared.
    """
    _show(lambda log: reading.provenance_document(log, thread), people.print_provenance, as_json)


def _show(
    read: Callable[[AsyncLogReader], _Document],
    print_for_people: Callable[[_Document], None],
    as_json: bool,
) -> None:
    with open_log(settings().log_url) as log:
        document = read(log)
    if as_json:
        print_json(document)
    else:
        print_for_people(document)
