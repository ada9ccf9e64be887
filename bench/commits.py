"""What one commit costs on a thread of any length.

A commit of about 1 KB of JSON (a node's completion with its message, outputs and cell) appended
by itself, from the call to its receipt. The lengths take turns, so that whatever else the
machine does meets all of them alike.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from activities.log import CommitLog
from activities.log.encoding import encode
from bench.databases import SQLITE, Database, on_each_database
from bench.figures import Figure, percentile
from bench.threads import ThreadWriter

LENGTHS = (10, 10_000, 100_000)
BARS = {"SQLite": 2.0, "PostgreSQL": 5.0}
"""Milliseconds the median has to stay below."""

FLAT = 1.5
"""The median on the longest thread, divided by that on the shortest, has to stay below."""

MESSAGE_BYTES, OUTPUT_BYTES = 350, 260
ROUNDS, WARM_UP = 400, 40


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the medians, 99th percentiles and flatness on every database."""
    yield from on_each_database(folder, _measure)


def growing_threads(database: Database, name: str, stack: ExitStack) -> dict[int, ThreadWriter]:
    """Return a log of its own for each length, opened for as long as ``stack``."""
    writers: dict[int, ThreadWriter] = {}
    for length in LENGTHS:
        log = stack.enter_context(CommitLog.open(database.url(f"{name}-{length}")))
        writers[length] = ThreadWriter(log)
        writers[length].grow(length)
    return writers


def take_turns(calls: dict[int, Callable[[], float]]) -> dict[int, list[float]]:
    """Return the milliseconds that each call measured, in turn, after a warm-up."""
    samples: dict[int, list[float]] = {length: [] for length in calls}
    for turn in range(WARM_UP + ROUNDS):
        for length, call in calls.items():
            took = call()
            if turn >= WARM_UP:
                samples[length].append(took)
    return samples


def _measure(database: Database) -> Iterator[Figure]:
    subject = f"commit of 1 KB, {database.name}"
    with ExitStack() as stack:
        writers = growing_threads(database, "commits", stack)
        for writer in writers.values():
            writer.append([writer.opening(200)])
        size = max(_bytes_of_one(writer) for writer in writers.values())
        samples = take_turns({length: _append(writer) for length, writer in writers.items()})
    for length, taken in samples.items():
        of = f"thread of {length:,} messages"
        middle, worst = percentile(taken, 50), percentile(taken, 99)
        yield Figure(
            subject=subject,
            name=f"{of}, p50",
            value=middle,
            unit="ms",
            bar=BARS[database.name],
            note=f"{size} bytes" + (", synchronous FULL" if database.name == SQLITE else ""),
        )
        yield Figure(subject=subject, name=f"{of}, p99", value=worst, unit="ms")
    yield flatness(subject, samples)


def flatness(subject: str, samples: dict[int, list[float]]) -> Figure:
    """Return how the slowest median relates to the fastest, over all lengths."""
    middles = [percentile(taken, 50) for taken in samples.values()]
    return Figure(
        subject=subject,
        name="slowest over fastest length, p50",
        value=max(middles) / min(middles),
        unit="x",
        bar=FLAT,
    )


def _bytes_of_one(writer: ThreadWriter) -> int:
    sample = writer.completion("step", MESSAGE_BYTES, OUTPUT_BYTES)
    writer.append([sample])
    return encode(sample.commit).size


def _append(writer: ThreadWriter) -> Callable[[], float]:
    def timed() -> float:
        made = [writer.completion("step", MESSAGE_BYTES, OUTPUT_BYTES)]
        began = time.perf_counter()
        writer.append(made)
        return (time.perf_counter() - began) * 1000

    return timed
