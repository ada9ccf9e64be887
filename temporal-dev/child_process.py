"""Processes that the local stage starts: their output, their end, and signals to this one.

Signals only leave a mark here. An exception out of a signal handler could strike between the
start of a child and the line that remembers it, and that child would be left behind.
"""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType

STOP_PATIENCE = 10.0
"""Seconds a child has to end after the polite signal; then it is killed."""


class StopRequested(Exception):
    """Ctrl-C, SIGTERM or SIGHUP arrived; nothing went wrong."""


class StopRequest:
    """Whether somebody asked this process to stop.

    A pipe and no ``threading.Event``: a signal handler runs in the main thread between any two
    of its steps, and would wait for ever for a lock that the interrupted wait holds.
    """

    def __init__(self) -> None:
        self._asked, self._ask = os.pipe()
        os.set_blocking(self._ask, False)

    def listen(self) -> None:
        """Take Ctrl-C, SIGTERM and SIGHUP as a request to stop, however often they come."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        # Under nohup the closing of the terminal is meant to change nothing.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.ask()

    def ask(self) -> None:
        """Ask this process to stop."""
        with suppress(BlockingIOError):  # It is full of requests already.
            os.write(self._ask, b"!")

    def sleep(self, seconds: float) -> None:
        """Wait, and notice a request to stop.

        Raises:
            StopRequested: It was asked before or during the wait.
        """
        # What was asked is never read away, so that every later wait notices it too.
        asked, _, _ = select.select([self._asked], [], [], seconds)
        if asked:
            raise StopRequested


class ChildProcess:
    """One process started here, stopped by its id.

    It gets a session of its own, so that Ctrl-C reaches only the stage, which then stops its
    children in order.

    Args:
        name: What messages call it.
        command: Program and arguments.
        environment: The whole environment of the child.
        on_line: Called, in a thread of its own, with each line the child prints.
        keep_open: File descriptors the child inherits.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        on_line: Callable[[str], None],
        keep_open: Sequence[int] = (),
    ) -> None:
        self.name = name
        self._on_line = on_line
        self._last_line = ""
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            pass_fds=keep_open,
        )
        self._reader = threading.Thread(target=self._read, name=f"{name} output", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, or None while it runs; negative is the signal that ended it."""
        return self._process.poll()

    def wait(self) -> int:
        """Return its exit code, once it has ended by itself and its output is read."""
        code = self._process.wait()
        self._reader.join()
        return code

    def describe_end(self) -> str:
        """Return one line on how it ended, with the last thing it printed."""
        self._reader.join(timeout=1)
        ended = f"the {self.name} ended by itself with exit code {self.exit_code}"
        return f"{ended}; it last said: {self._last_line}" if self._last_line else ended

    def stop(self, patience: float = STOP_PATIENCE) -> None:
        """End it: politely, after ``patience`` seconds by force; returns when it is gone."""
        if self.exit_code is None:
            self._process.terminate()
        try:
            self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(timeout=1)
        if not self._reader.is_alive() and self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            text = line.rstrip("\n")
            self._last_line = text.strip() or self._last_line
            self._on_line(text)


def run_command(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    stop: StopRequest,
    timeout: float,
) -> subprocess.CompletedProcess[str]:
    """Run a short command to its end and return its exit code and output.

    Like every child it has a session of its own: Ctrl-C must not look like its failure.

    Args:
        command: Program and arguments.
        environment: The whole environment of the command.
        stop: A request to stop ends the command.
        timeout: Seconds after which the command is ended; its exit code is then negative.

    Raises:
        StopRequested: It was asked while the command ran.
    """
    process = subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + timeout
    try:
        while True:
            try:
                output, errors = process.communicate(timeout=0.1)
                return subprocess.CompletedProcess(command, process.returncode, output, errors)
            except subprocess.TimeoutExpired:
                stop.sleep(0)
                if time.monotonic() > deadline:
                    process.kill()
    except StopRequested:
        process.kill()
        process.communicate()
        raise


def say(line: str) -> None:
    """Print a line at once, also into a pipe."""
    print(line, flush=True)


def complain(line: str) -> None:
    """Print a line to standard error."""
    print(line, file=sys.stderr, flush=True)
