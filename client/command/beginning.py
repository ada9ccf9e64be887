"""How a verb begins a run: starts it, sees it taken up or refused, watches it if asked."""

from dataclasses import dataclass

from client.command.output import complain, print_json, print_line
from client.command.people import print_standing
from client.command.watching import judge, watched
from client.thread_models import Standing, StartedRun
from client.threads import Threads
from seeding.request import RunRequest

OPEN_SECONDS = 3.0
"""How long a worker has to take a start up before it is said that none has."""


@dataclass(frozen=True)
class Watching:
    """What the caller wants to see of the run.

    Attributes:
        watch: Whether its progress is shown until it waits or ends.
        timeout: Seconds to watch, or else to wait until a worker has taken it up.
        as_json: Whether one JSON document is printed.
    """

    watch: bool
    timeout: float | None
    as_json: bool


@dataclass(frozen=True)
class Begun:
    """A run that was started, and where it came to if it was watched."""

    started: StartedRun
    standing: Standing | None = None


async def begun(threads: Threads, thread: str, request: RunRequest, asked: Watching) -> Begun:
    """Start a run on a thread, print it, and watch it where that is asked for.

    Raises:
        StartRefused: The start was refused, by the class of its code.
        FermataError: As ``Threads.start`` and ``Threads.wait``.
    """
    started = await threads.start(thread, request)
    within = asked.timeout or OPEN_SECONDS
    opened = asked.watch or await threads.opened(thread, started.run_id, within=within)
    if not asked.as_json:
        print_line(f"run {started.run_id}\nworkflow {started.workflow_id}")
    if not opened:
        complain(
            f"no worker has taken the run up within {within:g} s; it starts when one does, such "
            "as `fermata worker`"
        )
    if not asked.watch:
        return Begun(started)
    return Begun(started, await watched(threads, thread, started.run_id, asked.timeout))


def finish(begun: Begun, asked: Watching) -> None:
    """Print what is left to print of a start.

    Raises:
        Exit: The watched run has failed.
    """
    standing = begun.standing
    if asked.as_json:
        seen = {} if standing is None else {"standing": standing.to_json()}
        print_json({**begun.started.to_json(), **seen})
    elif standing is not None:
        print_standing(standing)
    if standing is not None:
        judge(standing)
