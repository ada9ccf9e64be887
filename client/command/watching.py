"""The verb ``watch``, and what ``--watch`` does after a start."""

import typer

from client.command.arguments import AsJson, Thread, WatchSeconds, examples
from client.command.connecting import act_at
from client.command.output import complain, print_json
from client.command.people import print_standing
from client.command.progress_view import ProgressView
from client.thread_models import Standing
from client.threads import Threads

FAILED = ("failed", "max_iterations_exceeded")
"""Results that count as a failure of the command."""


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=examples("fermata watch alice", "fermata watch alice --timeout 60 --json"))(
        watch
    )


def watch(thread: Thread, timeout: WatchSeconds = None, as_json: AsJson = False) -> None:
    """Show the run of THREAD until it waits or ends.

    Nodes and loop rounds are shown on stderr as they change. Then it prints where the run
    stands: what it waits for with the line that answers it, or its result.

    Exit 1 where the run failed, or neither waits nor ended in time.
    """
    standing = act_at(thread, lambda threads: watched(threads, thread, None, timeout))
    if as_json:
        print_json(standing.to_json())
    else:
        print_standing(standing)
    judge(standing)


async def watched(
    threads: Threads, thread: str, run_id: str | None, within: float | None
) -> Standing:
    """Return where a run comes to; its progress is shown meanwhile.

    Raises:
        FermataError: As ``Threads.wait``.
    """
    with ProgressView(thread) as view:
        return await threads.wait(thread, run_id, within=within, on_look=view.show)


def judge(standing: Standing) -> None:
    """End the command with exit code 1 where the run it watched has failed."""
    result = standing.result
    if result is None or result.get("status") not in FAILED:
        return
    why = result.get("error") or "failed"
    complain(f"{result['status']}: run {standing.run_id} of thread {standing.thread_id!r}: {why}")
    raise typer.Exit(1)
