"""The verbs that read the log; they need no worker and no server."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from activities.log import CommitLog
from client import reading
from client.command import people
from client.command.connecting import hush
from client.command.output import print_json
from client.settings import settings
from client.waiting import tickets_document
from seeding.model import Json

_Document = TypeVar("_Document", bound=Json)

Thread = Annotated[str, typer.Argument(metavar="THREAD", help="The thread, such as alice.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
EXAMPLES = {
    "state": "fermata state alice --json",
    "threads": "fermata threads",
    "runs": "fermata runs alice --json",
    "messages": "fermata messages alice",
    "checkpoints": "fermata checkpoints alice",
    "tickets": "fermata tickets alice",
    "provenance": "fermata provenance alice",
}


def register(app: typer.Typer) -> None:
    """Add the verbs to the application."""
    for verb in (state, threads, runs, messages, checkpoints, tickets, provenance):
        app.command(epilog=f"Example: {EXAMPLES[verb.__name__]}")(verb)


def state(
    thread: Thread,
    checkpoint: Annotated[
        str | None, typer.Option(help="One of its checkpoints; by default its latest state.")
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
        str | None, typer.Argument(metavar="[THREAD]", help="The thread; by default all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what is waited for.

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
    read: Callable[[CommitLog], _Document],
    print_for_people: Callable[[_Document], None],
    as_json: bool,
) -> None:
    with reading.open_log(settings().log_url) as log:
        document = read(log)
    if as_json:
        print_json(document)
    else:
        print_for_people(document)
