"""What the start of a thread's next turn costs, on a thread of any length.

The start activity as a worker runs it: the facts, the decision, the state it starts from. It
reads no message, so the length of the thread must not tell.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from activities.graph_folder import GraphFolder
from activities.nodes import NodeRegistry
from activities.resources import Resources
from activities.seed import SeedActivities
from bench.commits import flatness, growing_threads, take_turns
from bench.databases import Database, on_each_database
from bench.figures import Figure, percentile
from bench.threads import THREAD, ThreadWriter
from seeding.request import RunRequest
from workflows.wire import SeedInput

GRAPH = {"id": "bench", "nodes": [{"id": "said", "type": "reply", "config": {"message": "hello"}}]}


def measure(folder: Path) -> Iterator[Figure]:
    """Yield the medians, 99th percentiles and flatness on every database."""
    yield from on_each_database(folder, _measure)


def _measure(database: Database) -> Iterator[Figure]:
    subject = f"start of a next turn, {database.name}"
    with ExitStack() as stack:
        writers = growing_threads(database, "seeding", stack)
        loop = stack.enter_context(asyncio.Runner())
        samples = take_turns(
            {length: _seed(writer, loop, stack) for length, writer in writers.items()}
        )
    for length, taken in samples.items():
        of = f"thread of {length:,} messages"
        for percent in (50, 99):
            value = percentile(taken, percent)
            yield Figure(subject=subject, name=f"{of}, p{percent}", value=value, unit="ms")
    yield flatness(subject, samples)


def _seed(writer: ThreadWriter, loop: asyncio.Runner, stack: ExitStack) -> Callable[[], float]:
    resources = Resources(log=writer.log, graphs=GraphFolder([]), registry=NodeRegistry())
    stack.callback(resources.close)
    activities = SeedActivities(resources)
    asked = SeedInput(
        thread_id=THREAD,
        chain_id="next",
        execution_id="next",
        namespace="default",
        request=RunRequest(graph=GRAPH, thread_id=THREAD, message="and now?"),
    )

    def timed() -> float:
        began = time.perf_counter()
        loop.run(activities.seed_run(asked))
        return (time.perf_counter() - began) * 1000

    return timed
