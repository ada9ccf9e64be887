"""The verb ``start``: everything a request can say, as options (contract 2)."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from client.command import options
from client.command.connecting import act
from client.command.output import complain, print_json, print_line
from client.command.people import print_standing
from client.thread_models import Standing, StartedRun
from client.threads import Threads
from seeding.errors import InvalidRequest
from seeding.identity import check_thread_id
from seeding.model import JsonObject
from seeding.request import RunRequest, describe

WATCH_SECONDS = 600.0
FAILED = ("failed", "max_iterations_exceeded")
"""Results that ``--watch`` reports as a failure of the command."""
EXAMPLE = "Example: fermata start alice expense-review --input 'items.value=[50, 150]'"


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=EXAMPLE)(start)


def start(
    thread: Annotated[str, typer.Argument(metavar="THREAD", help="The thread, such as alice.")],
    graph: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH", help="A registered id, id@digest, or the path of a document."
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
    watch: Annotated[
        bool, typer.Option("--watch", help="Wait until the run waits for somebody or ends.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="With --watch: seconds to wait.")
    ] = WATCH_SECONDS,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Start a run of GRAPH on THREAD and print its run id.

    Exit 1 where the thread is busy or the server does not answer; with --watch also where the
    start is refused or the run fails.
    """
    request = _request(
        {
            "graph": options.graph(graph),
            "message": message,
            "input": options.node_inputs("--input", given or []),
            "data": options.json_object("--data", data),
            "metadata": options.json_object("--metadata", metadata),
            "checkpointId": checkpoint,
            "forkFrom": fork_from,
            "initialSnapshot": options.snapshot("--snapshot", snapshot),
            "recover": recover,
            "abandon": abandon,
            "idempotencyKey": key,
        }
    )
    check_thread_id(thread)

    async def starting(threads: Threads) -> tuple[StartedRun, Standing | None]:
        started = await threads.start(thread, request)
        if not as_json:
            print_line(f"run {started.run_id}\nworkflow {started.workflow_id}")
        if not watch:
            return started, None
        return started, await threads.wait(thread, started.run_id, within=timeout)

    started, standing = act(starting)
    if as_json:
        seen = {} if standing is None else {"standing": standing.to_json()}
        print_json({**started.to_json(), **seen})
    elif standing is not None:
        print_standing(standing)
    _judge(standing)


def _request(given: JsonObject) -> RunRequest:
    named = {name: value for name, value in given.items() if value not in (None, False, {})}
    if given["initialSnapshot"] is not None:
        named["initialSnapshot"] = given["initialSnapshot"]
    try:
        return RunRequest.model_validate(named)
    except ValidationError as error:
        raise InvalidRequest(f"the request cannot be read: {describe(error)}") from error


def _judge(standing: Standing | None) -> None:
    result = standing.result if standing is not None else None
    if standing is None or result is None or result.get("status") not in FAILED:
        return
    complain(f"{result['status']}: run {standing.run_id} of thread {standing.thread_id!r} failed")
    raise typer.Exit(1)
