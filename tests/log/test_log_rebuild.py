"""Heads, runs and tickets are made again from the commits, row for row (AW-52)."""

from datetime import timedelta

import pytest
from full_log import MixedThreads, write_ephemeral_run, write_full_log
from log_writer import Writer, change, dump, next_turn

from activities.log import CommitLog
from activities.log.rebuilding import RebuiltThread
from seeding.errors import CommitUnavailable, CorruptLog, UnknownThread

PROJECTIONS = ("threads", "runs", "tickets")
WIPED = tuple(f"DELETE FROM {name}" for name in PROJECTIONS)


def rebuilt_rows(log: CommitLog, log_url: str) -> int:
    """Wipe what can be made again, make it again, and return how many rows that were."""
    before = dump(log_url)
    change(log_url, *WIPED)
    log.rebuild()
    assert dump(log_url) == before
    return sum(len(before[name]) for name in PROJECTIONS)


def test_aw_52_a_thousand_mixed_commits_over_five_threads_are_rebuilt_row_for_row(
    log: CommitLog, log_url: str
) -> None:
    MixedThreads(log, seed=7, threads=("a", "b", "c", "d", "e")).write(1_000)

    assert rebuilt_rows(log, log_url) > 200


def test_takeovers_continued_runs_closings_and_deadlines_are_rebuilt(
    log: CommitLog, log_url: str
) -> None:
    write_full_log(log)

    assert rebuilt_rows(log, log_url) == 2 + 4 + 4
    assert [run.owner_epoch for run in log.runs("t")] == [2, 2, 1]


def test_a_thread_that_was_only_forked_has_a_branch_and_no_head(
    log: CommitLog, log_url: str
) -> None:
    write_full_log(log)

    assert "forked" in list(log.thread_names())
    assert log.rebuild("forked").changed == ()
    assert log.latest_run("forked") is None


@pytest.mark.parametrize("forget", [False, True])
def test_an_ephemeral_run_is_rebuilt_while_it_is_there_and_leaves_nothing_after(
    running: Writer, log_url: str, forget: bool
) -> None:
    running.end()
    before = dump(log_url)
    write_ephemeral_run(running, forget=forget)

    assert (dump(log_url) == before) is forget
    rebuilt_rows(running.log, log_url)


def test_rebuilding_again_writes_nothing(log: CommitLog, log_url: str) -> None:
    write_full_log(log)
    change(log_url, *WIPED)
    first = log.rebuild()

    assert [(one.threads, one.runs, one.tickets) for one in first.changed] == [(1, 1, 1), (1, 3, 3)]
    again = log.rebuild()
    assert (again.looked_at, again.changed, again.damaged) == (3, (), ())


def test_rows_that_are_wrong_or_nobodys_are_put_right_and_no_others(
    log: CommitLog, log_url: str
) -> None:
    write_full_log(log)
    before = dump(log_url)
    change(
        log_url,
        "UPDATE runs SET phase = 'running', owner_epoch = 1 WHERE run_id = 'r1'",
        "UPDATE runs SET thread_id = 'other' WHERE run_id = 'r3'",
        "UPDATE tickets SET closing = NULL, closed_version = NULL WHERE run_id = 'r1'",
        "UPDATE tickets SET run_id = 'nobody' WHERE ticket = 'r2:gate:0:0'",
        "UPDATE threads SET version = 3 WHERE thread_id = 't'",
        "INSERT INTO threads (thread_id, version, head_run_id) VALUES ('ghost', 1, 'g1')",
    )

    report = log.rebuild()

    assert report.changed == (
        RebuiltThread(thread_id="ghost", threads=1, runs=0, tickets=0),
        RebuiltThread(thread_id="t", threads=1, runs=2, tickets=2),
    )
    assert dump(log_url) == before


def test_one_thread_is_rebuilt_alone_where_it_is_named(log: CommitLog, log_url: str) -> None:
    write_full_log(log)
    change(log_url, *WIPED)

    assert [one.thread_id for one in log.rebuild("other").changed] == ["other"]
    with pytest.raises(CorruptLog, match="fermata rebuild t makes it again"):
        log.latest_run("t")
    with pytest.raises(UnknownThread, match="nobody"):
        log.rebuild("nobody")


def test_an_interrupted_rebuild_leaves_each_thread_old_or_new_and_is_run_again(
    sqlite_url: str,
) -> None:
    with CommitLog.open(sqlite_url) as log:
        MixedThreads(log, seed=3, threads=("a", "b", "c")).write(120)
        before = dump(sqlite_url)
        # The disk is full in the middle of the second thread, after its runs were written.
        stop = (
            "CREATE TRIGGER full BEFORE INSERT ON tickets WHEN NEW.thread_id = 'b' "
            "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
        change(sqlite_url, *WIPED, stop)

        with pytest.raises(CommitUnavailable, match="the disk is full"):
            log.rebuild()

        half = dump(sqlite_url)
        assert {row[1] for row in half["runs"]} == {"a"}
        assert {row[0] for row in half["threads"]} == {"a"}
        change(sqlite_url, "DROP TRIGGER full")
        log.rebuild()
        assert dump(sqlite_url) == before


def test_a_thread_with_damaged_commits_stays_as_it_is_and_the_others_are_rebuilt(
    log: CommitLog, log_url: str
) -> None:
    write_full_log(log)
    before = dump(log_url)
    change(log_url, *WIPED, "UPDATE commits SET kind = 'Ended' WHERE run_id = 'o1' AND ordinal = 0")

    report = log.rebuild()

    assert [(one.thread_id, one.what.split(":")[0]) for one in report.damaged] == [
        ("other", "commit 1 of thread other is not what was written")
    ]
    with pytest.raises(CorruptLog, match="fermata rebuild other makes it again"):
        log.latest_run("other")
    change(log_url, "UPDATE commits SET kind = 'Running' WHERE run_id = 'o1' AND ordinal = 0")
    log.rebuild()
    assert dump(log_url) == before


def test_writing_goes_on_after_a_rebuild_as_if_there_had_been_none(
    running: Writer, log_url: str
) -> None:
    running.wait(running.ticket())
    change(log_url, *WIPED)
    running.log.rebuild()

    running.answer(running.ticket())
    running.end()
    assert next_turn(running, "r2").version == 5


def test_a_pruned_thread_is_rebuilt_row_for_row(log: CommitLog, log_url: str) -> None:
    MixedThreads(log, seed=5, threads=("a", "b")).write(300)
    pruned = log.prune(older_than=timedelta(0), keep=1, apply=True)
    assert sum(one.runs for one in pruned.branches) > 5

    rebuilt_rows(log, log_url)
