"""The verb ``send``: a message to a thread, whatever its run is doing."""

import shlex
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

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
from seeding.model import JsonObject
from seeding.request import RunRequest
from workflows.inbox_model import Reply

EXAMPLES = examples(
    "fermata send bob 'and once more, please' --watch",
    "fermata send alice 'and this when you are done' --on-busy queue",
)


class OnBusy(StrEnum):
    """What becomes of a message while a run is open (contract 5)."""

    REJECT = "reject"
    QUEUE = "queue"
    SUPERSEDE = "supersede"


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=EXAMPLES)(send)


def send(
    thread: Thread,
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What the user says.")],
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: the same message again counts once.")
    ] = None,
    on_busy: Annotated[
        OnBusy | None,
        typer.Option(help="What an open run does with it; by default what its config says."),
    ] = None,
    watch: Watch = False,
    timeout: WatchSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Send a user's MESSAGE to THREAD.

    On an idle thread it starts a turn on the graph of the thread's last run, as the log has
    pinned it. An open run refuses the message as ThreadBusy, or queues it as the next turn; with
    supersede it is cancelled for it.
    """
    check_thread_id(thread)
    asked = Watching(watch=watch, timeout=timeout, as_json=as_json)
    saying = _Message(message, key, None if on_busy is None else on_busy.value)
    finish(act(lambda threads: _sent(threads, thread, saying, asked)), thread, asked)


@dataclass(frozen=True)
class _Message:
    text: str
    key: str | None
    on_busy: str | None


async def _sent(threads: Threads, thread: str, message: _Message, asked: Watching) -> Reply | Begun:
    if await _is_open(threads, thread):
        # Where it has ended between the two calls, the thread is idle now.
        with suppress(PipelineTerminal):
            return await threads.message(
                thread,
                message.text,
                on_busy=message.on_busy,
                idempotency_key=message.key,
                within=asked.timeout or WORKER_SECONDS,
            )
    return await begun(threads, thread, _next_turn(thread, message), asked)


async def _is_open(threads: Threads, thread: str) -> bool:
    try:
        return await threads.open_execution(thread) is not None
    except UnknownThread:
        return False  # The server forgets what has ended; the log does not.


def _next_turn(thread: str, message: _Message) -> RunRequest:
    with open_log(settings().log_url) as log:
        try:
            last = latest_run(log, thread)
        except UnknownThread as error:
            raise UnknownThread(
                f"{error.message}; its first needs a graph: "
                f"{shlex.join(['fermata', 'start', thread, 'GRAPH', '--message', message.text])}"
            ) from error
    given: JsonObject = {"graph": graph_name(last), "message": message.text}
    if message.key is not None:
        given["idempotencyKey"] = message.key
    if message.on_busy is not None:
        given["config"] = {"onBusy": message.on_busy}
    return RunRequest.model_validate(given)
