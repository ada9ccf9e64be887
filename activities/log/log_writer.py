"""What every writing half of the log is built on: one executor, one transaction a call."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection, Engine

from activities.log.async_reader import AsyncLogReader
from activities.log.dialect import (
    shown,
    storage_errors,
    writer_threads,
    writing,
    written_in_place,
)
from activities.log.records import iso
from activities.log.waiting import in_executor, submit
from seeding.errors import CommitUnavailable

_T = TypeVar("_T")


class LogWriter(AsyncLogReader):
    """A log that can be written: each write a whole transaction in one hop.

    The classes built on it hold one subject each; ``CommitLog`` is all of them.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime]) -> None:
        super().__init__(engine)
        self._writer = ThreadPoolExecutor(writer_threads(engine), thread_name_prefix="log-writer")
        self._clock = clock
        self._patient = writing(engine, quick=False)
        self._quick = writing(engine, quick=True)

    def close(self) -> None:
        """Finish what was handed over and close the database."""
        self._writer.shutdown()
        super().close()

    def _now(self) -> str:
        """Return the log's time as it is stored."""
        return iso(self._clock())

    def _write(self, work: Callable[[Connection], _T], doing: str, *, quick: bool = False) -> _T:
        """Run ``work`` in a writing transaction and wait for it."""
        return submit(self._writer, partial(self._in_transaction, work, doing, quick)).result()

    async def _write_async(
        self, work: Callable[[Connection], _T], doing: str, *, quick: bool = False
    ) -> _T:
        """Run ``work`` in a writing transaction, in one hop off the event loop."""
        return await in_executor(self._writer, partial(self._in_transaction, work, doing, quick))

    def _in_transaction(self, work: Callable[[Connection], _T], doing: str, quick: bool) -> _T:
        with self._writing(doing, quick=quick) as connection:
            return work(connection)

    @contextmanager
    def _writing(self, doing: str, *, quick: bool) -> Generator[Connection, None, None]:
        engine = self._quick if quick else self._patient
        with storage_errors(doing, engine.url), engine.connect() as connection:
            with connection.begin():
                yield connection
            if not written_in_place(connection):
                raise CommitUnavailable(
                    f"the file of the log at {shown(engine.url)} was moved or replaced while "
                    f"{doing}: what was written is not in it"
                )
