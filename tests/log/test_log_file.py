"""The log as a whole: reopened, locked, damaged, of another version; on each database."""

import time
from collections.abc import Callable

import pytest
from log_writer import (
    Clock,
    Writer,
    change,
    dump,
    finished,
    locked,
    message,
    next_turn,
    process,
    put,
)
from sqlalchemy import Connection, create_engine

from activities.log import CommitLog
from activities.log.migrations import prepare_schema
from activities.log.tables import SCHEMA_VERSION
from seeding.commits import CommitOperation, IteratorHead, PositionHead, RunRow, commit_hash
from seeding.errors import CommitUnavailable, CorruptLog, NewerLog


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


def test_every_commit_is_read_back_as_it_was_accepted(new_log_url: Callable[[], str]) -> None:
    with CommitLog.open(new_log_url(), clock=Clock()) as log:
        _fill(Writer(log))
        stored = log.commits("t")
        assert [found.thread_version for found in stored] == [1, 2, 3, 4, 5, 6, 7]
        for found in stored:
            assert commit_hash(found.operation.commit) == found.operation.payload_hash
        assert stored[2].operation.commit.state == (put("a", {"y": 2}, policy="commutative"),)
        assert log.commits("t", after=2, limit=2) == stored[2:4]
        operations: list[CommitOperation] = [found.operation for found in stored]
    with CommitLog.open(new_log_url(), clock=Clock()) as log:
        assert log.append(operations).accepted == 7
        assert [found.operation for found in log.commits("t")] == operations


def test_several_processes_may_create_the_log_at_once(log_url: str) -> None:
    started = [process("opening_process.py", log_url) for _ in range(4)]
    assert [finished(one).strip() for one in started] == ["[]"] * 4
    assert dump(log_url)["schema_version"] == [(1, SCHEMA_VERSION)]


def test_a_locked_log_is_unavailable_soon_and_readable_meanwhile(
    running: Writer, log_url: str
) -> None:
    made = running.make(running.commit())
    before = dump(log_url)
    with locked(log_url):
        begun = time.monotonic()
        with pytest.raises(CommitUnavailable, match=r"locked|lock timeout"):
            running.log.append([made], quick=True)
        assert time.monotonic() - begun < 4.0, "the patient way waits for 5 seconds"
        assert running.log.state("t").checkpoint_id == "r1:0"
    assert dump(log_url) == before
    running.send(made)


def test_a_closed_log_is_unavailable(log_url: str) -> None:
    log = CommitLog.open(log_url)
    writer = Writer(log)
    made = writer.make(writer.commit())
    log.close()
    with pytest.raises(CommitUnavailable, match="closed"):
        log.append([made])


def test_a_log_of_a_newer_version_is_refused_by_name(log_url: str) -> None:
    CommitLog.open(log_url).close()
    change(
        log_url,
        "UPDATE schema_version SET version = 99",
    )
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
        first, second = SCHEMA_VERSION, SCHEMA_VERSION + 1
        steps = {first: upgrade(first), second: upgrade(second)}
        prepare_schema(connection, version=second + 1, upgrades=steps)
    with engine.begin() as connection, pytest.raises(CorruptLog, match="no upgrade"):
        prepare_schema(connection, version=second + 2, upgrades={})
    engine.dispose()
    assert ran == [first, second]
    assert dump(log_url)["schema_version"] == [(1, second + 1)]


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
    change(
        log_url,
        "DELETE FROM runs WHERE run_id = 'r2'",
        "DELETE FROM commits WHERE thread_version = 7",
        "UPDATE threads SET head_run_id = 'r1'",
        damage,
    )
    with CommitLog.open(log_url) as log, pytest.raises(CorruptLog):
        log.state("t")


def test_a_damaged_value_and_a_missing_version_are_found_in_the_history(log_url: str) -> None:
    with CommitLog.open(log_url, clock=Clock()) as log:
        _fill(Writer(log))
    change(
        log_url,
        "UPDATE cells SET value = '3' WHERE cell = 'metadata'",
    )
    with CommitLog.open(log_url) as log, pytest.raises(CorruptLog, match="commit 2 of thread t"):
        log.commits("t")
    change(
        log_url,
        "UPDATE cells SET value = '2' WHERE cell = 'metadata'",
        "DELETE FROM commits WHERE thread_version = 4",
    )
    with CommitLog.open(log_url) as log, pytest.raises(CorruptLog, match="commit 4 of thread t"):
        log.commits("t")
