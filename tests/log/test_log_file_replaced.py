"""A log's file that is moved, replaced or read-only: no write goes where nobody looks."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection

from activities.log import CommitLog
from activities.log.dialect import open_reading_engine
from seeding.errors import CommitUnavailable


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

        with pytest.raises(CommitUnavailable, match="unable to open database file"):
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


def test_a_log_that_another_process_writes_has_no_problem(sqlite_url: str) -> None:
    with CommitLog.open(sqlite_url) as log, CommitLog.open(sqlite_url) as other:
        connection = other._engine.raw_connection()  # pyright: ignore[reportPrivateUsage]
        connection.cursor().execute("BEGIN IMMEDIATE")
        assert log.write_problem() is None
        connection.cursor().execute("ROLLBACK")
        connection.close()


def test_who_opens_a_log_knows_whether_it_was_made(log_url: str) -> None:
    with CommitLog.open(log_url) as log:
        assert log.is_new
        assert log.write_problem() is None
    with CommitLog.open(log_url) as log:
        assert not log.is_new
