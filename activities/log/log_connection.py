"""What every reading half of the log is built on: one engine, one transaction a call."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from activities.log.dialect import storage_errors


class LogConnection:
    """A log that is open; every read is one transaction and so one consistent prefix."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._shared = threading.local()

    @contextmanager
    def one_prefix(self, what: str) -> Generator[None, None, None]:
        """Let everything this thread reads until the block ends be of one and the same prefix.

        Nothing is written meanwhile: what is would not be seen.
        """
        with self._reading(what) as connection:
            self._shared.connection = connection
            try:
                yield
            finally:
                self._shared.connection = None

    @contextmanager
    def _reading(self, what: str) -> Generator[Connection, None, None]:
        shared: Connection | None = getattr(self._shared, "connection", None)
        with storage_errors(f"reading {what}", self._engine.url):
            if shared is not None:
                yield shared
                return
            with self._engine.connect() as connection:
                yield connection
