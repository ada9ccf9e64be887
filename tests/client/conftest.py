"""Fixtures of the client's tests: a written log, and the command on it."""

import uuid
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from command_runner import Answer, run
from live_stage import STAGE, Served
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment
from written_log import Clock, WrittenThread

from activities.log import CommitLog
from client.settings import Settings
from client.threads import Threads
from client.worker import build_worker, open_resources


@pytest.fixture
def fermata(log_url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """The command, with this test's log and a server that is not there."""
    monkeypatch.setenv("FERMATA_LOG_URL", log_url)
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(Path(log_url).parent / "none.toml"))
    monkeypatch.delenv("FERMATA_NODES", raising=False)
    return run


@pytest.fixture
def log(log_url: str) -> Generator[CommitLog]:
    """This test's log, open for writing, with a clock that moves by seconds."""
    with CommitLog.open(log_url, clock=Clock()) as opened:
        yield opened


@pytest.fixture
def alice(log: CommitLog) -> WrittenThread:
    """A thread whose commits the test writes."""
    return WrittenThread(log)


@pytest_asyncio.fixture(loop_scope="session")
async def unserved(temporal: WorkflowEnvironment, log_url: str) -> Served:
    """A queue that no worker serves."""
    config = temporal.client.config()
    config["data_converter"] = pydantic_data_converter
    client = Client(**config)
    configured = Settings(
        log_url=log_url,
        task_queue=f"q-{uuid.uuid4().hex}",
        nodes=("sample_nodes",),
        graphs=(STAGE / "graphs",),
    )
    return Served(Threads(client, configured.task_queue), client, configured)


@pytest_asyncio.fixture(loop_scope="session")
async def served(unserved: Served) -> AsyncGenerator[Served]:
    """The same with a worker."""
    configured = unserved.configured
    async with (
        open_resources(configured) as resources,
        build_worker(unserved.client, resources, configured.task_queue),
    ):
        yield unserved


@pytest.fixture
def thread() -> str:
    """A thread that no other test uses."""
    return f"t-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def here(served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The served queue, with this process's environment naming it."""
    return _placed(served, monkeypatch)


@pytest.fixture
def nobody_here(unserved: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The queue without a worker, with this process's environment naming it."""
    return _placed(unserved, monkeypatch)


def _placed(stage: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    for name in ("TEMPORAL_PROFILE", "FERMATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in stage.environment().items():
        if name.startswith(("TEMPORAL_", "FERMATA_")):
            monkeypatch.setenv(name, value)
    return stage
