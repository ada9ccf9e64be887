"""The verb ``delete``: erasing what a thread left."""

import sys
from typing import Annotated

import typer

from client.command.arguments import AsJson, Thread, examples
from client.command.connecting import act_on
from client.command.output import complain, print_json, print_line
from client.connection import connect
from client.erasing import Erasure, erase_thread
from client.log_opening import open_writable_log
from client.settings import settings
from seeding.counting import counted
from seeding.identity import check_thread_id

EXAMPLES = {"delete": ("fermata delete carol --yes",)}


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=examples(*EXAMPLES["delete"]))(delete)


def delete(
    thread: Thread,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal.")] = False,
    log_only: Annotated[
        bool,
        typer.Option("--log-only", help="Leave what Temporal keeps; for a server that is gone."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Erase everything that THREAD left, in Temporal and in the log; nothing brings it back.

    An open run has to be cancelled first. If it fails half way, run it again. In a SQLite log
    the bytes are overwritten too, for which the file is written anew.
    """
    check_thread_id(thread)
    if not yes and sys.stdin.isatty():
        typer.confirm(f"Erase thread {thread} for good?", abort=True, err=True)
    erased = act_on(lambda: _erased(thread, log_only=log_only))
    if erased.log is not None and not erased.log.overwritten:
        complain(
            "the log's bytes of it are not overwritten yet: a server reuses its space by itself; "
            "of a file that others hold open, fermata prune --apply --shrink overwrites them later"
        )
    for namespace in erased.elsewhere:
        complain(f"what Temporal keeps of its runs in namespace {namespace} was not deleted")
    if as_json:
        print_json(erased.to_json())
    else:
        print_line(_told(erased))


async def _erased(thread: str, *, log_only: bool) -> Erasure:
    client = None if log_only else await connect()
    with open_writable_log(settings().log_url) as log:
        return await erase_thread(log, client, thread)


def _told(erased: Erasure) -> str:
    rows = {} if erased.log is None else erased.log.rows
    told = ", ".join(
        counted(rows.get(f"{noun}s", 0), noun) for noun in ("run", "commit", "message") if rows
    )
    where = [f"from the log: {told}"] if rows else []
    if erased.executions is not None:
        where.append(f"from Temporal: {counted(erased.executions, 'execution')}")
    return f"thread {erased.thread_id} is erased, {'; '.join(where)}"
