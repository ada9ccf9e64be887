"""A log that an older version of this project wrote is brought forward with all it holds.

Only SQLite files are of version 1; a log of version 2 lacks the table of queued turns.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from log_writer import Clock, Writer, change
from sqlalchemy import create_engine, inspect

from activities.log import CommitLog, ReadOnlyLog
from activities.log.tables import SCHEMA_VERSION
from seeding.errors import LogError

VERSIONS = Path(__file__).parent / "versions"


@pytest.fixture
def written_by_1(sqlite_url: str) -> str:
    """The URL of a log of version 1, with two threads, three runs and a taken-over one."""
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        connection.executescript((VERSIONS / "1.sql").read_text(encoding="utf-8"))
    return sqlite_url


def test_a_reader_asks_for_the_upgrade_and_changes_nothing(written_by_1: str) -> None:
    with pytest.raises(LogError, match="of version 1, this program reads version"):
        ReadOnlyLog.open(written_by_1)


def test_a_log_of_version_1_is_read_whole_after_the_upgrade(written_by_1: str) -> None:
    with CommitLog.open(written_by_1, clock=Clock()) as log:
        assert [thread.thread_id for thread in log.threads()] == ["other", "t"]
        assert [run.phase for run in log.runs("t")] == ["ended", "awaiting"]
        assert log.state("t").state.to_json() | {"messages": []} == {
            "status": None,
            "isComplete": False,
            "error": None,
            "messages": [],
            "data": {"m": {"x": [1, 2.5, None], "y": True}},
            "metadata": {"meta": [1]},
            "threadId": "t",
            "currentNodeId": "",
            "iterationCount": 0,
            "iterator": None,
        }
        assert [message["content"] for message in log.messages("t")] == [
            'grüße "ü"',
            "ja",
            "hello",
        ]
        assert log.state("t", "r1:1").state.iterator == {
            "items": [50],
            "index": 0,
            "results": [],
        }
        assert len(log.commits("t")) == 9
        assert [ticket.body.ticket for ticket in log.open_tickets()] == ["r2:gate:0:0"]
        run = log.run("q1")
        assert run is not None
        assert run.owner_epoch == 2


def test_the_upgrade_is_the_same_schema_as_a_new_log(written_by_1: str, tmp_path: Path) -> None:
    new = f"sqlite:///{tmp_path / 'new.db'}"
    CommitLog.open(new).close()
    CommitLog.open(written_by_1).close()

    assert _columns(written_by_1) == _columns(new)
    with closing(sqlite3.connect(written_by_1.removeprefix("sqlite:///"))) as connection:
        assert connection.execute("SELECT version FROM schema_version").fetchall() == [
            (SCHEMA_VERSION,)
        ]


def test_a_log_of_version_2_gets_its_queue_on_each_database(new_log_url: Callable[[], str]) -> None:
    url, new = new_log_url(), new_log_url()
    CommitLog.open(new).close()
    with CommitLog.open(url, clock=Clock()) as log:
        Writer(log).open()
    change(url, "DROP TABLE queued_turns", "UPDATE schema_version SET version = 2")

    with CommitLog.open(url, clock=Clock()) as log:
        assert [run.run_id for run in log.runs("t")] == ["r1"]
        assert log.verify() == []
        assert log.count_queued("t") == 0

    assert _queue(url) == _queue(new)


def _queue(url: str) -> Any:
    """Return what a database tells of the table of queued turns, texts by their order."""
    engine = create_engine(url)
    looked = inspect(engine)
    told = (
        [
            (column["name"], column["nullable"], getattr(column["type"], "collation", None))
            for column in looked.get_columns("queued_turns")
        ],
        looked.get_pk_constraint("queued_turns")["constrained_columns"],
        sorted(
            (str(index["name"]), index["column_names"], bool(index["unique"]))
            for index in looked.get_indexes("queued_turns")
        ),
    )
    engine.dispose()
    return told


def _columns(url: str) -> dict[str, list[tuple[str, int]]]:
    """Return the names of all columns and whether they may be null, by table, and the indexes."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
            )
        ]
        return {
            name: sorted(
                (row[1], row[3]) for row in connection.execute(f"PRAGMA table_info({name})")
            )
            for name in sorted(names)
        }
