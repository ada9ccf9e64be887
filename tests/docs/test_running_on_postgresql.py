"""The lines of docs/running.md about a log on PostgreSQL, as a shell and a driver read them."""

import os
import shlex
import subprocess
from pathlib import Path

from sqlalchemy.engine import make_url

from activities.log import CommitLog
from tests.docs.examples import PROJECT, example, read_text
from tests.postgresql_server import PostgresqlServer


def documented_url() -> str:
    """Return the URL that the documented line exports."""
    [line] = example("docs/running.md", "postgresql").text.splitlines()
    command, assignment = shlex.split(line)
    name, _, url = assignment.partition("=")
    assert (command, name) == ("export", "FERMATA_LOG_URL")
    return url


def test_the_documented_url_is_a_log_once_its_database_exists(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    shown = make_url(documented_url())
    postgresql.run(
        f"CREATE ROLE {shown.username} LOGIN",
        f"CREATE DATABASE {shown.database} OWNER {shown.username}",
    )
    # Only where the server is differs: this one has no port.
    here = shown.set(host=None, query=postgresql.address.query)
    url = here.render_as_string(hide_password=False)
    CommitLog.open(url).close()

    assert _threads(url, tmp_path) == (0, "[]\n")


def test_the_documented_schema_is_a_log_of_its_own(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    assert "`?options=-csearch_path%3D`" in read_text("docs/running.md")
    postgresql.run("CREATE SCHEMA second")
    address = postgresql.address.render_as_string(hide_password=False)
    url = f"{address}&options=-csearch_path%3Dsecond"
    CommitLog.open(url).close()

    assert _threads(url, tmp_path) == (0, "[]\n")
    postgresql.run("DROP SCHEMA second CASCADE")


def _threads(url: str, folder: Path) -> tuple[int, str]:
    """Return how ``fermata threads --json`` ends and what it prints."""
    done = subprocess.run(
        [str(PROJECT / ".venv" / "bin" / "fermata"), "threads", "--json"],
        cwd=folder,
        env={**os.environ, "FERMATA_LOG_URL": url},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout
