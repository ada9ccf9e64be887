"""The log and its model through new histories, on both databases.

``make soak ARGS='tests/soak/test_log_against_its_model.py --histories 2000'``; a history that
failed is kept in ``.hypothesis`` and comes first the next time.
"""

from pathlib import Path

import pytest

from tests.model.log_machine import drive


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_log_and_model_agree_after_every_action(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = f"sqlite:///{tmp_path / 'log.db'}"
    url = file if database == "sqlite" else request.getfixturevalue("postgresql_url")
    histories = int(str(request.config.getoption("--histories")))
    drive(url, histories=histories, actions=60, new=True)
