"""The log in a SQLite file: how it is opened, how it waits, how it fails.

Write-ahead log, synchronous FULL, ``BEGIN IMMEDIATE`` for every writing transaction, a bounded
wait for the one lock of the file, ``mode=ro`` for who only reads.
"""

import sqlite3
import time
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from activities.log.waits import PATIENT_WAIT, write_wait
from seeding.errors import CommitUnavailable, LogError

WRITERS = 1
"""How many transactions of one process write at once: the file has one lock."""

_OPENING_PAUSE = 0.01
_PAGE_BYTES = 8192


def open_engine(url: URL) -> Engine:
    """Return an engine on the file; its folder is created.

    Raises:
        LogError: The URL names no file.
        CommitUnavailable: The folder cannot be made.
    """
    database = _file_of(url)
    try:
        Path(database).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommitUnavailable(f"the folder of {database} cannot be made: {error}") from error
    engine = create_engine(
        url,
        poolclass=QueuePool,
        connect_args={"check_same_thread": False, "timeout": PATIENT_WAIT / 1000},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def open_reading_engine(url: URL) -> Engine:
    """Return an engine that can change nothing: no table, no row, no journal mode.

    Raises:
        LogError: The URL names no file.
    """
    database = _file_of(url)

    def connected() -> sqlite3.Connection:
        # An absolute path: `file:` and a relative one is another file.
        place = f"file:{quote(str(Path(database).absolute()))}?mode=ro"
        return sqlite3.connect(
            place, uri=True, check_same_thread=False, timeout=PATIENT_WAIT / 1000
        )

    engine = create_engine(url, poolclass=QueuePool, creator=connected)
    event.listen(engine, "connect", _prepare_reading)
    event.listen(engine, "begin", _begin)
    return engine


def is_damage(error: Exception) -> bool:
    """Whether an error says that the file is damaged or is no database, not that it is away."""
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
