"""The log takes no writes for a while: its disk is full, it is locked, its server is down.

The run waits, answers whoever asks, guesses nothing and doubles nothing, and goes on by itself
(AW-10, AW-11, PB-F14).
"""

import asyncio
import resource
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client, WorkflowExecutionStatus

import tests.engine.paying_nodes as paying_nodes
from tests.engine.charges import Charges
from tests.engine.crashing import (
    WorkerProcess,
    assert_charged_once,
    assert_whole,
    begin,
    died_on,
    lived_on,
    paying_after_gate,
    paying_chain,
    whole_log,
    worker_process,
)
from tests.engine.stage import Handle, Stage, closed, staged, until, update
from tests.postgresql_server import PostgresqlServer

assert paying_nodes.__name__  # Imported for the node types it declares.


def file_of(stage: Stage) -> str:
    return stage.log_url.removeprefix("sqlite:///")


@contextmanager
def full(stage: Stage, worker: WorkerProcess) -> Generator[None]:
    """Let a worker process add nothing to the log's files, as on a disk that is full."""
    if not hasattr(resource, "prlimit"):
        pytest.skip("this system cannot limit the files of another process")
    worker.limit_files(Path(f"{file_of(stage)}-wal").stat().st_size)
    try:
        yield
    finally:
        worker.limit_files_no_more()


@contextmanager
def locked(stage: Stage) -> Generator[None]:
    """Hold the log's one lock from outside."""
    other = sqlite3.connect(file_of(stage), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


async def until_failing(handle: Handle, activity: str) -> str:
    """Return what the server shows of an activity that fails or waits, once it shows it."""
    for _ in range(400):
        described = await handle.describe()
        for pending in described.raw_description.pending_activities:
            if pending.activity_type.name == activity:
                if pending.HasField("last_failure"):
                    return pending.last_failure.message
                for payload in pending.heartbeat_details.payloads:
                    return payload.data.decode()
        await asyncio.sleep(0.05)
    raise AssertionError(f"{activity} never failed")


@pytest.mark.parametrize("how", ["full", "locked"])
async def test_an_outcome_that_the_log_does_not_take_is_kept_until_it_does(
    idle: Stage, tmp_path: Path, how: str
) -> None:
    service, thread = tmp_path / "service", died_on(idle)
    async with worker_process(idle, "after charge pay:0") as worker:
        handle = await begin(idle, thread, {"graph": paying_chain(service)})
        await worker.reached()
        before = whole_log(idle)
        with full(idle, worker) if how == "full" else locked(idle):
            worker.go_on()
            assert "did not answer" in await until_failing(handle, "run_node")
            assert (await handle.query("state"))["run"]["phase"] == "running"
            assert (await update(handle, "pause", {"reason": "meanwhile"}))["accepted"]
            assert whole_log(idle) == before
        await until(handle, "paused")
        await handle.signal("resume", {})
        assert (await handle.result())["status"] == "completed"
    assert Charges(service).calls(thread) == {"pay:0": 1, "again:0": 1}
    assert_whole(idle, thread)


@pytest.mark.parametrize("how", ["full", "locked"])
async def test_an_effect_whose_intent_the_log_does_not_take_is_not_begun(
    idle: Stage, tmp_path: Path, how: str
) -> None:
    service, thread = tmp_path / "service", died_on(idle)
    async with worker_process(idle, "before run_node pay") as worker:
        handle = await begin(idle, thread, {"graph": paying_chain(service)})
        await worker.reached()
        before = whole_log(idle)
        with full(idle, worker) if how == "full" else locked(idle):
            worker.go_on()
            assert "did not answer" in await until_failing(handle, "run_node")
            assert (await handle.query("state"))["run"]["phase"] == "running"
            assert Charges(service).calls(thread) == {}
            assert whole_log(idle) == before
        assert (await handle.result())["status"] == "completed"
    assert Charges(service).calls(thread) == {"pay:0": 1, "again:0": 1}
    assert_whole(idle, thread)


@pytest.mark.parametrize("point", ["before open_run", "before commit pay", "before end_run"])
async def test_a_commit_for_which_the_disk_has_no_room_is_made_once_it_has(
    idle: Stage, tmp_path: Path, point: str
) -> None:
    service, thread = tmp_path / "service", died_on(idle)
    async with worker_process(idle, point) as worker:
        handle = await begin(idle, thread, {"graph": paying_chain(service)})
        await worker.reached()
        before = whole_log(idle)
        with full(idle, worker):
            worker.go_on()
            await until_failing(handle, point.split()[1])
            assert await handle.query("refusals") == []
            assert whole_log(idle) == before
        assert (await handle.result())["status"] == "completed"
    assert Charges(service).calls(thread) == {"pay:0": 1, "again:0": 1}
    assert_whole(idle, thread)


@pytest.mark.parametrize("native", [False, True])
async def test_a_cancel_between_two_attempts_at_a_commit_ends_the_run_behind_that_commit(
    idle: Stage, tmp_path: Path, native: bool
) -> None:
    """What is being committed is settled first, at its ordinal, and the cancel is kept (AW-11)."""
    service, thread = tmp_path / "service", died_on(idle)
    async with worker_process(idle, "before commit pay") as worker:
        handle = await begin(idle, thread, {"graph": paying_chain(service)})
        await worker.reached()
        with full(idle, worker):
            worker.go_on()
            await until_failing(handle, "commit")
            await (handle.cancel() if native else handle.signal("cancel", {}))
            assert (await handle.query("state"))["run"]["phase"] == "running"
        assert await closed(handle) == WorkflowExecutionStatus.CANCELED
    commits = [stored.operation.commit for stored in idle.log.commits(thread)]
    assert [commit.node_id for commit in commits] == [None, "pay", "tell", None]
    assert Charges(service).calls(thread) == {"pay:0": 1}
    assert_charged_once(service, thread, "pay:0")
    assert_whole(idle, thread)


@pytest_asyncio.fixture(loop_scope="session")
async def on_postgresql(client: Client, postgresql_url: str) -> AsyncGenerator[Stage]:
    """A served stage whose log is on a PostgreSQL server."""
    async with staged(client, postgresql_url) as served:
        yield served


async def test_runs_that_wait_while_their_database_is_down_are_all_answered_and_end(
    on_postgresql: Stage, postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    """A database that was lost during a wait leaves no run stuck (PB-F14)."""
    stage, service = on_postgresql, tmp_path / "service"
    request = {"graph": paying_after_gate(service)}
    threads = [f"{lived_on(stage)}-{number}" for number in range(10)]
    handles = [await stage.start(thread, request) for thread in threads]
    for handle in handles:
        await until(handle, "awaiting")
    postgresql.stop()
    try:
        for handle in handles:
            ticket = f"{handle.first_execution_run_id}:gate:0:0"
            answer = {"ticket": ticket, "decision": "approve"}
            assert (await update(handle, "resume", answer))["accepted"]
            assert (await handle.query("state"))["run"]["phase"] == "awaiting"
        assert "did not answer" in await until_failing(handles[0], "commit")
        assert Charges(service).calls(threads[0]) == {}
    finally:
        postgresql.start()
    for thread, handle in zip(threads, handles, strict=True):
        assert (await handle.result())["status"] == "completed"
        assert_charged_once(service, thread, "pay:0")
        assert_whole(stage, thread)
