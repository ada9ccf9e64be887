"""Many writers of one log at once: on one thread, on many, and beside a reader."""

import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

import pytest
from appending_process import append
from log_writer import NOON, Writer, dump, finished, message, opening, process

from activities.log import CommitLog, Execution, ReadOnlyLog
from activities.log.dialect import open_engine, writing
from activities.log.transaction import CommitTransaction
from seeding.commits import BatchReceipt, CommitOperation
from seeding.errors import CommitUnavailable

APPENDS = 200
"""By each of two processes."""


@contextmanager
def unfinished(url: str, operation: CommitOperation) -> Generator[None]:
    """Another writer has written an operation and has not committed it yet."""
    engine = open_engine(url)
    with writing(engine, quick=False).begin() as connection:
        transaction = CommitTransaction(connection, [operation], NOON, Execution())
        transaction.apply(operation)
        transaction.write()
        yield
    engine.dispose()


def sent(log: CommitLog, operation: CommitOperation) -> BatchReceipt:
    """Append until the log answers, as an activity that is tried again does."""
    for _ in range(5):
        try:
            return log.append([operation])
        except CommitUnavailable:
            continue
    raise AssertionError("the log never answered")


def test_aw_15_two_processes_on_one_thread_leave_dense_versions(
    running: Writer, log_url: str
) -> None:
    names = ("one", "two")
    started = [process("appending_process.py", log_url, name, str(APPENDS)) for name in names]
    receipts = sorted(
        receipt for printed in map(finished, started) for receipt in json.loads(printed)
    )
    rows = [
        [found.operation.ordinal, found.thread_version, found.operation.payload_hash]
        for found in running.log.commits("t")
    ]
    assert rows[1:] == receipts
    assert [version for _, version, _ in receipts] == list(range(2, 2 + 2 * APPENDS))
    kept = sorted(found["id"] for found in running.log.messages("t"))
    assert kept == sorted(["m0", *(f"{name}.{n}" for name in names for n in range(APPENDS))])


def test_eight_writers_on_eight_threads_do_not_meet(log: CommitLog, log_url: str) -> None:
    def fill(number: int) -> list[int]:
        with CommitLog.open(log_url) as own:
            writer = Writer(own, f"r{number}", f"t{number}")
            barrier.wait()
            writer.open()
            for step in range(20):
                writer.step(messages=(message(f"{number}.{step}"),))
            return [found.thread_version for found in own.commits(f"t{number}")]

    barrier = Barrier(8)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fill, range(8))) == [list(range(1, 22))] * 8


def test_a_thread_opened_by_two_at_once_is_opened_by_one(log: CommitLog, log_url: str) -> None:
    """The other is refused by name, on its first attempt or when it is sent again."""

    def start(run_id: str) -> str | None:
        with CommitLog.open(log_url) as own:
            writer = Writer(own, run_id)
            made = writer.make(writer.commit(opening=opening(chain_id=run_id)))
            barrier.wait()
            answer = sent(own, made)
            return answer.refusal.code if answer.refusal else None

    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(start, ("one", "two")), key=str) == [None, "ThreadBusy"]


def test_a_run_opened_by_two_at_once_is_one_run_and_one_duplicate(
    log: CommitLog, log_url: str
) -> None:
    def start(_: int) -> tuple[int, bool]:
        with CommitLog.open(log_url) as own:
            writer = Writer(own)
            made = writer.make(writer.commit(opening=opening()))
            barrier.wait()
            answer = sent(own, made)
            assert answer.receipt is not None
            return answer.receipt.thread_version, answer.receipt.duplicate

    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(start, range(2))) == [(1, False), (1, True)]


def test_a_graph_kept_by_two_at_once_is_kept_once(log: CommitLog, log_url: str) -> None:
    def keep(number: int) -> None:
        with CommitLog.open(log_url) as own:
            barrier.wait()
            own.put_graph("f" * 64, "greet", {"id": "greet", "by": number})

    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(keep, range(2)))
    assert len(dump(log_url)["graphs"]) == 1


def test_an_operation_that_is_not_committed_yet_is_not_seen_and_leaves_no_gap(
    running: Writer, log_url: str
) -> None:
    made, later = running.make(running.commit()), running.make(running.commit(node_id="later"))
    with ReadOnlyLog.open(log_url) as reader:
        with unfinished(log_url, made):
            with pytest.raises(CommitUnavailable):
                running.log.append([later], quick=True)
            assert [found.thread_version for found in reader.commits("t")] == [1]
            assert reader.thread_version("t") == 1
        assert [found.operation for found in reader.commits("t", after=1)] == [made]
        answer = running.log.append([later])
        assert answer.refusal is not None
        assert answer.refusal.code == "OperationReused"


def test_who_pages_by_version_while_others_write_misses_nothing(
    running: Writer, log_url: str
) -> None:
    seen: list[int] = []
    with ReadOnlyLog.open(log_url) as reader, ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(append, log_url, name, 60) for name in ("one", "two")]
        while len(seen) < 121:
            if all(writer.done() for writer in writers):
                assert [writer.exception() for writer in writers] == [None, None]
            after = seen[-1] if seen else 0
            seen.extend(found.thread_version for found in reader.commits("t", after=after, limit=7))
    assert seen == list(range(1, 122))
