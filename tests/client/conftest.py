"""Fixtures of the client's tests: a written log, and the command on it."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from command_runner import Answer, run
from written_log import Clock, WrittenThread

from activities.log import CommitLog


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
