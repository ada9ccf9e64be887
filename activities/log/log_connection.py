"""What every reading half of the log is built on: one engine, one transaction a call."""

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from activities.log.dialect import storage_errors


class LogConnection:
    """A log that is open; every read is one transaction and so one consistent prefix."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def _reading(self, what: str) -> Generator[Connection, None, None]:
        with storage_errors(f"reading {what}"), self._engine.connect() as connection:
            yield connection
