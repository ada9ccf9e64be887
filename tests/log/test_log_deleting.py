"""Deleting a thread takes every row of it, and in a file its bytes."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from full_log import write_full_log
from log_writer import Clock, Writer, dump, message, next_turn, opening, put

from activities.log import CommitLog
from seeding.commits import RunPoint, RunRow
from seeding.errors import ThreadInUse, ThreadStoodOn, UnknownThread

SECRET = "what nobody may find again"


def written(log: CommitLog, thread_id: str, digest: str = "f" * 64) -> Writer:
    """Write a thread with something in every table, ended."""
    writer = Writer(log, f"{thread_id}-1", thread_id)
    log.put_graph(digest, "greet", {"id": "greet", "nodes": [], "label": SECRET})
    writer.open(
        how=opening(graph_digest=digest, chain_id=f"chain-{thread_id}"),
        messages=(message(f"{thread_id}.m", SECRET),),
        state=(put("k", SECRET), put("node/n", SECRET, "position")),
    )
    ticket = writer.ticket(message=SECRET)
    writer.wait(ticket)
    output = RunRow(kind="output", node_id="n", occurrence=0, value={"outputs": SECRET})
    writer.answer(ticket, rows=(output,), checkpoint="node")
    writer.end()
    return writer


def rows_of(url: str, thread_id: str) -> dict[str, int]:
    """Return how many rows of each table name a thread or its runs."""
    named = {name: sum(thread_id in repr(row) for row in rows) for name, rows in dump(url).items()}
    return {name: count for name, count in named.items() if count}


def test_no_row_of_any_table_is_left_and_other_threads_are_as_before(
    log: CommitLog, log_url: str
) -> None:
    written(log, "kept")
    before = dump(log_url)
    written(log, "gone", digest="e" * 64)
    turn = next_turn(Writer(log, "gone-1", "gone"), "gone-2")
    turn.end()
    log.prune("gone", older_than=timedelta(0), keep=0, apply=True)
    assert rows_of(log_url, "gone").keys() == {
        "branches",
        "cells",
        "commits",
        "floors",
        "messages",
        "run_owners",
        "runs",
        "threads",
    }

    report = log.delete_thread("gone")

    assert dump(log_url) == before
    assert report.threads == ("gone",)
    assert report.graphs == 1
    assert report.rows["messages"] == 1
    assert report.rows["commits"] == 4


def test_every_table_that_names_threads_or_runs_is_emptied(log: CommitLog, log_url: str) -> None:
    """The log has rows in every table, so one that is added later is seen here."""
    write_full_log(log)
    assert [name for name, rows in dump(log_url).items() if not rows] == ["floors"]

    for thread_id in ("forked", "other", "t"):
        log.delete_thread(thread_id, gone=log.deletable(thread_id))

    assert [name for name, rows in dump(log_url).items() if rows] == ["schema_version"]


def test_a_graph_that_another_run_has_pinned_stays(log: CommitLog) -> None:
    written(log, "kept")
    written(log, "gone")

    assert log.delete_thread("gone").graphs == 0
    assert log.graph("f" * 64) is not None


def test_the_threads_of_child_runs_go_with_it_and_those_like_it_stay(log: CommitLog) -> None:
    for name in ("a_b", "a_b/flow/1", "a_b/flow/2", "axb/flow/1", "a_bc"):
        written(log, name)

    assert log.delete_thread("a_b").threads == ("a_b", "a_b/flow/1", "a_b/flow/2")
    assert [thread.thread_id for thread in log.threads()] == ["a_bc", "axb/flow/1"]


def test_an_unknown_thread_is_refused_by_name(log: CommitLog) -> None:
    written(log, "kept")

    for ask in (log.deletable, log.delete_thread):
        with pytest.raises(UnknownThread, match="'gone'"):
            ask("gone")


def test_a_thread_is_not_deleted_under_a_run_that_has_not_ended(
    log: CommitLog, log_url: str
) -> None:
    running = next_turn(written(log, "busy"), "busy-2")
    before = dump(log_url)

    with pytest.raises(ThreadInUse, match="busy-2") as refused:
        log.delete_thread("busy")

    assert (refused.value.code, refused.value.details) == ("ThreadBusy", {"runId": running.run_id})
    assert dump(log_url) == before
    with pytest.raises(ThreadInUse):
        log.delete_thread("busy", gone=["another"])
    assert log.deletable("busy") == ("busy-2",)
    assert log.delete_thread("busy", gone=log.deletable("busy")).rows["runs"] == 2


def test_a_thread_that_others_stand_on_is_not_deleted(log: CommitLog, log_url: str) -> None:
    base = written(log, "base")
    other = Writer(log, "other-1", "other")
    point = RunPoint(thread_id="base", branch="main", run_id="base-1", up_to=base.version)
    other.open(
        how=opening(
            chain_id="o", lineage=log.lineage("base", "main", base.version), continues=(point,)
        )
    )
    other.end()
    before = dump(log_url)

    with pytest.raises(ThreadStoodOn, match="branch 'main' of thread 'other'") as refused:
        log.delete_thread("base")
    with pytest.raises(ThreadStoodOn):
        log.deletable("base")

    assert refused.value.details == {"standing": ["branch 'main' of thread 'other'"]}
    assert dump(log_url) == before
    log.delete_thread("other")
    assert log.delete_thread("base").threads == ("base",)


def test_the_branches_of_the_thread_itself_hold_nothing_back(log: CommitLog) -> None:
    first = written(log, "t")
    lineage = log.lineage("t", "main", first.version)
    next_turn(first, "t-2", branch="b2", lineage=lineage).end()

    assert log.delete_thread("t").rows["branches"] == 2


def test_a_deleted_thread_begins_afresh(log: CommitLog) -> None:
    written(log, "t")
    log.delete_thread("t")

    again = Writer(log, "t-new", "t")
    again.open(messages=(message("t.m"),))
    again.end()

    assert (log.thread_version("t"), log.highest_epoch("t"), log.branch_count("t")) == (2, 1, 1)
    assert log.state("t").state.data == {}


def test_a_commit_of_a_deleted_run_finds_nothing_to_go_on_with(log: CommitLog) -> None:
    writer = next_turn(written(log, "t"), "t-2")
    late = writer.make(writer.commit("Running"))
    log.delete_thread("t", gone=["t-2"])

    refusal = log.append([late]).refusal

    assert refusal is not None
    assert refusal.code == "OrdinalConflict"


class TestTheBytesOfAFile:
    """SQLite leaves what it deletes in the file; here it may not."""

    @pytest.fixture
    def file(self, sqlite_url: str) -> Path:
        return Path(sqlite_url.removeprefix("sqlite:///"))

    def test_a_search_of_the_file_for_a_message_finds_nothing(
        self, sqlite_url: str, file: Path
    ) -> None:
        """Pages are split and joined as two threads grow side by side, so copies are left."""
        with CommitLog.open(sqlite_url, clock=Clock()) as log:
            sides = [Writer(log, f"{name}-1", name) for name in ("gone", "kept")]
            for writer in sides:
                writer.open()
            for number in range(120):
                for writer in sides:
                    text = f"{writer.thread_id}-secret-{number:03}-" + "x" * (number * 37 % 3000)
                    writer.step(messages=(message(f"{writer.run_id}.{number}", text),))
            for writer in sides:
                writer.end()
            assert b"gone-secret-" in _all_bytes(file)

            report = log.delete_thread("gone")

            assert report.overwritten
            found = _all_bytes(file)
            assert b"gone-secret-" not in found
            assert b"gone" not in found
            assert b"kept-secret-119-" in found
            assert len(log.messages("kept")) == 120

    def test_the_file_is_smaller_afterwards(self, sqlite_url: str, file: Path) -> None:
        with CommitLog.open(sqlite_url) as log:
            written(log, "kept")
            log.write_anew()
            small = file.stat().st_size
            writer = Writer(log, "gone-1", "gone")
            writer.open()
            for number in range(20):
                writer.step(messages=(message(f"m{number}", "x" * 20_000),))
            writer.end()
            log.delete_thread("gone")

            assert file.stat().st_size == small
            assert file.with_name("log.db-wal").stat().st_size == 0

    def test_a_reader_that_holds_the_file_is_told_of_and_loses_nothing(
        self, sqlite_url: str, file: Path
    ) -> None:
        with CommitLog.open(sqlite_url) as log, closing(sqlite3.connect(file)) as reader:
            written(log, "gone")
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM messages").fetchone() == (1,)

            assert not log.delete_thread("gone").overwritten

            assert reader.execute("SELECT count(*) FROM messages").fetchone() == (1,)
            reader.rollback()
            assert log.write_anew()
            assert SECRET.encode() not in _all_bytes(file)


def _all_bytes(file: Path) -> bytes:
    beside = sorted(file.parent.glob(f"{file.name}*"))
    return b"".join(path.read_bytes() for path in beside if not path.name.endswith("-shm"))
