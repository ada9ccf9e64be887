"""A log's file that is moved, replaced or read-only: no write goes where nobody looks."""

import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Connection, update
from sqlalchemy.engine import make_url

from activities.log import CommitLog, ReadOnlyLog
from activities.log.dialect import open_reading_engine
from activities.log.tables import schema_version
from seeding.errors import CommitUnavailable

if TYPE_CHECKING:
    from tests.postgresql_server import PostgresqlServer


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def note(log: CommitLog, text: str) -> None:
    """Write a row that is easy to find again."""

    def write(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS noted (text TEXT)")
        connection.exec_driver_sql("INSERT INTO noted VALUES (?)", (text,))

    log._write(write, "noting")  # pyright: ignore[reportPrivateUsage]


def noted(url: str) -> list[str]:
    engine = open_reading_engine(url)
    try:
        with engine.connect() as connection:
            return list(connection.exec_driver_sql("SELECT text FROM noted").scalars())
    finally:
        engine.dispose()


def test_nothing_is_written_to_a_file_that_was_moved_away(sqlite_url: str) -> None:
    with CommitLog.open(sqlite_url) as log:
        note(log, "before")
        path = path_of(sqlite_url)
        for file in sorted(path.parent.glob(f"{path.name}*")):
            file.rename(file.with_name(f"moved-{file.name}"))

        with pytest.raises(
            CommitUnavailable,
            match=rf"the log at {sqlite_url} did not answer while noting: unable to open database",
        ):
            note(log, "away")

        assert not path.exists()
        assert noted(f"sqlite:///{path.with_name(f'moved-{path.name}')}") == ["before"]


def test_a_file_that_was_put_in_its_place_is_the_one_that_is_written_and_read(
    sqlite_url: str,
) -> None:
    with CommitLog.open(sqlite_url) as log:
        note(log, "first file")
        path = path_of(sqlite_url)
        for file in sorted(path.parent.glob(f"{path.name}*")):
            file.rename(file.with_name(f"moved-{file.name}"))
        with CommitLog.open(sqlite_url) as other:
            assert other.is_new
            note(other, "second file")
        note(log, "by the first log")

        assert noted(sqlite_url) == ["second file", "by the first log"]
        assert log.threads() == []


def test_a_file_that_was_replaced_by_its_copy_is_left_for_the_copy(sqlite_url: str) -> None:
    """What lies beside it stays: most who move a log forget it."""
    path = path_of(sqlite_url)
    moved = path.with_name("moved.db")
    with CommitLog.open(sqlite_url) as log, CommitLog.open(sqlite_url) as other:
        note(log, "before")
        assert other.threads() == []
        path.rename(moved)
        shutil.copy(moved, path)
        held = moved.read_bytes()
        for number in range(3):
            note(log, f"after {number}")
            assert other.threads() == []
    assert noted(sqlite_url) == ["before", "after 0", "after 1", "after 2"]
    assert moved.read_bytes() == held


def test_a_reader_looks_into_the_file_that_is_there_now(sqlite_url: str) -> None:
    path = path_of(sqlite_url)
    with CommitLog.open(sqlite_url) as log:
        note(log, "before")
    with ReadOnlyLog.open(sqlite_url) as reader:

        def tables() -> list[str]:
            with reader._reading("the tables") as connection:  # pyright: ignore[reportPrivateUsage]
                found = connection.exec_driver_sql("SELECT name FROM sqlite_master").scalars()
                return [name for name in found if name == "noted"]

        assert tables() == ["noted"]
        path.rename(path.with_name("moved.db"))
        with pytest.raises(CommitUnavailable, match=rf"the log at {sqlite_url} did not answer"):
            tables()
        CommitLog.open(sqlite_url).close()
        assert tables() == []


def test_what_is_committed_to_a_file_that_was_moved_meanwhile_is_not_acknowledged(
    sqlite_url: str,
) -> None:
    path = path_of(sqlite_url)
    with CommitLog.open(sqlite_url) as log:

        def write(connection: Connection) -> None:
            connection.exec_driver_sql("CREATE TABLE noted (text TEXT)")
            path.rename(path.with_name("moved.db"))

        with pytest.raises(CommitUnavailable, match="was moved or replaced while noting"):
            log._write(write, "noting")  # pyright: ignore[reportPrivateUsage]


@contextmanager
def read_only(path: Path) -> Generator[None]:
    """Let nobody write a file, as on a disk that was mounted read-only."""
    if os.geteuid() != 0:
        path.chmod(0o444)
        yield
        path.chmod(0o644)
        return
    try:
        subprocess.run(["chattr", "+i", str(path)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this file system cannot make a file read-only for its owner")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", str(path)], check=True)


def test_a_log_opened_while_its_file_took_no_writes_takes_them_once_the_file_does(
    sqlite_url: str,
) -> None:
    with CommitLog.open(sqlite_url) as log:
        note(log, "before")
        assert log.write_problem() is None
    with read_only(path_of(sqlite_url)), CommitLog.open(sqlite_url) as log:
        assert log.write_problem() == "attempt to write a readonly database"
        with pytest.raises(CommitUnavailable, match="attempt to write a readonly database"):
            note(log, "too early")
        assert log.threads() == []
    with CommitLog.open(sqlite_url) as log:
        note(log, "later")
    assert noted(sqlite_url) == ["before", "later"]


def test_the_same_log_goes_on_when_its_file_takes_writes_again(sqlite_url: str) -> None:
    CommitLog.open(sqlite_url).close()
    held = read_only(path_of(sqlite_url))
    held.__enter__()
    try:
        log = CommitLog.open(sqlite_url)
        with pytest.raises(CommitUnavailable):
            note(log, "too early")
    finally:
        held.__exit__(None, None, None)
    with log:
        note(log, "in time")
        assert log.write_problem() is None
    assert noted(sqlite_url) == ["in time"]


def test_a_log_that_another_process_writes_has_no_problem(log_url: str) -> None:
    with CommitLog.open(log_url) as log, CommitLog.open(log_url) as other:

        def look(connection: Connection) -> str | None:
            connection.execute(update(schema_version).values(version=schema_version.c.version))
            return log.write_problem()

        assert other._write(look, "looking") is None  # pyright: ignore[reportPrivateUsage]


def test_a_server_that_lets_its_user_only_read_is_a_problem(
    postgresql: "PostgresqlServer", postgresql_url: str
) -> None:
    CommitLog.open(postgresql_url).close()
    schema = str(make_url(postgresql_url).query["options"]).partition("=")[2]
    postgresql.run(
        f"CREATE ROLE only_reads_{schema} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO only_reads_{schema}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO only_reads_{schema}",
    )
    try:
        url = make_url(postgresql_url).set(username=f"only_reads_{schema}")
        with CommitLog.open(url.render_as_string(hide_password=False)) as log:
            assert log.write_problem() == "permission denied for table schema_version"
    finally:
        postgresql.run(f"DROP OWNED BY only_reads_{schema}", f"DROP ROLE only_reads_{schema}")


def test_who_opens_a_log_knows_whether_it_was_made(log_url: str) -> None:
    with CommitLog.open(log_url) as log:
        assert log.is_new
        assert log.write_problem() is None
    with CommitLog.open(log_url) as log:
        assert not log.is_new
