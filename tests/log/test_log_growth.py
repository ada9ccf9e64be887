"""What a commit and a read cost: bounded, and the same on a long thread as on a short one."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from log_writer import Clock, Writer, dump, message, next_turn, put
from sqlalchemy import Engine, event

from activities.log import CommitLog
from seeding.commits import PositionHead, RunRow


@contextmanager
def counted(log: CommitLog) -> Generator[list[str], None, None]:
    """Collect the statements the log sends."""
    engine: Engine = log._engine  # pyright: ignore[reportPrivateUsage]
    statements: list[str] = []

    def collect(*sent: Any) -> None:
        statements.append(sent[2])

    event.listen(engine, "before_cursor_execute", collect)
    yield statements
    event.remove(engine, "before_cursor_execute", collect)


def _completion(writer: Writer, number: int) -> dict[str, Any]:
    return {
        "messages": (message(f"{writer.run_id}.{number}"),),
        "state": (put("count", number), put("node/a", number, "position")),
        "rows": (RunRow(kind="output", node_id="a", occurrence=number, value={"outputs": 1}),),
        "position": PositionHead(current_node_id="a", counters={"order": number}),
    }


def _grow(writer: Writer, count: int) -> None:
    """Append ``count`` completions, a hundred in each list."""
    for first in range(0, count, 100):
        made = [
            writer.make(
                writer.commit(**_completion(writer, number)),
                ordinal=writer.ordinal + number - first,
                expected_thread_version=writer.version + number - first,
            )
            for number in range(first, min(first + 100, count))
        ]
        assert writer.log.append(made).accepted == len(made)
        writer.ordinal += len(made)
        writer.version += len(made)


def _costs(log_url: str, messages: int) -> dict[str, int]:
    with CommitLog.open(log_url, clock=Clock()) as log:
        writer = Writer(log)
        writer.open()
        _grow(writer, messages)
        calls: dict[str, Callable[[], object]] = {
            "step": lambda: writer.step(**_completion(writer, 90_000)),
            "merge": lambda: writer.step(state=(put("m", {"a": 1}, policy="commutative"),)),
            "state": lambda: log.state("t", messages=False),
            "position": lambda: log.position("r1"),
            "page": lambda: log.messages("t", after=3, limit=5),
            "end": lambda: writer.end(),
            "open": lambda: next_turn(writer, "r2"),
        }
        costs: dict[str, int] = {}
        for name, call in calls.items():
            with counted(log) as statements:
                call()
            costs[name] = len(statements)
    return costs


def test_no_call_sends_more_statements_on_a_long_thread(new_log_url: Callable[[], str]) -> None:
    short = _costs(new_log_url(), 10)
    long = _costs(new_log_url(), 2_000)
    assert short == long
    assert short["step"] <= 12
    assert short["state"] <= 9


def test_a_list_sends_hardly_more_statements_than_one_commit(running: Writer) -> None:
    with counted(running.log) as single:
        _grow(running, 1)
    running.step()
    with counted(running.log) as many:
        made = [
            running.make(
                running.commit(state=(put("node/a", n, "position"),)),
                ordinal=running.ordinal + n,
                expected_thread_version=running.version + n,
            )
            for n in range(100)
        ]
        assert running.log.append(made).accepted == 100
    assert len(many) <= len(single)


def test_seeding_reads_no_message(running: Writer) -> None:
    _grow(running, 20)
    with counted(running.log) as statements:
        assert running.log.state("t", messages=False).message_count == 21
        running.log.latest_run("t")
        running.log.position("r1")
    assert [sent for sent in statements if "FROM messages" in sent] == []


@pytest.mark.parametrize("turns", [3, 12])
def test_a_commit_adds_the_rows_of_what_it_changed_and_no_others(
    log: CommitLog, log_url: str, turns: int
) -> None:
    writer = Writer(log)
    writer.open()
    for turn in range(turns):
        writer.step(messages=(message(f"m{turn}"),), state=(put(f"k{turn}", turn),))
        writer.end()
        writer = next_turn(writer, f"r{turn + 2}", run_epoch=turn + 2)
    before = {name: len(rows) for name, rows in dump(log_url).items()}
    writer.step(
        messages=(message("new"),),
        state=(put("k0", "new"), put("node/a", 1, "position")),
        rows=(RunRow(kind="output", node_id="a", occurrence=0, value=1),),
    )
    after = {name: len(rows) for name, rows in dump(log_url).items()}
    grown = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert grown == {"commits": 1, "messages": 1, "cells": 2, "run_rows": 1}


def test_a_cell_with_a_long_history_is_read_by_seeking_in_a_sqlite_file(sqlite_url: str) -> None:
    """The plan of the read uses its index for every step and scans no history."""
    with CommitLog.open(sqlite_url) as log:
        running = Writer(log)
        running.open()
        _grow(running, 10)
        engine: Engine = log._engine  # pyright: ignore[reportPrivateUsage]
        with counted(log) as statements:
            log.position("r1")
        sent = next(text for text in statements if "RECURSIVE" in text)
        with engine.connect() as connection:
            blanks = tuple("x" for _ in range(sent.count("?")))
            plan = [
                row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sent}", blanks)
            ]
        seeks = [line for line in plan if "cells" in line]
        assert seeks
        assert all(line.startswith("SEARCH cells") and "key" in line for line in seeks[1:]), plan
        assert "SCAN cells" not in "".join(plan)
