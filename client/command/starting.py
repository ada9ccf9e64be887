"""The verb ``start``: everything a request can say, as options (contract 2)."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from client.command import options
from client.command.arguments import AsJson, Thread, Watch, WatchSeconds, examples
from client.command.beginning import Watching, begun, finish
from client.command.connecting import act
from seeding.errors import InvalidRequest
from seeding.identity import check_thread_id
from seeding.model import JsonObject
from seeding.request import RunRequest, describe

EXAMPLES = examples(
    "fermata start alice expense-review --input 'items.value=[50, 150]'",
    "fermata start bob fruit-loop --message 'what is in the basket?' --watch",
    "fermata start carol temporal-dev/graphs/expense-review.yaml --input 'items.value=[50]' "
    "--config '{\"maxIterations\": 100}'",
)


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=EXAMPLES)(start)


def start(
    thread: Thread,
    graph: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH",
            help="A registered id, id@digest, or the path of a document (.json, .yaml, .yml).",
        ),
    ],
    message: Annotated[str | None, typer.Option(help="A user message for the thread.")] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NODE.PORT=JSON|JSON|FILE",
            help="Values by node and port; may be repeated.",
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="JSON|FILE", help="Merged into the thread's data.")
    ] = None,
    metadata: Annotated[
        str | None, typer.Option(metavar="JSON|FILE", help="Merged into the thread's metadata.")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|FILE",
            help="maxIterations, maxPasses, checkpointStore, onUnknownCheckpoint, onBusy.",
        ),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="Start from this checkpoint of the thread.")
    ] = None,
    fork_from: Annotated[
        str | None, typer.Option(help="Start from this checkpoint of any thread, on a new branch.")
    ] = None,
    snapshot: Annotated[
        Path | None, typer.Option(help="Start from the state in this JSON file.")
    ] = None,
    recover: Annotated[
        bool, typer.Option("--recover", help="Continue a run whose workflow is gone.")
    ] = False,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="End the thread's open run as cancelled first.")
    ] = False,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: a repeated start gets the first result.")
    ] = None,
    watch: Watch = False,
    timeout: WatchSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Start a run of GRAPH on THREAD and print its run id.

    The server keeps the start until a worker takes it up. Exit 1 where the thread is busy or
    the start is refused; with --watch also where the run fails. With config.onBusy queue or
    supersede a busy thread queues it as its next turn.
    """
    request = _request(
        {
            "graph": options.graph(graph),
            "message": message,
            "input": options.node_inputs("--input", given or []),
            "data": options.json_object("--data", data),
            "metadata": options.json_object("--metadata", metadata),
            "config": options.json_object("--config", config),
            "checkpointId": checkpoint,
            "forkFrom": fork_from,
            "initialSnapshot": options.snapshot("--snapshot", snapshot),
            "recover": recover,
            "abandon": abandon,
            "idempotencyKey": key,
        }
    )
    check_thread_id(thread)
    asked = Watching(watch=watch, timeout=timeout, as_json=as_json)
    finish(act(lambda threads: begun(threads, thread, request, asked)), thread, asked)


def _request(given: JsonObject) -> RunRequest:
    named = {name: value for name, value in given.items() if value not in (None, False, {})}
    if given["initialSnapshot"] is not None:
        named["initialSnapshot"] = given["initialSnapshot"]
    try:
        return RunRequest.model_validate(named, by_alias=True, by_name=False)
    except ValidationError as error:
        raise InvalidRequest(f"the request cannot be read: {describe(error)}") from error
