"""The worker that the local stage runs beside its server: sample nodes and graphs loaded."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from child_process import ChildProcess, StopRequest, run_command
from seeding.errors import NoWorker
from seeding.model import JsonObject
from server import DevServer
from settings import temporal_binary

STAGE = Path(__file__).resolve().parent
GRAPHS = STAGE / "graphs"
READY_LINE = "worker ready"
START_PATIENCE = 60.0
"""Seconds the worker has to poll."""


def worker_environment(server: DevServer, home: Path) -> dict[str, str]:
    """Return the environment of a worker, or of a ``fermata`` command, of this stage.

    The caller's own node modules and graph folders are loaded beside the samples; a log that
    the caller names is used.
    """
    given = server.environment()
    return {
        **given,
        "FERMATA_HOME": str(home),
        "FERMATA_NODES": _joined("sample_nodes", given.get("FERMATA_NODES"), ","),
        "FERMATA_GRAPHS": _joined(str(GRAPHS), given.get("FERMATA_GRAPHS"), ","),
        "PYTHONPATH": _joined(
            os.pathsep.join((str(STAGE), str(STAGE.parent))), given.get("PYTHONPATH"), os.pathsep
        ),
        "PYTHONUNBUFFERED": "1",
    }


def _joined(ours: str, given: str | None, separator: str) -> str:
    return f"{ours}{separator}{given}" if given else ours


@contextmanager
def stage_worker(
    server: DevServer,
    environment: Mapping[str, str],
    stop: StopRequest,
    on_line: Callable[[str], None],
) -> Generator[ChildProcess]:
    """Run a worker while the block runs; it is gone afterwards, however the block ends.

    Args:
        server: The server it polls.
        environment: From ``worker_environment``.
        stop: A request to stop ends the wait for its first poll.
        on_line: Called with each line it prints, except the one that says it is ready.

    Raises:
        NoWorker: It ended, or did not poll in time.
        StopRequested: It was asked during the wait.
    """
    polls = threading.Event()

    def read(line: str) -> None:
        if line.strip() == READY_LINE:
            polls.set()
        else:
            on_line(line)

    process = ChildProcess(
        "worker",
        [sys.executable, "-m", "client.command", "worker"],
        environment=environment,
        on_line=read,
    )
    try:
        _wait_until_it_polls(process, polls, server, environment, stop)
        yield process
    finally:
        process.stop()


def _wait_until_it_polls(
    process: ChildProcess,
    says_ready: threading.Event,
    server: DevServer,
    environment: Mapping[str, str],
    stop: StopRequest,
) -> None:
    deadline = time.monotonic() + START_PATIENCE
    while time.monotonic() < deadline:
        if process.exit_code is not None:
            raise NoWorker(process.describe_end())
        if says_ready.is_set() and _server_sees_a_poller(environment, stop):
            return
        stop.sleep(0.05)
    raise NoWorker(
        f"the worker did not poll {server.address} within {START_PATIENCE:.0f} s; it is stopped"
    )


def _server_sees_a_poller(environment: Mapping[str, str], stop: StopRequest) -> bool:
    queue = environment.get("FERMATA_TASK_QUEUE") or "fermata"
    answer = run_command(
        [
            str(temporal_binary()),
            *("task-queue", "describe", "--task-queue", queue, "--output", "json"),
        ],
        environment=environment,
        stop=stop,
        timeout=START_PATIENCE,
    )
    if answer.returncode != 0:
        return False
    pollers: list[JsonObject] = json.loads(answer.stdout).get("pollers") or []
    return any(poller["taskQueueType"] == "workflow" for poller in pollers)
