"""Every byte of the truth is under a hash or a checksum, and every row is missed (AW-53)."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from full_log import MixedThreads, write_ephemeral_run, write_full_log
from log_writer import Clock, Writer, change, message, put
from sqlalchemy import Connection, Table, create_engine, delete, select, update

from activities.log import CommitLog, Finding
from activities.log.tables import (
    branches,
    cells,
    commits,
    effects,
    graphs,
    messages,
    run_owners,
    run_rows,
    runs,
    threads,
    tickets,
)
from seeding.commits import RunRow
from seeding.errors import CorruptLog, LogError, UnknownThread

TRUTH = (commits, messages, cells, run_rows, run_owners, branches, graphs)
COLUMNS = [(table, column.name) for table in (*TRUTH, effects) for column in table.columns]
PROJECTED = [(table, column.name) for table in (threads, runs, tickets) for column in table.columns]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole log in a file that is closed, to be copied."""
    file = tmp_path_factory.mktemp("written") / "log.db"
    with CommitLog.open(f"sqlite:///{file}", clock=Clock()) as log:
        write_full_log(log)
    return file


@pytest.fixture
def copied(written: Path, sqlite_url: str) -> str:
    """The URL of a copy of that log, for this test alone."""
    shutil.copy(written, sqlite_url.removeprefix("sqlite:///"))
    return sqlite_url


def flipped(value: Any) -> Any:
    """Return a stored value with one bit of one byte changed."""
    if isinstance(value, int):
        return value ^ 64
    middle = len(value) // 2
    return value[:middle] + chr(ord(value[middle]) ^ 64) + value[middle + 1 :] if value else "x"


def keys_of(table: Table, row: Any) -> list[Any]:
    return [column == row[column.name] for column in table.primary_key.columns]


