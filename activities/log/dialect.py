"""All that is particular to one database, behind one set of names.

A log is kept in a SQLite file or on a PostgreSQL server; each has a module of its own, and
another database is added here and nowhere else.
"""

import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from pydantic import ValidationError
from sqlalchemy import URL, Connection, Engine, Executable
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from activities.log import postgresql_dialect, sqlite_dialect
from activities.log.waits import PATIENT_WAIT, QUICK_WAIT, writing
from seeding.errors import CommitUnavailable, CorruptLog, LogError

__all__ = [
    "PATIENT_WAIT",
    "QUICK_WAIT",
    "byte_order",
    "lock_name",
    "open_engine",
    "open_reading_engine",
    "overwrite_deletions",
    "reuses_space",
    "shown",
    "storage_errors",
    "structure_problems",
    "write_anew",
    "write_problem",
    "writer_threads",
    "writing",
    "written_in_place",
]

_POSTGRESQL = "postgresql"
_KNOWN = ("sqlite", _POSTGRESQL)
_PASSWORD = re.compile(r"(?<=://)[^/]*@")
_SECRETS = ("password", "sslpassword")


def open_engine(url: str) -> Engine:
    """Return an engine on the log at ``url``; the folder of a SQLite file is created.

    Raises:
        LogError: The URL names a database or a driver this version does not know, or no file.
        CommitUnavailable: The folder or file cannot be opened.
    """
    parsed = _parsed(url)
    if parsed.get_backend_name() == _POSTGRESQL:
        return postgresql_dialect.open_engine(parsed)
    return sqlite_dialect.open_engine(parsed)


def open_reading_engine(url: str) -> Engine:
    """Return an engine that can change nothing at ``url``.

    Raises:
        LogError: The URL names a database or a driver this version does not know, or no file.
    """
    parsed = _parsed(url)
    if parsed.get_backend_name() == _POSTGRESQL:
        return postgresql_dialect.open_reading_engine(parsed)
    return sqlite_dialect.open_reading_engine(parsed)


def writer_threads(engine: Engine) -> int:
    """Return how many transactions one process writes at once."""
    if engine.name == _POSTGRESQL:
        return postgresql_dialect.WRITERS
    return sqlite_dialect.WRITERS


def byte_order(connection: Connection) -> str:
    """Return what a column of text is declared with, so that it is compared byte by byte."""
    return ' COLLATE "C"' if connection.engine.name == _POSTGRESQL else ""


def lock_name(connection: Connection, name: str) -> None:
    """Keep other writers from what ``name`` stands for until this writing transaction ends.

    It is for what has no row yet that could be locked. A writer of a SQLite file holds all of
    it already.
    """
    if connection.engine.name == _POSTGRESQL:
        postgresql_dialect.lock_name(connection, name)


def structure_problems(connection: Connection) -> list[str]:
    """Return what is wrong with the database below its rows, as far as a reader can ask for it.

    A PostgreSQL server looks after that itself.
    """
    if connection.engine.name == _POSTGRESQL:
        return []
    return sqlite_dialect.structure_problems(connection)


def write_problem(connection: Connection, trial: Executable) -> str | None:
    """Return why the database takes no writes now, or None where it does or others hold it.

    Args:
        connection: One for writing, outside a transaction.
        trial: A write, which is taken back.
    """
    try:
        connection.execute(trial)
    except DBAPIError as error:
        return None if _is_locked(error) else _said(error)
    finally:
        connection.rollback()
    return None


def written_in_place(connection: Connection) -> bool:
    """Return whether what a connection has committed is where its log's URL leads to."""
    return connection.engine.name == _POSTGRESQL or sqlite_dialect.written_in_place(connection)


def overwrite_deletions(connection: Connection) -> None:
    """Have this connection overwrite what it deletes; a server has rules of its own."""
    if connection.engine.name != _POSTGRESQL:
        sqlite_dialect.overwrite_deletions(connection)


def reuses_space(engine: Engine) -> bool:
    """Return whether the database uses the space of what was deleted again by itself."""
    return engine.name == _POSTGRESQL


def write_anew(engine: Engine) -> bool:
    """Write a log's file anew, so that nothing deleted is left in it and it takes no more space.

    Writers wait meanwhile, and the disk needs as much again for a while.

    Returns:
        False where others read or write the file for longer than a writer waits for the lock,
        and on a server, which reuses its space by itself.
    """
    return engine.name != _POSTGRESQL and sqlite_dialect.write_anew(engine)


def shown(url: str | URL) -> str:
    """Return a URL without what is secret in it."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        return _PASSWORD.sub("***@", str(url))
    if "@" in (parsed.host or ""):
        # A password with an @ that is not escaped: a part of it would count as the host.
        return _PASSWORD.sub("***@", parsed.render_as_string())
    return parsed.difference_update_query(_SECRETS).render_as_string(hide_password=True)


@contextmanager
def storage_errors(doing: str, url: URL | None = None) -> Generator[None, None, None]:
    """Raise what the database says as an error of this project.

    Args:
        doing: What was being done, for the message.
        url: Where the log is, for the message, unless ``doing`` says it.

    Raises:
        CommitUnavailable: Locked, full, unreachable, refused by the server, or ended at an
            unknown point: the same call may be made again.
        CorruptLog: The database is damaged, is none, or holds a row of another shape.
        LogError: A name holds what the database cannot.
    """
    try:
        yield
    except (ValidationError, TypeError, UnicodeDecodeError) as error:
        raise CorruptLog(
            f"the log holds a row that cannot be read, found while {doing}: {error}"
        ) from error
    except DataError as error:
        raise LogError(f"the log cannot hold a name used while {doing}: {_said(error)}") from error
    except (
        DBAPIError,
        PoolTimeoutError,
        sqlite3.Error,
        *postgresql_dialect.driver_errors(),
    ) as error:
        if _is_damage(error):
            raise CorruptLog(f"the log is damaged, found while {doing}: {_said(error)}") from error
        log = "the log" if url is None else f"the log at {shown(url)}"
        raise CommitUnavailable(f"{log} did not answer while {doing}: {_said(error)}") from error


def _is_locked(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error):
        return sqlite_dialect.is_locked(error)
    return postgresql_dialect.is_locked(error)


def _is_damage(error: Exception) -> bool:
    if isinstance(error, PoolTimeoutError):
        return False
    if isinstance(getattr(error, "orig", error), sqlite3.Error):
        return sqlite_dialect.is_damage(error)
    return postgresql_dialect.is_damage(error)


def _said(error: Exception) -> str:
    return " ".join(str(getattr(error, "orig", None) or error).split())


def _parsed(url: str) -> URL:
    parsed = make_url(url)
    if parsed.get_backend_name() not in _KNOWN:
        raise LogError(
            f"the log cannot be kept in {parsed.get_backend_name()!r}; give a URL such as "
            "sqlite:///.fermata/log.db or postgresql://user@host/database"
        )
    return parsed
