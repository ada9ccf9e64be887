"""The log in a SQLite file: how it is opened, how it waits, how it fails.

Write-ahead log, synchronous FULL, ``BEGIN IMMEDIATE`` for every writing transaction, a bounded
wait for the one lock of the file, ``mode=ro`` for who only reads.

A connection is to one file, whatever its name comes to mean. One that was opened while the file
took no writes stays like that, and one whose file was moved away or replaced would write where
nobody looks: neither is used again.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import (
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    InterfaceError,
    OperationalError,
)
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from activities.log.waits import PATIENT_WAIT, write_wait
from seeding.errors import CommitUnavailable, LogError

WRITERS = 1
"""How many transactions of one process write at once: the file has one lock."""

_LOST_WITH_CONNECTION = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
)
"""What a connection may say that a new one would not; the low byte of the extended codes."""

_FILE = "file"
"""Where a pooled connection keeps which file it is to."""

_OPENING_PAUSE = 0.01
_PAGE_BYTES = 8192


class _OpenedFile(NamedTuple):
    """What a connection is to: the name it was opened by, and what was there then."""

    path: Path
    identity: tuple[int, int] | None


_Prepare = Callable[[sqlite3.Connection, ConnectionPoolEntry], None]


def open_engine(url: URL) -> Engine:
    """Return an engine on the file; its folder is created.

    Raises:
        LogError: The URL names no file.
        CommitUnavailable: The folder or the file cannot be made.
    """
    database = _file_of(url)
    try:
        Path(database).parent.mkdir(parents=True, exist_ok=True)
        if not Path(database).exists():
            Path(database).touch()
    except OSError as error:
        raise CommitUnavailable(f"{database} cannot be made: {error}") from error
    # Made above or not at all: a file that is gone while it is in use is not made anew, empty.
    return _engine(url, "rw", _prepare)


def open_reading_engine(url: URL) -> Engine:
    """Return an engine that can change nothing: no table, no row, no journal mode.

    Raises:
        LogError: The URL names no file.
    """
    return _engine(url, "ro", _prepare_reading)


def _engine(url: URL, mode: str, prepare: _Prepare) -> Engine:
    path = Path(_file_of(url)).absolute()  # `file:` and a relative path is another file.

    def connected(entry: ConnectionPoolEntry) -> sqlite3.Connection:
        # Before it is opened: a file that is replaced in between is another one at the checkout.
        entry.info[_FILE] = _OpenedFile(path, _identity(path))
        return sqlite3.connect(
            f"file:{quote(str(path))}?mode={mode}",
            uri=True,
            check_same_thread=False,
            timeout=PATIENT_WAIT / 1000,
        )

    def checked_out(
        _connection: sqlite3.Connection,
        entry: ConnectionPoolEntry,
        _proxy: PoolProxiedConnection,
    ) -> None:
        if not _is_in_place(entry.info[_FILE]):
            raise DisconnectionError(f"{path} is another file than before")

    engine = create_engine(url, poolclass=QueuePool, creator=connected)
    event.listen(engine, "connect", prepare)
    event.listen(engine, "checkout", checked_out)
    event.listen(engine, "handle_error", _give_up_connection)
    event.listen(engine, "begin", _begin)
    return engine


def _is_in_place(opened: _OpenedFile) -> bool:
    return opened.identity == _identity(opened.path)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of the same name; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _give_up_connection(context: ExceptionContext) -> None:
    code: object = getattr(context.original_exception, "sqlite_errorcode", None)
    if isinstance(code, int) and code & 0xFF in _LOST_WITH_CONNECTION:
        context.is_disconnect = True


def written_in_place(connection: Connection) -> bool:
    """Return whether the file that a connection writes still has the name it was opened by."""
    return _is_in_place(connection.info[_FILE])


def is_locked(error: DBAPIError) -> bool:
    """Whether an error says that others hold the file's lock."""
    code: object = getattr(error.orig, "sqlite_errorcode", None)
    return isinstance(code, int) and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damage(error: Exception) -> bool:
    """Whether an error says that the file is damaged or is no database, not that it is away."""
    if "Could not decode to UTF-8" in str(error):
        return True
    passing = (OperationalError, InterfaceError, IntegrityError, sqlite3.OperationalError)
    return not isinstance(error, passing)


def structure_problems(connection: Connection) -> list[str]:
    """Return what is wrong with the file as a database: pages, order, indexes; at most 100."""
    said = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    return [] if said == ["ok"] else [str(line) for line in said]


def overwrite_deletions(connection: Connection) -> None:
    """Have this connection overwrite the bytes of the rows it deletes."""
    connection.exec_driver_sql("PRAGMA secure_delete=ON")


def write_anew(engine: Engine) -> bool:
    """Write the file anew with what it holds, and empty its write-ahead log.

    A deleted row leaves its bytes where it stood, which SQLite overwrites when it is asked to,
    and where it stood before the pages of its table were last rearranged, which it does not.
    """
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={PATIENT_WAIT}")
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        busy: int = cursor.fetchall()[0][0]
        return busy == 0
    except sqlite3.OperationalError as error:
        if "locked" not in str(error) and "busy" not in str(error):
            raise
        return False
    finally:
        connection.close()


def _file_of(url: URL) -> str:
    if not url.database or url.database == ":memory:":
        raise LogError(
            f"{url.render_as_string()!r} names no file; give a URL such as "
            "sqlite:///.fermata/log.db"
        )
    return url.database


def _prepare_reading(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={PATIENT_WAIT}")


def _prepare(connection: sqlite3.Connection, entry: ConnectionPoolEntry) -> None:
    _prepare_reading(connection, entry)
    # Only a file that is created here takes it: three messages of 2 KB to a page, not one to 4 KB.
    connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
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
    wait = write_wait(connection)
    if wait is None:
        connection.exec_driver_sql("BEGIN")
        return
    connection.exec_driver_sql(f"PRAGMA busy_timeout={wait}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")
