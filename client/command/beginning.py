"""How a verb begins a run: starts it, sees it taken up or refused, watches it if asked."""

import shlex
from dataclasses import dataclass

from client.command.acting import print_reply
from client.command.arguments import WORKER_SECONDS
from client.command.output import complain, print_json, print_line
from client.command.people import print_standing
from client.command.watching import judge, watched
from client.looking import warning_line
from client.thread_models import Standing, StartedRun
from client.threads import Threads
from seeding.errors import ClientError, FermataError
from seeding.model import JsonObject
from seeding.request import RunRequest
from workflows.inbox_model import Reply

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
    """A run that was started, what that warned of, and where it came to if it was watched."""

    started: StartedRun
    warnings: tuple[JsonObject, ...] = ()
    standing: Standing | None = None


async def begun(
    threads: Threads, thread: str, request: RunRequest, asked: Watching
) -> Begun | Reply:
    """Start a run on a thread, print it, and watch it where that is asked for.

    On a busy thread it is what the queue says of it, where the request is to be queued.

    Raises:
        StartRefused: The start was refused, by the class of its code.
        FermataError: As ``Threads.start_or_queue`` and ``Threads.wait``.
    """
    within = OPEN_SECONDS if asked.watch or asked.timeout is None else asked.timeout
    taken = await threads.start_or_queue(thread, request, within=WORKER_SECONDS, open_within=within)
    if isinstance(taken, Reply):
        return taken
    started, opened = taken.started, taken.run_id
    # A run that was taken over goes on under its own id, not under that of the execution.
    known = started.model_copy(update={"run_id": opened or started.run_id})
    if not asked.as_json:
        print_line(f"run {known.run_id}\nworkflow {known.workflow_id}")
    if opened is None:
        why = await _why_waiting(threads, thread)
        complain(f"no worker has taken the run up within {within:g} s; {why}")
    if not asked.watch:
        return Begun(known, () if opened is None else await _warned(threads, thread))
    # It says what the start warned of as soon as the run has opened, however late that is.
    standing = await watched(threads, thread, started.run_id, asked.timeout)
    return Begun(known, standing.warnings, standing)


async def _why_waiting(threads: Threads, thread: str) -> str:
    nobody = "it starts when one does, such as `fermata worker`"
    try:
        return await threads.why_waiting(thread) or nobody
    except FermataError:
        return nobody


async def _warned(threads: Threads, thread: str) -> tuple[JsonObject, ...]:
    """Return what the start warned of, said at once; nothing where nobody answers any more."""
    try:
        warnings = await threads.warnings(thread)
    except ClientError:
        return ()
    for warning in warnings:
        complain(warning_line(warning))
    return warnings


def queued_line(thread: str, reply: Reply) -> str:
    """Return what people are told of a turn that was queued, or was known by its key."""
    if reply.queued_turn is None:
        return f"this was taken before, as run {reply.run_id}"
    again = ", as it was before" if reply.duplicate else ""
    behind = "in its turn" if reply.run_id is None else f"when run {reply.run_id} is over"
    return (
        f"queued as turn {reply.queued_turn} of thread {thread}{again}; it starts {behind}: "
        f"fermata queue {shlex.quote(thread)}"
    )


def finish(begun: Begun | Reply, thread: str, asked: Watching) -> None:
    """Print what is left to print of a start, or what the queue said of it.

    Raises:
        Exit: The watched run has failed.
    """
    if isinstance(begun, Reply):
        print_reply(begun, asked.as_json, queued_line(thread, begun))
        return
    standing = begun.standing
    if asked.as_json:
        seen = {} if standing is None else {"standing": standing.to_json()}
        warned = {"warnings": list(begun.warnings)}
        print_json({**begun.started.to_json(), **warned, **seen})
    elif standing is not None:
        print_standing(standing)
    if standing is not None:
        judge(standing)
