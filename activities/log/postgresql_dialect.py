"""The log on a PostgreSQL server: how it is opened, how it waits, how it fails.

Writing transactions are READ COMMITTED and lock what they judge: the head row of a thread, or a
name where there is no row yet; nothing is global, so many workers write many threads at once.
Reading ones are REPEATABLE READ, one consistent prefix each, and can change nothing.
"""

import sys
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from activities.log.waits import PATIENT_WAIT, write_wait
from seeding.errors import LogError

if TYPE_CHECKING:
    import psycopg

WRITERS = 8
"""How many transactions of one process write at once, each on a thread of its own."""

_CONNECTIONS = 12
"""Kept open by one process at most: its writers, and the readers of an event loop."""

_MORE_CONNECTIONS = 4
"""Opened beyond those for a moment, for whoever reads on a thread of the caller's."""

_DRIVER = "psycopg"

_USUAL = {
    "application_name": "fermata",
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""Seconds, and milliseconds for the last: a server that vanished is noticed within ten seconds."""

_ABANDONED = 60_000
"""Milliseconds after which the server ends a transaction whose process no longer moves."""

_DAMAGE = ("XX001", "XX002")
"""The server's codes for damaged data and a damaged index."""

_LOCKED = "55P03"
"""The server's code for a lock that was not granted in time."""

_LOCK = text(
    "SELECT pg_advisory_xact_lock(hashtextextended(coalesce(current_schema(), '') || :name, 0))"
)


def open_engine(url: URL) -> Engine:
    """Return an engine on the database.

    Raises:
        LogError: The URL names another driver than psycopg 3, or that one is not installed.
    """
    engine = _engine(url, {})
    event.listen(engine, "begin", _begin)
    return engine


def open_reading_engine(url: URL) -> Engine:
    """Return an engine that can change nothing.

    Raises:
        LogError: The URL names another driver than psycopg 3, or that one is not installed.
    """
    engine = _engine(url, {"default_transaction_read_only": "on"})
    event.listen(engine, "connect", _prepare_reading)
    return engine


def lock_name(connection: Connection, name: str) -> None:
    """Hold a lock of that name, of this log, until the transaction ends."""
    connection.execute(_LOCK, {"name": f"/{name}"})


def is_locked(error: DBAPIError) -> bool:
    """Whether an error says that others hold a lock."""
    return getattr(error.orig, "sqlstate", None) == _LOCKED


def is_damage(error: Exception) -> bool:
    """Whether an error says that the database is damaged, not that it is away or refuses."""
    return getattr(getattr(error, "orig", error), "sqlstate", None) in _DAMAGE


def driver_errors() -> tuple[type[Exception], ...]:
    """Return what the driver raises past SQLAlchemy, for a connection that is gone."""
    driver = sys.modules.get(_DRIVER)
    return (driver.Error,) if driver else ()


def _engine(url: URL, session: dict[str, str]) -> Engine:
    if url.drivername not in ("postgresql", f"postgresql+{_DRIVER}"):
        raise LogError(
            f"the log cannot use the driver of {url.drivername}; give a URL that begins with "
            f"postgresql:// or postgresql+{_DRIVER}://"
        )
    given = {name: value for name, value in _USUAL.items() if name not in url.query}
    session = {"idle_in_transaction_session_timeout": str(_ABANDONED), **session}
    # The URL's own options come last, so that they win.
    options = [f"-c {name}={value}" for name, value in session.items()] + _options_of(url)
    try:
        return create_engine(
            url.set(drivername=f"postgresql+{_DRIVER}").difference_update_query(["options"]),
            connect_args={**given, "options": " ".join(options)},
            pool_size=_CONNECTIONS,
            max_overflow=_MORE_CONNECTIONS,
            pool_timeout=PATIENT_WAIT / 1000,
            # Nothing of that type is here; asking for it would cost every new connection a query.
            use_native_hstore=False,
            # A server that was restarted is found again by the call itself.
            pool_pre_ping=True,
        )
    except ImportError as error:
        raise LogError(
            "a log on PostgreSQL needs the driver psycopg; install fermata[postgresql]"
        ) from error


def _options_of(url: URL) -> list[str]:
    given = url.query.get("options", ())
    return [given] if isinstance(given, str) else [*given]


def _prepare_reading(connection: "psycopg.Connection[Any]", _entry: ConnectionPoolEntry) -> None:
    _set_transactions(connection, writing=False)


def _begin(connection: Connection) -> None:
    wait = write_wait(connection)
    driver: psycopg.Connection[Any] | None = connection.connection.driver_connection
    assert driver is not None, "a transaction begins on an open connection"
    _set_transactions(driver, writing=wait is not None)
    if wait is not None:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {wait}")


def _set_transactions(connection: "psycopg.Connection[Any]", *, writing: bool) -> None:
    """Say how the next transaction begins; nothing is sent for it."""
    from psycopg import IsolationLevel

    level = IsolationLevel.READ_COMMITTED if writing else IsolationLevel.REPEATABLE_READ
    connection.isolation_level = level
    connection.read_only = not writing
