"""All that is particular to one database: how it is opened, how it waits, how it fails.

Today that is SQLite: write-ahead log, synchronous FULL, ``BEGIN IMMEDIATE`` for every writing
transaction, a bounded wait for the lock, ``mode=ro`` for who only reads. Another database is
added here and nowhere else.
"""

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from seeding.errors import CommitUnavailable, CorruptLog, LogError

QUICK_WAIT = 200
"""Milliseconds a quick attempt waits for the lock."""

PATIENT_WAIT = 5_000
"""Milliseconds a patient attempt, and everything else, waits for the lock."""

_WAIT = "fermata_write_wait"
_OPENING_PAUSE = 0.01


def open_engine(url: str) -> Engine:
    """Return an engine on the log at ``url``; the folder of a SQLite file is created.

    Raises:
        LogError: The URL names a database this version does not know, or no file.
        CommitUnavailable: The folder or file cannot be opened.
    """
    parsed, database = _parsed(url)
    try:
        Path(database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommitUnavailable(f"the folder of {database} cannot be made: {error}") from error
    engine = create_engine(
        parsed,
        poolclass=QueuePool,
        connect_args={"check_same_thread": False, "timeout": PATIENT_WAIT / 1000},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def open_reading_engine(url: str) -> Engine:
    """Return an engine that can change nothing at ``url``: no table, no row, no journal mode.

    Raises:
        LogError: The URL names a database this version does not know, or no file.
    """
    parsed, database = _parsed(url)

    def connected() -> sqlite3.Connection:
        # An absolute path: `file:` and a relative one is another file.
        place = f"file:{quote(str(Path(database).absolute()))}?mode=ro"
        return sqlite3.connect(
            place, uri=True, check_same_thread=False, timeout=PATIENT_WAIT / 1000
        )

    engine = create_engine(parsed, poolclass=QueuePool, creator=connected)
    event.listen(engine, "connect", _prepare_reading)
    event.listen(engine, "begin", _begin)
    return engine


def _parsed(url: str) -> tuple[URL, str]:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        raise LogError(
            f"the log cannot be kept in {parsed.get_backend_name()!r} yet; "
            "give a URL such as sqlite:///.fermata/log.db"
        )
    if not parsed.database or parsed.database == ":memory:":
        raise LogError(f"{url!r} names no file; give a URL such as sqlite:///.fermata/log.db")
    return parsed, parsed.database


def writing(engine: Engine, *, quick: bool) -> Engine:
    """Return ``engine`` with every transaction a writing one, from its first statement on."""
    return engine.execution_options(**{_WAIT: QUICK_WAIT if quick else PATIENT_WAIT})


def _prepare_reading(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={PATIENT_WAIT}")


def _prepare(connection: sqlite3.Connection, entry: ConnectionPoolEntry) -> None:
    _prepare_reading(connection, entry)
    _use_write_ahead_log(connection)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    # Two processes that create the file at once meet here, and SQLite does not wait for the
    # lock by itself while the mode of a file changes.
    tries = int(PATIENT_WAIT / 1000 / _OPENING_PAUSE)
    for left in range(tries, -1, -1):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or left == 0:
                raise
            time.sleep(_OPENING_PAUSE)
        else:
            return


def _begin(connection: Connection) -> None:
    wait = connection.get_execution_options().get(_WAIT)
    if wait is None:
        connection.exec_driver_sql("BEGIN")
        return
    connection.exec_driver_sql(f"PRAGMA busy_timeout={int(wait)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def storage_errors(doing: str) -> Generator[None, None, None]:
    """Raise what the database says as an error of this project.

    Args:
        doing: What was being done, for the message.

    Raises:
        CommitUnavailable: Locked, full, unreachable: the same call may be made again.
        CorruptLog: The file is damaged, is no database, or holds a row of another shape.
    """
    try:
        yield
    except ValidationError as error:
        raise CorruptLog(
            f"the log holds a row that cannot be read, found while {doing}: {error}"
        ) from error
    except (OperationalError, InterfaceError, PoolTimeoutError, IntegrityError) as error:
        raise CommitUnavailable(f"the log did not answer while {doing}: {_said(error)}") from error
    except (DatabaseError, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.OperationalError):
            raise CommitUnavailable(f"the log did not answer while {doing}: {error}") from error
        raise CorruptLog(f"the log is damaged, found while {doing}: {_said(error)}") from error


def _said(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error)
