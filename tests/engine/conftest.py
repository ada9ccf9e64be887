from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.testing import TimeSkippingConfig, WorkflowEnvironment

import activities.run_node
from client.failures import DATA_CONVERTER
from settings import server_settings, temporal_binary
from tests.engine.stage import Stage, staged
from tests.first_run import run_first


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client(temporal: WorkflowEnvironment) -> Client:
    """A client of the test server that reads and writes as people's clients do."""
    config = temporal.client.config()
    config["data_converter"] = DATA_CONVERTER
    return Client(**config)


@pytest_asyncio.fixture(loop_scope="session")
async def stage(client: Client, log_url: str) -> AsyncGenerator[Stage]:
    """A served stage."""
    async with staged(client, log_url) as served:
        yield served


@pytest.fixture
def idle_url(log_url: str) -> str:
    """Where the log of ``idle`` is; a module may put it elsewhere."""
    return log_url


@pytest_asyncio.fixture(loop_scope="session")
async def idle(
    client: Client, idle_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Stage]:
    """A stage that nobody serves yet; it heartbeats as often as a worker process expects."""
    monkeypatch.setattr(activities.run_node, "HEARTBEAT_SECONDS", 0.2)
    opened = Stage(client, idle_url)
    opened.open()
    try:
        yield opened
    finally:
        await opened.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def clock() -> AsyncGenerator[WorkflowEnvironment]:
    """A dev server with a clock for each run; nothing is skipped unless a test says so."""
    skipping = ["--dynamic-config-value", "frontend.WorkflowTimeSkippingEnabled=true"]
    async with await WorkflowEnvironment.start_time_skipping_v2(  # pyright: ignore[reportUnknownMemberType]
        dev_server_existing_path=str(temporal_binary()),
        dev_server_extra_args=[*server_settings(for_tests=True), *skipping],
        dev_server_log_level="error",
        ts_config=TimeSkippingConfig(enabled=False),
    ) as environment:
        await run_first(environment.client)
        yield environment


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def skipping_client(clock: WorkflowEnvironment) -> Client:
    """A client of the server whose time can be moved."""
    config = clock.client.config()
    config["data_converter"] = DATA_CONVERTER
    return Client(**config)
