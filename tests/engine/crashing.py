"""Worker processes that are killed or stopped at a point, and what a thread then looks like."""

import asyncio
import json
import os
import resource
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, select

from activities.log.tables import metadata
from seeding.model import JsonObject
from tests.engine.charges import Charges
from tests.engine.crash_points import NOWHERE
from tests.engine.graphs import graph
from tests.engine.stage import Handle, Stage

MODULE = "tests.engine.crash_process"
ROOT = Path(__file__).resolve().parents[2]
TASK_TIMEOUT = timedelta(seconds=1)
PATIENCE = 60.0


class WorkerProcess:
    """A worker in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def reached(self) -> str:
        """Wait until the process hangs, and return the point at which it does."""
        said = await self._line()
        assert said.startswith("reached "), said
        return said.removeprefix("reached ")

    async def passed(self, *points: str) -> None:
        """Wait until the process, which went on, has passed all of these points."""
        missing = set(points)
        while missing:
            missing.discard((await self._line()).removeprefix("passed "))

    async def _line(self) -> str:
        """Return the next line about a point; what the SDK logs there is passed over."""
        assert self._process.stdout is not None
        while True:
            line = await asyncio.wait_for(self._process.stdout.readline(), PATIENCE)
            assert line, "the worker process ended"
            if line.startswith((b"reached ", b"passed ")):
                return line.decode().strip()

    async def kill(self) -> None:
        """End the process as a crash does: at once, with nothing told to anybody."""
        if self._process.returncode is None:
            os.kill(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    def limit_files(self, size: int) -> None:
        """Let the process write no file beyond this many bytes; it finds the disk full there."""
        _, most = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (size, most))

    def limit_files_no_more(self) -> None:
        """Give the process room again."""
        _, most = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (most, most))

    def stop(self) -> None:
        """Stop the process where it is; it holds all it held and answers nobody.

        Every thread of it has stopped when this returns.
        """
        os.kill(self._process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def wake(self) -> None:
        """Let a stopped process run again; where it hangs it goes on hanging."""
        os.kill(self._process.pid, signal.SIGCONT)

    def go_on(self) -> None:
        """Let a process that hangs, stopped or not, go on unharmed."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        os.kill(self._process.pid, signal.SIGCONT)


@asynccontextmanager
async def worker_process(
    stage: Stage, point: str = "", nth: int = NOWHERE
) -> AsyncGenerator[WorkerProcess]:
    """Serve a stage's task queue from another process; it is killed when the block ends.

    Args:
        stage: Whose task queue and log it serves.
        point: The name of the point at which it hangs (``crash_points``).
        nth: The number of the point at which it hangs, whatever its name.
    """
    address = stage.client.service_client.config.target_host
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", MODULE, address, stage.task_queue, stage.log_url, point, str(nth)),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'temporal-dev'}"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    worker = WorkerProcess(process)
    try:
        yield worker
    finally:
        await worker.kill()


def died_on(stage: Stage) -> str:
    """Return the name of the thread whose worker dies, of this stage alone."""
    return f"died-{stage.task_queue}"


def lived_on(stage: Stage) -> str:
    """Return the name of the thread on which the same happens and no worker dies."""
    return f"lived-{stage.task_queue}"


async def begin(stage: Stage, thread: str, request: Mapping[str, Any]) -> Handle:
    """Start a run whose lost workflow tasks are missed after a second."""
    return await stage.client.start_workflow(
        "Run",
        dict(request),
        id=f"thread/{thread}",
        task_queue=stage.task_queue,
        task_timeout=TASK_TIMEOUT,
    )


async def crashed(stage: Stage, thread: str, request: Mapping[str, Any], point: str) -> Handle:
    """Start a run, let its only worker come to a point, and kill it there."""
    async with worker_process(stage, point) as worker:
        handle = await begin(stage, thread, request)
        await worker.reached()
        await worker.kill()
    return handle


def paying_chain(service: Path) -> JsonObject:
    """Return a chain of a charge, a message and another charge."""
    charging = {"service": str(service)}
    return graph(
        "paying-chain",
        {
            "pay": ("pays", charging),
            "tell": ("reply", {"message": "{receipt}"}),
            "again": ("pays_in_a_thread", charging),
        },
        "pay.receipt -> tell.receipt",
        "tell.message -> again.after",
    )


def paying_after_gate(service: Path) -> JsonObject:
    """Return a gate, a charge once it is answered, and a message of both."""
    return graph(
        "paying-after-gate",
        {
            "gate": ("gate", {"kind": "approval", "message": "Pay?"}),
            "pay": ("pays", {"service": str(service)}),
            "tell": ("reply", {"message": "{said}: {receipt}"}),
        },
        "gate.answer -> pay.said",
        "gate.answer -> tell.said",
        "pay.receipt -> tell.receipt",
    )


def thread_of(stage: Stage, thread: str) -> JsonObject:
    """Return all that the log says of a thread, with its ids and times taken out.

    Two threads on which the same happened say the same.
    """
    log = stage.log
    runs, commits = log.runs(thread), log.commits(thread, limit=10_000)
    said: JsonObject = {
        "state": log.state(thread).state.to_json(),
        "messages": log.messages(thread),
        "checkpoints": [row.model_dump(exclude={"created_at"}) for row in log.checkpoints(thread)],
        "runs": [
            run.model_dump(mode="json", exclude={"opened_at", "ended_at", "open_tickets"})
            for run in runs
        ],
        "commits": [stored.operation.commit.to_json() for stored in commits],
        "outputs": [
            [row.model_dump(mode="json") for row in log.all_outputs(run.run_id)] for run in runs
        ],
    }
    text = json.dumps(said)
    for number, run in enumerate(runs):
        text = text.replace(run.run_id, f"run-{number}")
    return json.loads(text.replace(json.dumps(thread), '"the thread"'))


def whole_log(stage: Stage) -> dict[str, list[str]]:
    """Return every row of every table of a stage's log."""
    engine = create_engine(stage.log_url)
    with engine.connect() as connection:
        found = {
            table.name: sorted(repr(tuple(row)) for row in connection.execute(select(table)))
            for table in metadata.sorted_tables
        }
    engine.dispose()
    return found


def assert_whole(stage: Stage, thread: str) -> None:
    """Assert that nothing of a thread is missing and nothing is there twice.

    Versions and ordinals are dense, every message id is there once, every run has ended once,
    as its last commit says, and the log finds itself unharmed.
    """
    commits = stage.log.commits(thread, limit=10_000)
    assert [stored.thread_version for stored in commits] == list(range(1, len(commits) + 1))
    for run in stage.log.runs(thread):
        own = [one.operation for one in commits if one.operation.run_id == run.run_id]
        assert [operation.ordinal for operation in own] == list(range(len(own)))
        ended = [one.commit.disposition.kind == "Ended" for one in own]
        assert ended == [False] * (len(own) - 1) + [True]
        assert own[-1].commit.disposition.cause == run.cause
    ids = [message["id"] for message in stage.log.messages(thread)]
    assert len(set(ids)) == len(ids)
    assert stage.log.verify(thread) == []


def assert_charged_once(service: Path, thread: str, *executions: str) -> None:
    """Assert that just these executions of a thread were charged, each under one key."""
    assert Charges(service).charged(thread) == dict.fromkeys(executions, 1)
