"""What only a log in a SQLite file has: the file, its folder, its one lock."""

import json
from pathlib import Path

import pytest
from log_writer import Writer, change, finished, process

from activities.log import CommitLog, ReadOnlyLog
from activities.log.dialect import open_engine
from seeding.errors import CommitUnavailable, CorruptLog, LogError


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def test_the_folder_of_the_file_is_made(tmp_path: Path) -> None:
    CommitLog.open(f"sqlite:///{tmp_path}/a/b/log.db").close()
    assert (tmp_path / "a" / "b" / "log.db").exists()


def test_the_file_is_kept_safe_against_power_loss(sqlite_url: str) -> None:
    engine = open_engine(sqlite_url)
    with engine.connect() as connection:
        asked = ("journal_mode", "synchronous", "foreign_keys")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in asked]
    engine.dispose()
    assert found == ["wal", 2, 1]


@pytest.mark.parametrize("kind", [ReadOnlyLog, CommitLog])
def test_a_file_that_is_no_database_is_refused_by_name_and_left_as_it_is(
    sqlite_url: str, kind: type[ReadOnlyLog] | type[CommitLog]
) -> None:
    before = b"something else entirely, long enough to be looked at" * 9
    path_of(sqlite_url).write_bytes(before)
    with pytest.raises(CorruptLog, match=r"opening sqlite:.*log\.db: file is not a database"):
        kind.open(sqlite_url)
    assert path_of(sqlite_url).read_bytes() == before


@pytest.mark.parametrize("kind", [ReadOnlyLog, CommitLog])
def test_a_file_of_something_else_stays_as_it_is_byte_by_byte(
    sqlite_url: str, kind: type[ReadOnlyLog] | type[CommitLog]
) -> None:
    change(sqlite_url, "CREATE TABLE notes (version)")
    before = path_of(sqlite_url).read_bytes()
    with pytest.raises(CorruptLog, match=r"log\.db is a database with other tables"):
        kind.open(sqlite_url)
    assert path_of(sqlite_url).read_bytes() == before


def test_an_empty_file_stays_empty_for_a_reader(sqlite_url: str) -> None:
    path_of(sqlite_url).touch()
    with pytest.raises(LogError, match=r"there is no log at sqlite:.*the database is empty"):
        ReadOnlyLog.open(sqlite_url)
    assert path_of(sqlite_url).read_bytes() == b""


def test_where_there_is_no_file_a_reader_makes_none(sqlite_url: str, tmp_path: Path) -> None:
    with pytest.raises(CommitUnavailable, match="unable to open database file"):
        ReadOnlyLog.open(sqlite_url)
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_writer_was_killed_is_read_whole(sqlite_url: str) -> None:
    names = [Path(f"{path_of(sqlite_url)}{ending}") for ending in ("", "-wal")]
    with CommitLog.open(sqlite_url) as log:
        Writer(log).open()
        # What a killed process leaves: the newest commits stand beside the file only.
        left = [name.read_bytes() for name in names]
    for name, content in zip(names, left, strict=True):
        name.write_bytes(content)

    with ReadOnlyLog.open(sqlite_url) as reader:
        assert reader.state("t").checkpoint_id == "r1:0"
    assert names[0].read_bytes() == left[0]


def test_a_path_may_hold_what_means_something_in_a_url(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a #1%20/log.db"
    with CommitLog.open(url) as log:
        Writer(log).open()
    with ReadOnlyLog.open(url) as reader:
        assert reader.state("t").checkpoint_id == "r1:0"


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://host/log"])
def test_a_log_that_could_not_last_is_refused(url: str) -> None:
    with pytest.raises(LogError, match=r"sqlite:///\.fermata/log\.db"):
        CommitLog.open(url)


def test_four_processes_on_one_file_never_see_that_it_is_locked(sqlite_url: str) -> None:
    """Each waits for the one lock of the file as long as it may, the quick ones as well."""
    with CommitLog.open(sqlite_url) as log:
        for number in range(4):
            Writer(log, f"r{number}", f"t{number}").open()
        ways = ("patient", "quick", "patient", "quick")
        started = [
            process("alone_process.py", sqlite_url, str(number), "50", way)
            for number, way in enumerate(ways)
        ]
        told = [json.loads(finished(one)) for one in started]
        for number, said in enumerate(told):
            assert said["versions"] == list(range(2, 52))
            # A quick attempt may find the lock held for its 200 ms, and is sent again.
            assert ways[number] == "quick" or said["unavailable"] == 0
            assert len(log.commits(f"t{number}")) == 51
