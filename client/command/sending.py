"""The verb ``send``: a message to a thread, whatever its run is doing."""

import shlex
from typing import Annotated

import typer

from client.command.acting import print_reply
from client.command.arguments import (
    WORKER_SECONDS,
    AsJson,
    Thread,
    Watch,
    WatchSeconds,
    examples,
)
from client.command.beginning import Begun, Watching, begun, finish
from client.command.connecting import act
from client.log_opening import open_log
from client.reading import graph_name, latest_run
from client.settings import settings
from client.threads import Threads
from seeding.errors import PipelineTerminal, UnknownThread
from seeding.identity import check_thread_id
from seeding.request import RunRequest
from workflows.inbox_model import Reply


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=examples("fermata send bob 'and once more, please' --watch"))(send)


def send(
    thread: Thread,
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What the user says.")],
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: the same message again counts once.")
    ] = None,
    watch: Watch = False,
    timeout: WatchSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Send a user's MESSAGE to THREAD.

    On an idle thread it starts a turn on the graph of the thread's last run, as the log has
    pinned it. An open run is offered the message and may refuse it as ThreadBusy.
    """
    check_thread_id(thread)
    asked = Watching(watch=watch, timeout=timeout, as_json=as_json)
    sent = act(lambda threads: _sent(threads, thread, message, key, asked))
    if isinstance(sent, Begun):
        finish(sent, asked)
    else:
        print_reply(sent, as_json, "the message is taken")


async def _sent(
    threads: Threads, thread: str, message: str, key: str | None, asked: Watching
) -> Reply | Begun:
    if await _is_open(threads, thread):
        try:
            return await threads.message(
                thread, message, idempotency_key=key, within=asked.timeout or WORKER_SECONDS
            )
        except PipelineTerminal:
            pass  # It ended between the two calls: the thread is idle now.
    return await begun(threads, thread, _next_turn(thread, message, key), asked)


async def _is_open(threads: Threads, thread: str) -> bool:
    try:
        return await threads.open_execution(thread) is not None
    except UnknownThread:
        return False  # The server forgets what has ended; the log does not.


def _next_turn(thread: str, message: str, key: str | None) -> RunRequest:
    with open_log(settings().log_url) as log:
        try:
            last = latest_run(log, thread)
        except UnknownThread as error:
            raise UnknownThread(
                f"{error.message}; its first needs a graph: "
                f"{shlex.join(['fermata', 'start', thread, 'GRAPH', '--message', message])}"
            ) from error
    given = {"graph": graph_name(last), "message": message}
    if key is not None:
        given["idempotencyKey"] = key
    return RunRequest.model_validate(given)
