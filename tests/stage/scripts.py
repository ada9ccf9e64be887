"""Runs the stage's scripts as people do, and looks at the processes they leave."""

import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from server import without_temporal

PROJECT = Path(__file__).resolve().parents[2]
STAGE = PROJECT / "temporal-dev"


@contextmanager
def script(name: str, home: Path, **environment: str) -> Generator[subprocess.Popen[str]]:
    """Run a script of the stage on a data folder; it is gone after the block."""
    process = subprocess.Popen(
        [sys.executable, str(STAGE / name)],
        cwd=PROJECT,
        env=script_environment(home, environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()


def script_environment(home: Path, changes: Mapping[str, str]) -> dict[str, str]:
    return {
        **without_temporal(os.environ),
        "FERMATA_HOME": str(home),
        "PYTHONPATH": str(PROJECT),
        **changes,
    }


def read_until(process: subprocess.Popen[str], line: str) -> list[str]:
    """Return the lines printed before ``line``; fail when the output ends without it."""
    assert process.stdout is not None
    seen: list[str] = []
    for printed in process.stdout:
        if printed.rstrip("\n") == line:
            return seen
        seen.append(printed.rstrip("\n"))
    assert process.stderr is not None
    raise AssertionError(f"no line {line!r} in {seen}; errors: {process.stderr.read()}")


def server_process(home: Path) -> int:
    """Return the process id of the server that holds the data folder."""
    return int((home / "server.lock").read_text())


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True
