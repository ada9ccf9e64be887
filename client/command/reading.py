"""The verbs that read the log; they need no worker and no server."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from activities.log import AsyncLogReader
from client import reading
from client.command import people
from client.command.arguments import AsJson, Thread, examples
from client.command.checkpoint_tree import print_checkpoints, print_stands_on
from client.command.connecting import hush
from client.command.event_view import print_events
from client.command.output import print_json
from client.forked_threads import find_forked
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
    "effects": ("fermata effects alice",),
    "events": ("fermata events alice", "fermata events alice --after 5 --limit 100 --json"),
}


def register(app: typer.Typer) -> None:
    """Add the verbs to the application."""
    reads = (tickets, state, messages, threads, runs, checkpoints, provenance, effects, events)
    for verb in reads:
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
    _show(lambda log: reading.messages_document(log, thread), people.print_messages, as_json)


def checkpoints(thread: Thread, as_json: AsJson = False) -> None:
    """List the checkpoints of THREAD, oldest first, each branch where it begins.

    With --json they are one flat list, in which each names its parent.
    """
    with open_log(settings().log_url) as log:
        rows = reading.checkpoints_document(log, thread)
        forked = None if rows else find_forked(log, thread)
    if as_json:
        print_json(rows)
    elif forked is not None:
        print_stands_on(forked.branch.name, forked.point)
    else:
        print_checkpoints(rows)


def tickets(
    thread: Annotated[
        str | None, typer.Argument(metavar="THREAD", help="The thread; by default all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what is waited for, each with the line that answers it.

    live says whether the server has the run that waits open; unknown where none answered, and
    where the run belongs to another namespace.
    """
    hush()
    _show(lambda log: asyncio.run(tickets_document(log, thread)), people.print_tickets, as_json)


def provenance(thread: Thread, as_json: AsJson = False) -> None:
    """Show where the latest run of THREAD started.

    That is which source won, which were passed over and why, and what the start cleared.
    """
    _show(lambda log: reading.provenance_document(log, thread), people.print_provenance, as_json)


def effects(
    thread: Thread,
    run: Annotated[
        str | None, typer.Option(help="One that `fermata runs` lists; by default all of them.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the calls of nodes on THREAD that were begun, and what they came to.

    begun is on its way or lost, or, with a code, failed in a way that may be tried again.
    """
    _show(lambda log: reading.effects_document(log, thread, run), people.print_effects, as_json)


def events(
    thread: Thread,
    after: Annotated[int, typer.Option(min=0, help="The version to go on behind.")] = 0,
    limit: Annotated[
        int, typer.Option(min=0, help="How many are shown; those of a commit stay together.")
    ] = 500,
    run: Annotated[
        str | None, typer.Option(help="One that `fermata runs` lists; by default all of them.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what happened on THREAD, oldest first: runs, tickets, changed keys, audit.

    The version of the last one shown is the --after of the next page.
    """
    _show(
        lambda log: reading.events_document(log, thread, after=after, limit=limit, run_id=run),
        print_events,
        as_json,
    )


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
