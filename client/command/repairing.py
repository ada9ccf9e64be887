"""The verbs ``reconcile`` and ``fork``, which reach the log itself."""

from typing import Annotated

import typer

from client import reconciling
from client.command.arguments import AsJson, Thread, examples
from client.command.connecting import act_on
from client.command.output import print_json, print_line, print_table
from client.connection import connect
from client.log_opening import open_writable_log
from client.reconcile_line import reconcile_line
from client.reconciling import Finding
from client.settings import settings
from client.threads import Threads
from seeding.identity import check_thread_id
from seeding.model import JsonObject

EXAMPLES = {
    "reconcile": ("fermata reconcile", "fermata reconcile alice --repair"),
    "fork": ("fermata fork alice --at workflow_end --to alice-again",),
}


def register(app: typer.Typer) -> None:
    """Add the verbs to the application."""
    for verb in (reconcile, fork):
        app.command(epilog=examples(*EXAMPLES[verb.__name__]))(verb)


def reconcile(
    thread: Annotated[
        str | None, typer.Argument(metavar="THREAD", help="The thread; by default all.")
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Put right what is found.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the runs that the log has open and nobody executes.

    With --repair a run that waits is taken over, so that it can be answered; one left running
    is recovered; one that was taken over five times without a commit is ended as
    Indeterminate; a workflow that is open after its run's end is asked to cancel. A run of
    another namespace is shown and left alone. Exit 0 whatever is found.
    """
    found = act_on(lambda: _reconciled(thread, repair=repair))
    if as_json:
        print_json([finding.to_json() for finding in found])
    else:
        _print(found)


def fork(
    thread: Thread,
    at: Annotated[
        str, typer.Option("--at", help="A checkpoint of THREAD, or workflow_end for its last end.")
    ],
    to: Annotated[str, typer.Option("--to", help="The new thread.")],
    as_json: AsJson = False,
) -> None:
    """Make a new thread that stands on a checkpoint of THREAD.

    Nothing is copied and nothing starts: the first run of the new thread goes on from there,
    at a run's end as its next turn, elsewhere at that position, its questions asked anew.
    """
    check_thread_id(to)
    with open_writable_log(settings().log_url) as log:
        point = log.state(thread, at, messages=False).checkpoint_id
        branch = log.fork(point, to)
    made: JsonObject = {
        "threadId": branch.thread_id,
        "branch": branch.name,
        "checkpointId": point,
        "lineage": [step.to_json() for step in branch.lineage],
    }
    if as_json:
        print_json(made)
    else:
        print_line(f"thread {to} stands on {point}; its first run: fermata start {to} GRAPH")


async def _reconciled(thread: str | None, *, repair: bool) -> list[Finding]:
    configured = settings()
    client = await connect()
    threads = Threads(client, configured.task_queue)
    with open_writable_log(configured.log_url) as log:
        found = await reconciling.find(client, threads, log, thread)
        if not repair:
            return found
        repaired = [await reconciling.repair(threads, log, client, finding) for finding in found]
        await reconciling.wake_queues(log, client, configured.task_queue, thread)
    return repaired


def _to_do(finding: Finding) -> str:
    if finding.action != "leave":
        return finding.action
    return f"leave: {reconcile_line(finding.thread_id, namespace=finding.namespace)}"


def _print(found: list[Finding]) -> None:
    columns = ("thread", "run", "phase", "workflow", "to do", "done")
    rows = [
        (
            finding.thread_id,
            finding.run_id,
            finding.phase,
            finding.reason or "unknown",
            _to_do(finding),
            finding.repaired,
        )
        for finding in found
    ]
    print_table(columns, rows, empty="the log and the server agree")
