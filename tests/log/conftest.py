"""A log of its own for every test here, on each database."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from log_writer import Clock, Writer

from activities.log import CommitLog

if TYPE_CHECKING:
    from tests.postgresql_server import PostgresqlServer


@pytest.fixture(params=["sqlite", "postgresql"])
def new_log_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Returns the URL of another log that does not exist yet with each call."""
    made: list[str] = []
    server: PostgresqlServer | None = None
    if request.param == "postgresql":
        server = request.getfixturevalue("postgresql")

    def new() -> str:
        name = f"log{len(made) + 1}.db" if made else "log.db"
        made.append(server.new_url() if server else f"sqlite:///{tmp_path / name}")
        return made[-1]

    yield new
    for url in made if server else ():
        assert server is not None
        server.drop(url)


@pytest.fixture
def log_url(new_log_url: Callable[[], str]) -> str:
    """The URL of a log that does not exist yet, on each database in turn."""
    return new_log_url()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a log that does not exist yet, for what only a SQLite file has."""
    return f"sqlite:///{tmp_path / 'log.db'}"


@pytest.fixture
def log(log_url: str) -> Iterator[CommitLog]:
    with CommitLog.open(log_url, clock=Clock()) as opened:
        yield opened


@pytest.fixture
def running(log: CommitLog) -> Writer:
    """Run r1 on thread t, opened and Running."""
    writer = Writer(log)
    writer.open(messages=({"id": "m0", "role": "user", "content": "hello"},))
    return writer
