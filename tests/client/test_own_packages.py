"""A package of somebody else's under one of our names is named, not imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from client.own_packages import other_package


def test_here_every_package_is_our_own() -> None:
    assert other_package() is None


@pytest.mark.parametrize("place", ["activities/__init__.py", "workflows.py"])
def test_the_command_says_in_one_line_which_package_is_not_ours(tmp_path: Path, place: str) -> None:
    found = tmp_path / place
    found.parent.mkdir(exist_ok=True)
    found.touch()
    command = Path(sys.executable).parent / "fermata"

    done = subprocess.run(
        [str(command), "threads"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )

    name = place.partition("/")[0].removesuffix(".py")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"InvalidSettings: the package {name!r} of Fermata is needed")
    assert str(tmp_path / name) in done.stderr
