"""A log of its own for every test here."""

from collections.abc import Iterator

import pytest
from log_writer import Clock, Writer

from activities.log import CommitLog


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
