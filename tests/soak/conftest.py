"""How many runs a soak makes, which ones, and how many at a time."""

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from client.failures import DATA_CONVERTER


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of ``make soak ARGS=...``."""
    group = parser.getgroup("soak")
    group.addoption("--runs", type=int, default=200, help="how many randomised runs")
    group.addoption("--schedules", type=int, default=500, help="how many answered runs")
    group.addoption("--first-seed", type=int, default=0, help="the seed of the first one")
    group.addoption(
        "--database", choices=("sqlite", "postgresql"), default="sqlite", help="where the log is"
    )
    group.addoption("--together", type=int, default=4, help="how many of them at a time")
    group.addoption("--graphs", type=int, default=1000, help="how many generated graphs")
    group.addoption("--live-graphs", type=int, help="how many on a server; as many by default")
    group.addoption("--histories", type=int, default=300, help="how many histories of the log")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client(temporal: WorkflowEnvironment) -> Client:
    """A client of the test server that reads and writes as people's clients do."""
    config = temporal.client.config()
    config["data_converter"] = DATA_CONVERTER
    return Client(**config)
