"""Where the time of a commit goes: its statements, and the functions it spends most time in."""

import cProfile
import pstats
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection, Engine, event

from activities.log import CommitLog
from bench.commits import MESSAGE_BYTES, OUTPUT_BYTES
from bench.databases import SQLITE, databases
from bench.threads import ThreadWriter

COMMITS = 500
FUNCTIONS = 30


def print_profile() -> None:
    """Print what commits of 1 KB on a thread of 1,000 messages spend their time on (SQLite)."""
    with (
        tempfile.TemporaryDirectory(prefix="fermata-bench-") as folder,
        databases(Path(folder)) as (database, *_),
        CommitLog.open(database.url("profile")) as log,
    ):
        assert database.name == SQLITE
        writer = ThreadWriter(log)
        writer.grow(1_000)
        writer.append([writer.opening(200)])
        _append_many(writer)
        _print_statements(log, writer)
        _print_functions(log, writer)


def _append_many(writer: ThreadWriter) -> float:
    """Return the milliseconds one commit took on the average."""
    made = [writer.completion("step", MESSAGE_BYTES, OUTPUT_BYTES) for _ in range(COMMITS)]
    began = time.perf_counter()
    for operation in made:
        writer.append([operation])
    return (time.perf_counter() - began) * 1000 / COMMITS


def _print_statements(log: CommitLog, writer: ThreadWriter) -> None:
    engine: Engine = log._engine  # pyright: ignore[reportPrivateUsage]
    spent: dict[str, list[float]] = defaultdict(list)
    begun: list[float] = []

    def before(*_: Any) -> None:
        begun.append(time.perf_counter())

    def after(_connection: Connection, _cursor: Any, statement: str, *_: Any) -> None:
        spent[" ".join(statement.split())[:110]].append((time.perf_counter() - begun.pop()) * 1000)

    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "after_cursor_execute", after)
    whole = _append_many(writer)
    event.remove(engine, "before_cursor_execute", before)
    event.remove(engine, "after_cursor_execute", after)
    table = Table("statement", "times a commit", "ms a commit", box=None, pad_edge=False)
    for statement, taken in spent.items():
        table.add_row(statement, f"{len(taken) / COMMITS:.2f}", f"{sum(taken) / COMMITS:.3f}")
    inside = sum(sum(taken) for taken in spent.values()) / COMMITS
    table.add_row("all statements, without COMMIT", "", f"{inside:.3f}")
    table.add_row("the whole call", "", f"{whole:.3f}")
    Console(markup=False, highlight=False, width=160).print(table)


def _print_functions(log: CommitLog, writer: ThreadWriter) -> None:
    profiler = cProfile.Profile()
    # The profile is of the thread that writes, so it is begun and ended there.
    log._write(lambda _: profiler.enable(), "profiling")  # pyright: ignore[reportPrivateUsage]
    _append_many(writer)
    log._write(lambda _: profiler.disable(), "profiling")  # pyright: ignore[reportPrivateUsage]
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(FUNCTIONS)
