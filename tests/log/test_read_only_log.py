"""Who only reads needs no lock and changes nothing, whatever the file is."""

import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from log_writer import Writer, dump
from sqlalchemy import insert
from sqlalchemy.exc import OperationalError

from activities.log import CommitLog, ReadOnlyLog
from activities.log.dialect import open_reading_engine
from activities.log.tables import schema_version
from seeding.errors import CommitUnavailable, CorruptLog, LogError, NewerLog


@contextmanager
def locked(url: str) -> Generator[None]:
    """Another connection holds the lock that a writer needs."""
    with closing(sqlite3.connect(path_of(url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def path_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


def changed(url: str, *statements: str) -> bytes:
    """Change the file past the log and return its bytes."""
    with closing(sqlite3.connect(path_of(url))) as file:
        for statement in statements:
            file.execute(statement)
        file.commit()
    return Path(path_of(url)).read_bytes()


def test_it_reads_what_the_writer_has_committed_meanwhile(running: Writer, log_url: str) -> None:
    with ReadOnlyLog.open(log_url) as reader:
        assert reader.state("t").checkpoint_id == "r1:0"
        running.step()
        assert reader.state("t").checkpoint_id == "r1:1"


@pytest.mark.parametrize("kind", [ReadOnlyLog, CommitLog])
def test_a_log_opens_at_once_while_another_process_writes(
    running: Writer, log_url: str, kind: type[ReadOnlyLog] | type[CommitLog]
) -> None:
    with locked(log_url):
        begun = time.monotonic()
        with kind.open(log_url) as log:
            assert log.state("t").checkpoint_id == "r1:0"
        assert time.monotonic() - begun < 4.0, "waiting for the lock takes 5 seconds"
    running.step()


def test_a_log_whose_writer_was_killed_is_read_whole(log_url: str) -> None:
    with CommitLog.open(log_url) as log:
        writer = Writer(log)
        writer.open()
        # What a killed process leaves: the newest commits stand beside the file only.
        left = {name: Path(f"{path_of(log_url)}{name}").read_bytes() for name in ("", "-wal")}
    for name, content in left.items():
        Path(f"{path_of(log_url)}{name}").write_bytes(content)

    with ReadOnlyLog.open(log_url) as reader:
        assert reader.state("t").checkpoint_id == "r1:0"
    assert Path(path_of(log_url)).read_bytes() == left[""]


def test_nothing_can_be_written_through_it(running: Writer, log_url: str) -> None:
    before = dump(log_url)
    engine = open_reading_engine(log_url)
    with engine.connect() as connection, pytest.raises(OperationalError, match="readonly"):
        connection.execute(insert(schema_version), {"id": 2, "version": 1})
    engine.dispose()
    assert dump(log_url) == before
    running.step()


def test_an_empty_file_holds_no_log_and_stays_empty(log_url: str) -> None:
    Path(path_of(log_url)).touch()
    with pytest.raises(LogError, match=r"there is no log at sqlite:.*the file is empty"):
        ReadOnlyLog.open(log_url)
    assert Path(path_of(log_url)).read_bytes() == b""


def test_where_there_is_no_file_none_is_made(log_url: str, tmp_path: Path) -> None:
    with pytest.raises(CommitUnavailable, match="unable to open database file"):
        ReadOnlyLog.open(log_url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [ReadOnlyLog, CommitLog])
@pytest.mark.parametrize(
    "tables", [["notes"], ["schema_version", "notes"], ["commits"]], ids=" ".join
)
def test_a_database_of_something_else_is_refused_by_name_and_left_as_it_is(
    log_url: str, kind: type[ReadOnlyLog] | type[CommitLog], tables: list[str]
) -> None:
    before = changed(log_url, *(f"CREATE TABLE {name} (version)" for name in tables))
    with pytest.raises(CorruptLog, match=r"log\.db is a database with other tables"):
        kind.open(log_url)
    assert Path(path_of(log_url)).read_bytes() == before


@pytest.mark.parametrize("kind", [ReadOnlyLog, CommitLog])
def test_a_file_that_is_no_database_is_refused_by_name_and_left_as_it_is(
    log_url: str, kind: type[ReadOnlyLog] | type[CommitLog]
) -> None:
    before = b"something else entirely, long enough to be looked at" * 9
    Path(path_of(log_url)).write_bytes(before)
    with pytest.raises(CorruptLog, match=r"opening sqlite:.*log\.db: file is not a database"):
        kind.open(log_url)
    assert Path(path_of(log_url)).read_bytes() == before


def test_a_log_of_another_version_is_refused_by_name_and_left_as_it_is(log_url: str) -> None:
    CommitLog.open(log_url).close()
    newer = changed(log_url, "UPDATE schema_version SET version = 99")
    with pytest.raises(NewerLog, match="version 99"):
        ReadOnlyLog.open(log_url)
    assert Path(path_of(log_url)).read_bytes() == newer
    older = changed(log_url, "UPDATE schema_version SET version = 0")
    with pytest.raises(LogError, match="start a worker of this program once"):
        ReadOnlyLog.open(log_url)
    assert Path(path_of(log_url)).read_bytes() == older


def test_a_path_may_hold_what_means_something_in_a_url(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a #1%20/log.db"
    with CommitLog.open(url) as log:
        Writer(log).open()
    with ReadOnlyLog.open(url) as reader:
        assert reader.state("t").checkpoint_id == "r1:0"
