"""The log as a file: reopened, shared, locked, damaged, of another version."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from log_writer import Clock, Writer, dump, message, next_turn, put
from sqlalchemy import Connection, create_engine

from activities.log import CommitLog
from activities.log.dialect import open_engine
from activities.log.migrations import prepare_schema
from activities.log.tables import SCHEMA_VERSION
from seeding.commits import CommitOperation, IteratorHead, PositionHead, RunRow, commit_hash
from seeding.errors import CommitUnavailable, CorruptLog, LogError, NewerLog

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def process(script: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a script of this folder in a process of its own."""
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def finished(started: subprocess.Popen[str]) -> str:
    """Return what a process printed, once it has ended well."""
    printed, _ = started.communicate("\n", timeout=60)
    assert started.returncode == 0
    return printed


@contextmanager
def plain(url: str) -> Generator[sqlite3.Connection, None, None]:
    """The file itself, past the log."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        yield connection
        connection.commit()


def _fill(writer: Writer) -> None:
    writer.open(messages=(message("m0"),))
    writer.step(
        messages=(message("m1", {"deep": [1, 1.0, None, "é"]}),),
        state=(put("a", {"x": 1}), put("node/a", 1, "position"), put("a", 2, "metadata")),
        rows=(RunRow(kind="item", node_id="each", occurrence=0, index=0, value="i"),),
        position=PositionHead(
            iterator=IteratorHead(node_id="each", occurrence=0, index=0, items=1, results=0)
        ),
        node_id="each",
        checkpoint="node",
    )
    writer.step(state=(put("a", {"y": 2}, policy="commutative"),))
    writer.wait(writer.ticket(deadline_after=30))
    writer.answer(writer.ticket())
    writer.end("Error", "broken")
    next_turn(writer, "r2")


def _everything(log: CommitLog) -> list[object]:
    names = ["r1:0", "r1:1", "r1:2", "r1:3", "r1:4", "r1:5", "r2:0"]
    return [
        log.threads(),
        log.runs("t"),
        log.branches("t"),
        log.checkpoints("t"),
        log.commits("t"),
        log.all_outputs("r1"),
        log.closed_tickets("r1", 10),
        *(log.state("t", name) for name in names),
    ]


def test_a_log_reopened_from_disk_is_equal(log_url: str) -> None:
    with CommitLog.open(log_url, clock=Clock()) as log:
        _fill(Writer(log))
        before = _everything(log)
    with CommitLog.open(log_url) as log:
        assert _everything(log) == before


def test_aw_31_after_a_refusal_a_reopened_log_is_equal(log_url: str) -> None:
    with CommitLog.open(log_url, clock=Clock()) as log:
        writer = Writer(log)
        _fill(writer)
        before = _everything(log)
        assert log.append([writer.make(writer.commit())]).refusal is not None
    with CommitLog.open(log_url) as log:
        assert _everything(log) == before


def test_every_commit_is_read_back_as_it_was_accepted(log_url: str) -> None:
    with CommitLog.open(log_url, clock=Clock()) as log:
        _fill(Writer(log))
        stored = log.commits("t")
        assert [found.thread_version for found in stored] == [1, 2, 3, 4, 5, 6, 7]
        for found in stored:
            assert commit_hash(found.operation.commit) == found.operation.payload_hash
        assert stored[2].operation.commit.state == (put("a", {"y": 2}, policy="commutative"),)
        assert log.commits("t", after=2, limit=2) == stored[2:4]
        operations: list[CommitOperation] = [found.operation for found in stored]
    again = log_url.replace("log.db", "again.db")
    with CommitLog.open(again, clock=Clock()) as log:
        assert log.append(operations).accepted == 7
        assert [found.operation for found in log.commits("t")] == operations


def test_the_folder_of_the_file_is_made(tmp_path: Path) -> None:
    CommitLog.open(f"sqlite:///{tmp_path}/a/b/log.db").close()
    assert (tmp_path / "a" / "b" / "log.db").exists()


def test_the_file_is_kept_safe_against_power_loss(log: CommitLog, log_url: str) -> None:
    engine = open_engine(log_url)
    with engine.connect() as connection:
        asked = ("journal_mode", "synchronous", "foreign_keys")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in asked]
    engine.dispose()
    assert found == ["wal", 2, 1]


def test_aw_15_two_processes_on_one_thread_leave_dense_versions(
    running: Writer, log_url: str
) -> None:
    started = [process("appending_process.py", log_url, name, "60") for name in ("one", "two")]
    receipts = sorted(
        receipt for printed in map(finished, started) for receipt in json.loads(printed)
    )
    rows = [
        [
            found.operation.ordinal,
            found.thread_version,
            found.operation.payload_hash,
        ]
        for found in running.log.commits("t")
    ]
    assert rows[1:] == receipts
    assert [version for _, version, _ in receipts] == list(range(2, 122))
    names = sorted(found["id"] for found in running.log.messages("t"))
    expected = [f"{name}.{number}" for name in ("one", "two") for number in range(60)]
    assert names == sorted(["m0", *expected])


def test_several_processes_may_create_the_log_at_once(log_url: str) -> None:
    started = [process("opening_process.py", log_url) for _ in range(4)]
    assert [finished(one).strip() for one in started] == ["[]"] * 4
    assert dump(log_url)["schema_version"] == [(1, SCHEMA_VERSION)]


def test_a_locked_log_is_unavailable_soon_and_readable_meanwhile(
    running: Writer, log_url: str
) -> None:
    made = running.make(running.commit())
    before = dump(log_url)
    with plain(log_url) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        with pytest.raises(CommitUnavailable, match="locked"):
            running.log.append([made], quick=True)
        assert time.monotonic() - begun < 4.0, "the patient way waits for 5 seconds"
        assert running.log.state("t").checkpoint_id == "r1:0"
        other.execute("ROLLBACK")
    assert dump(log_url) == before
    running.send(made)


def test_a_closed_log_is_unavailable(log_url: str) -> None:
    log = CommitLog.open(log_url)
    writer = Writer(log)
    made = writer.make(writer.commit())
    log.close()
    with pytest.raises(CommitUnavailable, match="closed"):
        log.append([made])


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://host/log"])
def test_a_log_that_could_not_last_is_refused(url: str) -> None:
    with pytest.raises(LogError, match=r"sqlite:///\.fermata/log\.db"):
        CommitLog.open(url)


def test_a_log_of_a_newer_version_is_refused_by_name(log_url: str) -> None:
    CommitLog.open(log_url).close()
    with plain(log_url) as file:
        file.execute("UPDATE schema_version SET version = 99")
    before = dump(log_url)
    with pytest.raises(NewerLog, match="version 99"):
        CommitLog.open(log_url)
    assert dump(log_url) == before


def test_an_older_log_is_brought_forward_step_by_step(log_url: str) -> None:
    CommitLog.open(log_url).close()
    ran: list[int] = []

    def upgrade(number: int) -> Callable[[Connection], None]:
        return lambda _: ran.append(number)

    engine = create_engine(log_url)
    with engine.begin() as connection:
        prepare_schema(connection, version=4, upgrades={2: upgrade(2), 3: upgrade(3)})
    with engine.begin() as connection, pytest.raises(CorruptLog, match="no upgrade"):
        prepare_schema(connection, version=5, upgrades={})
    engine.dispose()
    assert ran == [2, 3]
    assert dump(log_url)["schema_version"] == [(1, 4)]


def test_a_file_that_is_no_database_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "log.db").write_bytes(b"something else entirely, long enough to be looked at" * 9)
    with pytest.raises(CorruptLog):
        CommitLog.open(f"sqlite:///{tmp_path / 'log.db'}")


@pytest.mark.parametrize(
    "damage",
    [
        'UPDATE commits SET disposition = \'{"kind":"Running"}\' WHERE thread_version = 6',
        "UPDATE commits SET payload_hash = 'f' WHERE thread_version = 6",
        "UPDATE commits SET listed = 'nonsense' WHERE thread_version = 6",
        "UPDATE commits SET checkpoint = 'pause' WHERE thread_version = 6",
        "DELETE FROM commits WHERE thread_version = 6",
        "DELETE FROM messages WHERE place = 0",
        "UPDATE messages SET body = '{' WHERE place = 1",
        "UPDATE cells SET value = '{' WHERE cell = 'metadata'",
        "DELETE FROM branches",
        "UPDATE branches SET lineage = '[{}]'",
    ],
)
def test_aw_53_damage_is_named_and_never_read_as_a_shorter_thread(
    log_url: str, damage: str
) -> None:
    with CommitLog.open(log_url, clock=Clock()) as log:
        writer = Writer(log)
        _fill(writer)
    with plain(log_url) as file:
        file.execute("DELETE FROM runs WHERE run_id = 'r2'")
        file.execute("DELETE FROM commits WHERE thread_version = 7")
        file.execute("UPDATE threads SET head_run_id = 'r1'")
        file.execute(damage)
    with CommitLog.open(log_url) as log, pytest.raises(CorruptLog):
        log.state("t")


def test_a_damaged_value_and_a_missing_version_are_found_in_the_history(log_url: str) -> None:
    with CommitLog.open(log_url, clock=Clock()) as log:
        _fill(Writer(log))
    with plain(log_url) as file:
        file.execute("UPDATE cells SET value = '3' WHERE cell = 'metadata'")
    with CommitLog.open(log_url) as log, pytest.raises(CorruptLog, match="commit 2 of thread t"):
        log.commits("t")
    with plain(log_url) as file:
        file.execute("UPDATE cells SET value = '2' WHERE cell = 'metadata'")
        file.execute("DELETE FROM commits WHERE thread_version = 4")
    with CommitLog.open(log_url) as log, pytest.raises(CorruptLog, match="commit 4 of thread t"):
        log.commits("t")
