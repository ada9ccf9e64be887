"""What stands on a thread: branches on its points, and runs that go on with its runs."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, select

from activities.log.encoding import dump, load
from activities.log.floors import above_floor
from activities.log.tables import branches, runs
from seeding.commits import BranchPoint, RunPoint

_BRANCHES = select(branches.c.thread_id, branches.c.name, branches.c.lineage)
_RUNS = select(
    runs.c.thread_id, runs.c.branch, runs.c.run_id, runs.c.last_version, runs.c.continues
)


class Standing(NamedTuple):
    """A branch, of any thread, and a point that it stands on."""

    thread_id: str
    branch: str
    on: BranchPoint


class Continuing(NamedTuple):
    """A run, of any thread, and another one's position that it goes on with."""

    thread_id: str
    branch: str
    run_id: str
    last_version: int
    on: RunPoint


def read_standing(connection: Connection, thread_id: str) -> Iterator[Standing]:
    """Yield what stands on a thread, branches of its own included."""
    # The id stands in the text of whatever stands on the thread, so few texts have to be read.
    named = branches.c.lineage.contains(dump(thread_id), autoescape=True)
    for by_thread, branch, text in connection.execute(_BRANCHES.where(named)):
        for value in load(text, f"branch {branch!r} of thread {by_thread}"):
            point = BranchPoint.model_validate(value)
            if point.thread_id == thread_id:
                yield Standing(by_thread, branch, point)


def read_continuing(connection: Connection, thread_id: str) -> Iterator[Continuing]:
    """Yield the runs that go on with one of a thread's and are not pruned themselves."""
    named = runs.c.continues.contains(dump(thread_id), autoescape=True)
    kept = above_floor(runs, runs.c.last_version)
    for by_thread, branch, run_id, version, text in connection.execute(_RUNS.where(named, kept)):
        for value in load(text, f"what run {run_id} continues"):
            point = RunPoint.model_validate(value)
            if point.thread_id == thread_id:
                yield Continuing(by_thread, branch, run_id, version, point)
