"""What the environment says, as settings."""

from pathlib import Path

import pytest

from client.settings import settings


def test_lists_are_separated_by_commas_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERMATA_GRAPHS", "one, a:b ,,/c:/two")
    monkeypatch.setenv("FERMATA_NODES", "first,second")

    assert settings().graphs == (Path("one"), Path("a:b"), Path("/c:/two"))
    assert settings().nodes == ("first", "second")


def test_the_url_of_the_log_wins_over_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERMATA_HOME", "data")
    monkeypatch.delenv("FERMATA_LOG_URL", raising=False)
    assert settings().log_url == "sqlite:///data/log.db"
    monkeypatch.setenv("FERMATA_LOG_URL", "sqlite:///else.db")
    assert settings().log_url == "sqlite:///else.db"
