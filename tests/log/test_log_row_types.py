"""A column that holds what it is not for is damage by the name of its row: a SQLite file only."""

from collections.abc import Iterator

import pytest
from full_log import write_full_log
from log_writer import Clock, Writer, change, dump
from sqlalchemy import Table, create_engine, delete

from activities.log import CommitLog
from activities.log.tables import metadata, runs, schema_version, threads, tickets
from seeding.errors import CorruptLog, FermataError

VALUES = ("x'00'", "x'fffe'", "'text'", "7", "1.5")
TABLES = [table for table in metadata.sorted_tables if table is not schema_version]


@pytest.fixture
def log(sqlite_url: str) -> Iterator[CommitLog]:
    with CommitLog.open(sqlite_url, clock=Clock()) as opened:
        yield opened


@pytest.fixture
def full(log: CommitLog) -> CommitLog:
    write_full_log(log)
    return log


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE commits SET thread_version = x'00' WHERE run_id = 'o1' AND ordinal = 1",
            "the row of commits with thread_id 'other', thread_version b'\\x00' holds b'\\x00' as "
            "its thread_version, which is a number",
        ),
        (
            "UPDATE messages SET body = x'7b7d' WHERE thread_id = 'other'",
            "the row of messages with thread_id 'other', branch 'main', place 0 holds b'{}' as "
            "its body, which is a text",
        ),
        (
            "UPDATE messages SET place = 'first' WHERE thread_id = 'other'",
            "the row of messages with thread_id 'other', branch 'main', place 'first' holds "
            "'first' as its place, which is a number",
        ),
    ],
)
def test_verify_names_table_row_and_column(
    full: CommitLog, sqlite_url: str, statement: str, said: str
) -> None:
    change(sqlite_url, statement)
    assert [finding.what for finding in full.verify("other")] == [said]


def test_verify_goes_on_with_the_next_thread_and_what_belongs_to_none(
    full: CommitLog, sqlite_url: str
) -> None:
    change(
        sqlite_url,
        "UPDATE commits SET thread_version = x'00' WHERE run_id = 'o1' AND ordinal = 1",
        "UPDATE messages SET body = '{}' WHERE message_id = 'm0'",
        "UPDATE graphs SET created_at = 'x'",
    )
    named = {finding.thread_id for finding in full.verify()}
    assert named == {"other", "t", None}


def test_a_thread_id_that_is_no_text_keeps_no_other_thread_from_being_gone_over(
    running: Writer, sqlite_url: str
) -> None:
    Writer(running.log, "o1", "other").open()
    change(
        sqlite_url,
        "UPDATE messages SET thread_id = x'ff' WHERE thread_id = 't'",
        "UPDATE graphs SET digest = 'x'",
    )
    found = running.log.verify()
    assert [finding.thread_id for finding in found] == ["t", "t", None]
    assert found[-1].what == "a row of messages holds b'\\xff' as its thread_id, which is a text"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_nothing_but_errors_of_this_project_comes_of_it(
    full: CommitLog, sqlite_url: str, table: Table
) -> None:
    kept = dump(sqlite_url)
    for column in table.columns:
        for value in VALUES:
            change(sqlite_url, f"UPDATE OR IGNORE {table.name} SET {column.name} = {value}")
            for read in (
                lambda: full.state("t"),
                lambda: full.events("t"),
                lambda: full.commits("t"),
                lambda: full.checkpoints("t"),
                lambda: full.runs("t"),
                lambda: full.effects("t"),
                full.threads,
                full.open_tickets,
                full.verify,
            ):
                try:
                    read()
                except FermataError:
                    continue
            _put_back(sqlite_url, table, kept)
    assert full.verify() == []


@pytest.mark.parametrize("table", [threads, runs, tickets], ids=lambda table: table.name)
def test_a_list_that_holds_it_is_made_again(full: CommitLog, sqlite_url: str, table: Table) -> None:
    before = dump(sqlite_url)
    for column in table.columns:
        if (table, column.name) == (threads, "thread_id"):
            continue  # Of no thread that could be named: what follows.
        for value in VALUES:
            change(sqlite_url, f"UPDATE OR IGNORE {table.name} SET {column.name} = {value}")
            assert full.rebuild().damaged == ()
            assert dump(sqlite_url) == before


def test_a_head_of_a_thread_that_cannot_be_named_is_refused_after_the_others_are_made_again(
    full: CommitLog, sqlite_url: str
) -> None:
    change(sqlite_url, "UPDATE threads SET thread_id = x'ff' WHERE thread_id = 't'")
    with pytest.raises(CorruptLog, match=r"a row of threads holds b'.xff' as its thread_id"):
        full.rebuild()
    assert full.latest_run("t") is not None


def _put_back(url: str, table: Table, kept: dict[str, list[tuple[object, ...]]]) -> None:
    names = [column.name for column in table.columns]
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(delete(table))
        rows = [dict(zip(names, row, strict=True)) for row in kept[table.name]]
        if rows:
            connection.execute(table.insert(), rows)
    engine.dispose()
