"""The verb ``queue``: the turns that wait for a thread's open run to end."""

from typing import Annotated

import typer

from client.command.arguments import AsJson, Thread, examples
from client.command.output import print_json, print_line, print_table, shown
from client.log_opening import open_log, open_writable_log
from client.queue_document import queue_document, turn_row
from client.settings import settings
from seeding.identity import check_thread_id
from seeding.model import Json, JsonObject, as_list, as_object

EXAMPLES = {"queue": ("fermata queue alice", "fermata queue alice --withdraw 1")}
_TEXT = 60


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=examples(*EXAMPLES["queue"]))(queue)


def queue(
    thread: Thread,
    withdraw: Annotated[
        int | None,
        typer.Option(metavar="N", help="Take queued turn N back; it begins no run."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the turns that were queued on THREAD and what became of them.

    Reads the log and needs no server. Turns that have left the queue are remembered for 30 days,
    the newest 1,000 of them.
    """
    check_thread_id(thread)
    if withdraw is not None:
        _withdraw(thread, withdraw, as_json)
        return
    with open_log(settings().log_url) as log:
        document = queue_document(log, thread)
    if as_json:
        print_json(document)
        return
    rows = [as_object(row) or {} for row in as_list(document["turns"]) or []]
    print_table(
        ("turn", "state", "received", "run", "key", "message"),
        [_shown(row) for row in rows],
        empty="no turn was queued lately",
    )
    print_line(f"{document['queued']} queued, {document['remembered']} remembered")


def _shown(row: JsonObject) -> list[Json]:
    refusal = as_object(row["refusal"])
    state = row["state"] if refusal is None else f"{row['state']}: {refusal['code']}"
    text = shown(row["message"])
    text = text if len(text) <= _TEXT else f"{text[:_TEXT]}…"
    return [row["number"], state, row["receivedAt"], row["runId"], row["idempotencyKey"], text]


def _withdraw(thread: str, number: int, as_json: bool) -> None:
    with open_writable_log(settings().log_url) as log:
        row = turn_row(log.withdraw_turn(thread, number))
    if as_json:
        print_json(row)
    else:
        print_line(f"turn {number} of thread {thread} is taken back")
