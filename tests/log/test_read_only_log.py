"""Who only reads needs no lock and changes nothing, whatever the database holds."""

import time

import pytest
from log_writer import Writer, change, dump, locked
from sqlalchemy import create_engine, insert, inspect
from sqlalchemy.exc import InternalError, OperationalError

from activities.log import CommitLog, ReadOnlyLog
from activities.log.dialect import open_reading_engine
from activities.log.tables import schema_version
from seeding.errors import CorruptLog, LogError, NewerLog


def tables_of(url: str) -> list[str]:
    engine = create_engine(url)
    names = sorted(inspect(engine).get_table_names())
    engine.dispose()
    return names


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


def test_nothing_can_be_written_through_it(running: Writer, log_url: str) -> None:
    before = dump(log_url)
    engine = open_reading_engine(log_url)
    refused = pytest.raises((OperationalError, InternalError), match=r"readonly|read-only")
    with engine.connect() as connection, refused:
        connection.execute(insert(schema_version), {"id": 2, "version": 1})
    engine.dispose()
    assert dump(log_url) == before
    running.step()


def test_an_empty_database_holds_no_log_and_stays_empty(log_url: str) -> None:
    assert tables_of(log_url) == []
    with pytest.raises(LogError, match=r"there is no log at .*the database is empty"):
        ReadOnlyLog.open(log_url)
    assert tables_of(log_url) == []


@pytest.mark.parametrize("kind", [ReadOnlyLog, CommitLog])
@pytest.mark.parametrize(
    "tables", [["notes"], ["notes", "schema_version"], ["commits"]], ids=" ".join
)
def test_a_database_of_something_else_is_refused_by_name_and_left_as_it_is(
    log_url: str, kind: type[ReadOnlyLog] | type[CommitLog], tables: list[str]
) -> None:
    change(log_url, *(f"CREATE TABLE {name} (version INTEGER)" for name in tables))
    with pytest.raises(CorruptLog, match="is a database with other tables"):
        kind.open(log_url)
    assert tables_of(log_url) == tables


def test_a_log_of_another_version_is_refused_by_name_and_left_as_it_is(log_url: str) -> None:
    CommitLog.open(log_url).close()
    change(log_url, "UPDATE schema_version SET version = 99")
    newer = dump(log_url)
    with pytest.raises(NewerLog, match="version 99"):
        ReadOnlyLog.open(log_url)
    assert dump(log_url) == newer
    change(log_url, "UPDATE schema_version SET version = 0")
    older = dump(log_url)
    with pytest.raises(LogError, match="start a worker of this program once"):
        ReadOnlyLog.open(log_url)
    assert dump(log_url) == older
