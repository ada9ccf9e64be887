"""Fixtures every test may use: a real server, and a log of its own."""

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from settings import server_settings, temporal_binary
from tests.first_run import run_first

if TYPE_CHECKING:
    from tests.postgresql_server import PostgresqlServer


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def temporal() -> AsyncGenerator[WorkflowEnvironment]:
    """A dev server in memory, started as the dev stage starts its own; one per test process."""
    # The SDK leaves the type of one of its parameters open.
    async with await WorkflowEnvironment.start_local(  # pyright: ignore[reportUnknownMemberType]
        dev_server_existing_path=str(temporal_binary()),
        dev_server_extra_args=server_settings(for_tests=True),
        dev_server_log_level="error",
    ) as environment:
        await run_first(environment.client)
        yield environment


@pytest.fixture
def log_url(tmp_path: Path) -> str:
    """The URL of a commit log that does not exist yet: a database file of this test alone."""
    return f"sqlite:///{tmp_path / 'log.db'}"


@pytest.fixture(scope="session")
def postgresql() -> "Iterator[PostgresqlServer]":
    """A PostgreSQL server, started for the first test that asks; one per test process."""
    from tests.postgresql_server import PostgresqlServer

    server = PostgresqlServer()
    yield server
    server.close()


@pytest.fixture
def postgresql_url(postgresql: "PostgresqlServer") -> Iterator[str]:
    """The URL of an empty place for a log on that server, of this test alone."""
    url = postgresql.new_url()
    yield url
    postgresql.drop(url)
