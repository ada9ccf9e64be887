"""What a newcomer has: a clone, a shell in it, and a stage started as README says."""

import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue

from server import free_port, without_temporal
from tests.docs.examples import PROJECT, Example

PATIENCE = 100.0
"""Seconds a line may take."""


@dataclass
class Newcomer:
    """A shell in a clone of the project.

    Attributes:
        folder: The clone; it holds links to the project's files and data of its own.
        environment: What the shell has been told, beside what the caller's environment says.
    """

    folder: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def run(self, example: Example, **filled_in: str) -> str:
        """Type an example and return what it printed; it must succeed.

        Args:
            example: The lines to type.
            filled_in: What is put in the place of ``<name>``.
        """
        done = self.shell(fill_in(example.text, filled_in))
        said = f"{example.document}: {example.text}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == 0, said
        return done.stdout

    def shell(self, text: str) -> subprocess.CompletedProcess[str]:
        """Type some lines; the first that fails ends them."""
        return subprocess.run(
            ["bash", "-euc", text],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    @contextmanager
    def running(self, text: str, ready: str) -> Generator[list[str]]:
        """Keep some lines running during the block, as in another terminal; yield what they said.

        Args:
            text: The lines; Ctrl-C ends them.
            ready: The line that is waited for.
        """
        process = subprocess.Popen(
            ["bash", "-euc", text],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        with process:
            try:
                yield _read_until(process, ready)
            finally:
                # What Ctrl-C does: the whole foreground group gets the signal.
                os.killpg(process.pid, 2)
                process.wait(timeout=PATIENCE)

    def write(self, example: Example) -> None:
        """Save an example as the file it is named after."""
        path = self.folder / example.name
        path.parent.mkdir(exist_ok=True)
        path.write_text(example.text, encoding="utf-8")

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in without_temporal(os.environ).items()
            if not name.startswith(("FERMATA_", "PYTHON", "MAKE"))
        }
        return {**kept, **self.environment}


def fill_in(text: str, values: dict[str, str]) -> str:
    """Return ``text`` with each ``<name>`` replaced by its value."""
    for name, value in values.items():
        assert f"<{name}>" in text
        text = text.replace(f"<{name}>", value)
    return text


def clone(folder: Path) -> Newcomer:
    """Return a newcomer in ``folder``, with every file of the project but no data.

    The installation is the project's own, and newer than what it was made from, so that no
    target of the Makefile makes it again.
    """
    for item in PROJECT.iterdir():
        if item.name not in (".venv", ".fermata", ".git"):
            (folder / item.name).symlink_to(item)
    installed = folder / ".venv"
    installed.mkdir()
    for item in Path(sys.prefix).iterdir():
        if item.name != ".installed":
            (installed / item.name).symlink_to(item)
    (installed / ".installed").touch()
    ports = {"TEMPORAL_PORT": str(free_port()), "TEMPORAL_UI_PORT": str(free_port())}
    return Newcomer(folder, ports)


def _read_until(process: subprocess.Popen[str], ready: str) -> list[str]:
    lines: Queue[str | None] = Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    said: list[str] = []
    while True:
        try:
            line = lines.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError(f"no line {ready!r} in {PATIENCE:.0f} s, but {said}") from None
        assert line is not None, f"it ended without {ready!r}, saying {said}"
        if line == ready:
            return said
        said.append(line)
