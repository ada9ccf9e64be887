from collections.abc import AsyncGenerator

import pytest_asyncio
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from tests.engine.stage import Stage, staged


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client(temporal: WorkflowEnvironment) -> Client:
    """A client of the test server that reads and writes as people's clients do."""
    config = temporal.client.config()
    config["data_converter"] = pydantic_data_converter
    return Client(**config)


@pytest_asyncio.fixture(loop_scope="session")
async def stage(client: Client, log_url: str) -> AsyncGenerator[Stage]:
    """A served stage."""
    async with staged(client, log_url) as served:
        yield served
