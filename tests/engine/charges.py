"""A service outside that charges once a key and counts every call, whatever process calls it.

It is a file that calls are appended to, one line in one write each: no process of ours has to
live for it to count, and none can lose or tear what another one wrote.
"""

import os
from collections import Counter
from pathlib import Path


class Charges:
    """The service; any number of objects in any number of processes may share its file."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def charge(self, key: str, what: str) -> str:
        """Charge ``what`` under an idempotency key and return its receipt, the same for a key."""
        line = f"{key} {what}\n".encode()
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            written = os.write(file, line)
        finally:
            os.close(file)
        assert written == len(line)
        return f"paid {what.partition('/')[2]}"

    def calls(self, thread: str) -> dict[str, int]:
        """Return how often the service was called for each execution of a thread."""
        return dict(Counter(what for _, what in self._lines(thread)))

    def charged(self, thread: str) -> dict[str, int]:
        """Return how often each execution of a thread was charged: a key is charged once."""
        return dict(Counter(what for _, what in set(self._lines(thread))))

    def _lines(self, thread: str) -> list[tuple[str, str]]:
        if not self._path.exists():
            return []
        found: list[tuple[str, str]] = []
        for line in self._path.read_text().splitlines():
            key, what = line.split(" ")
            called_for, _, execution = what.partition("/")
            if called_for == thread:
                found.append((key, execution))
        return found