def flip(connection: Connection, table: Table, column: str) -> None:
    """Change one byte of a column, in a row where it holds something."""
    rows = connection.execute(select(table).where(table.c[column].is_not(None))).mappings().all()
    row = rows[len(rows) // 2]
    changed = update(table).where(*keys_of(table, row)).values({column: flipped(row[column])})
    connection.execute(changed)


def verified(url: str) -> list[Finding]:
    with CommitLog.open(url) as log:
        return log.verify()


def readings(log: CommitLog) -> Iterator[Callable[[], object]]:
    """The reads of everything that was said on thread t."""
    yield lambda: log.messages("t")
    yield lambda: log.messages("t", "r2:2")
    yield lambda: log.messages("other")


class TestASoundLog:
    def test_nothing_is_found(self, log: CommitLog) -> None:
        write_full_log(log)

        assert log.verify() == []
        assert [log.verify(name) for name in log.thread_names()] == [[], [], []]

    def test_nothing_is_found_in_many_mixed_commits(self, log: CommitLog) -> None:
        MixedThreads(log, seed=11, threads=("a", "b", "c")).write(200)

        assert log.verify() == []

    @pytest.mark.parametrize("forget", [False, True])
    def test_nothing_is_found_beside_or_after_an_ephemeral_run(
        self, running: Writer, forget: bool
    ) -> None:
        running.end()
        write_ephemeral_run(running, forget=forget)

        assert running.log.verify() == []

    def test_nothing_is_found_after_pruning_and_what_is_left_is_still_compared(
        self, log: CommitLog, log_url: str
    ) -> None:
        MixedThreads(log, seed=5, threads=("a", "b")).write(300)
        log.prune(older_than=timedelta(0), keep=1, apply=True)
        assert log.verify() == []

        change(log_url, "UPDATE messages SET body = '{}' WHERE place = 0")

        found = [finding.what for finding in log.verify()]
        assert any("message 0 is not what was written" in what for what in found)

    def test_a_thread_that_nobody_knows_is_refused(self, log: CommitLog) -> None:
        assert log.verify() == []
        with pytest.raises(UnknownThread, match="nobody"):
            log.verify("nobody")


class TestAFlippedByte:
    @pytest.mark.parametrize(
        ("table", "column"), COLUMNS, ids=[f"{table.name}.{name}" for table, name in COLUMNS]
    )
    def test_is_found_in_every_column_and_never_read_as_a_shorter_thread(
        self, copied: str, table: Table, column: str
    ) -> None:
        with CommitLog.open(copied) as log:
            before = [read() for read in readings(log)]
        engine = create_engine(copied)
        with engine.begin() as connection:
            flip(connection, table, column)
        engine.dispose()

        assert verified(copied) != []
        with CommitLog.open(copied) as log:
            for read, expected in zip(readings(log), before, strict=True):
                with suppress(LogError):
                    assert read() == expected

    def test_is_found_on_every_database(self, log: CommitLog, log_url: str) -> None:
        write_full_log(log)
        engine = create_engine(log_url)
        unfound: list[str] = []
        for table, column in COLUMNS:
            with engine.begin() as connection:
                before = connection.execute(select(table)).mappings().all()
                flip(connection, table, column)
            if log.verify() == []:
                unfound.append(f"{table.name}.{column}")
            with engine.begin() as connection:
                connection.execute(delete(table))
                connection.execute(table.insert(), [dict(row) for row in before])
        engine.dispose()
        assert unfound == []
        assert log.verify() == []

    @pytest.mark.parametrize(
        ("table", "column"), PROJECTED, ids=[f"{table.name}.{name}" for table, name in PROJECTED]
    )
    def test_is_found_in_every_projection_and_put_right_by_rebuilding(
        self, copied: str, table: Table, column: str
    ) -> None:
        engine = create_engine(copied)
        with engine.begin() as connection:
            flip(connection, table, column)
        engine.dispose()

        with CommitLog.open(copied) as log:
            assert any("fermata rebuild" in finding.what for finding in log.verify())
            log.rebuild()
            assert log.verify() == []

    def test_a_finding_names_thread_version_and_what(self, running: Writer, log_url: str) -> None:
        running.step(state=(put("a", 1),), messages=(message("m1"),))
        change(log_url, "UPDATE cells SET value = '2'")

        assert running.log.verify() == [
            Finding(
                thread_id="t",
                version=2,
                what="state command 0 is not what was written: its checksum is another",
            )
        ]

    def test_everything_is_found_and_not_the_first_alone(
        self, running: Writer, log_url: str
    ) -> None:
        running.step(state=(put("a", 1),), messages=(message("m1"),))
        other = Writer(running.log, "o1", "other")
        other.open()
        change(
            log_url,
            "UPDATE cells SET value = '2'",
            "DELETE FROM messages WHERE place = 1",
            "UPDATE commits SET events = '[]' WHERE thread_id = 'other'",
        )

        found = running.log.verify()

        assert [(finding.thread_id, finding.version) for finding in found] == [
            ("other", 1),
            ("t", 2),
            ("t", 2),
            ("t", 2),
        ]

    def test_hidden_from_the_checksum_it_is_found_by_the_hash(
        self, running: Writer, log_url: str
    ) -> None:
        """The checksum tells damage, the hash also what was changed on purpose."""
        running.step(state=(put("a", 1),))
        change(log_url, "UPDATE cells SET policy = 'exclusive'")

        assert [finding.what for finding in running.log.verify()] == [
            "state command 0 is not what was accepted"
        ]


class TestAMissingRow:
    @pytest.mark.parametrize("table", TRUTH, ids=lambda table: table.name)
    def test_is_found_whichever_it_is(self, copied: str, table: Table) -> None:
        engine = create_engine(copied)
        with engine.connect() as connection:
            rows = connection.execute(select(table)).mappings().all()
        unfound: list[dict[Any, Any]] = []
        for row in rows:
            with engine.begin() as connection:
                connection.execute(delete(table).where(*keys_of(table, row)))
            if verified(copied) == []:
                unfound.append(dict(row))
            with engine.begin() as connection:
                connection.execute(table.insert(), dict(row))
        engine.dispose()
        # A fork that no run has used is its own only trace.
        assert [row for row in unfound if row.get("thread_id") != "forked"] == []
        assert verified(copied) == []

    def test_a_row_too_many_is_found(self, running: Writer, log_url: str) -> None:
        running.step(rows=(RunRow(kind="item", node_id="e", occurrence=0, index=0, value=1),))
        copy = "INSERT INTO {0} SELECT * FROM (SELECT {1} FROM {0} WHERE {2}) AS copied"
        names = ", ".join(
            "1" if column.name == "idx" else column.name for column in run_rows.columns
        )
        change(log_url, copy.format("run_rows", names, "idx = 0"))

        assert [finding.version for finding in running.log.verify()] == [2]

    @pytest.mark.parametrize(
        ("statement", "what"),
        [
            ("DELETE FROM commits WHERE thread_version = 2", "commit 2 is missing"),
            ("DELETE FROM commits WHERE thread_version = 2", "run r1 has no commit 1"),
            ("DELETE FROM messages WHERE place = 1", "message 0 of 1 is missing"),
            ("DELETE FROM branches", "its branch 'main' is missing"),
        ],
    )
    def test_is_named(self, running: Writer, log_url: str, statement: str, what: str) -> None:
        running.step(messages=(message("m1"),))
        running.step()
        change(log_url, statement)

        assert what in [finding.what for finding in running.log.verify()]


READS: list[tuple[str, Callable[[CommitLog], object]]] = [
    ("UPDATE cells SET value = '2' WHERE cell = 'data'", lambda log: log.state("t")),
    ("UPDATE cells SET value = NULL WHERE cell = 'data'", lambda log: log.state("t")),
    (
        "UPDATE cells SET value = '2' WHERE cell = 'position'",
        lambda log: log.position("r1"),
    ),
    ("UPDATE messages SET body = '{}'", lambda log: log.messages("t")),
    ("UPDATE messages SET message_id = 'm9'", lambda log: log.messages("t")),
    ("UPDATE run_rows SET body = '2'", lambda log: log.rows("r1", "item", "e", 0, 1)),
    ("UPDATE run_rows SET body = '2'", lambda log: log.all_outputs("r1")),
    ("UPDATE run_rows SET body = '2'", lambda log: log.outputs("r1", [("n", 0)])),
    ("UPDATE run_owners SET chain_id = 'x'", lambda log: log.owners("r1")),
    ("UPDATE branches SET opened_version = 9", lambda log: log.branches("t")),
    ("UPDATE graphs SET body = '{}'", lambda log: log.graph("d")),
    ("UPDATE commits SET created_at = 'x'", lambda log: log.state("t")),
    ("UPDATE commits SET message_count = 0", lambda log: log.commits("t")),
]


class TestWhatAReadCompares:
    @pytest.mark.parametrize(("statement", "read"), READS, ids=[sent for sent, _ in READS])
    def test_a_changed_row_is_corrupt_to_who_reads_it(
        self, running: Writer, log_url: str, statement: str, read: Callable[[CommitLog], object]
    ) -> None:
        running.step(
            state=(put("a", 1), put("node/a", 1, "position")),
            rows=(
                RunRow(kind="item", node_id="e", occurrence=0, index=0, value=1),
                RunRow(kind="output", node_id="n", occurrence=0, value={"outputs": {}}),
            ),
        )
        running.log.put_graph("d", "greet", {"id": "greet"})
        read(running.log)
        change(log_url, statement)

        with pytest.raises(CorruptLog):
            read(running.log)

    def test_a_commutative_set_merges_into_no_changed_cell(
        self, running: Writer, log_url: str
    ) -> None:
        running.step(state=(put("a", {"x": 1}),))
        change(log_url, "UPDATE cells SET value = '{}'")
        made = running.make(running.commit(state=(put("a", {"y": 1}, policy="commutative"),)))

        with pytest.raises(CorruptLog, match=r"data\.a"):
            running.log.append([made])


class TestAGraph:
    def test_that_is_another_than_its_digest_says_is_found(self, running: Writer) -> None:
        running.log.put_graph("f" * 64, "greet", {"id": "greet", "nodes": [], "edges": []})

        (found,) = running.log.verify()

        assert (found.thread_id, found.version) == (None, None)
        assert found.what.startswith("graph greet@ffffffffffffffff is another graph than its")
