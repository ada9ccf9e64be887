"""The runs whose cells and rows a run goes on with: its own, and those it continues.

A run that started at another run's position reads what that run owned up to there, and writes
only its own; so a start from any checkpoint copies nothing.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select

from activities.log.cells import CellGroup, position_of
from activities.log.encoding import load_or_none
from activities.log.tables import runs
from seeding.commits import BranchPoint, RunPoint
from seeding.model import as_list

NEWEST = 2**62
"""A version no thread reaches, for a read without an upper bound."""

_RUN = select(runs.c.thread_id, runs.c.branch, runs.c.continues).where(
    runs.c.run_id == bindparam("run")
)


def read_run_points(
    connection: Connection, run_id: str, up_to: int = NEWEST
) -> tuple[RunPoint, ...]:
    """Return the runs that ``run_id`` stands on, oldest first, itself last up to a version.

    A run the log does not know has no points.
    """
    found = connection.execute(_RUN, {"run": run_id}).first()
    if found is None:
        return ()
    thread_id, branch, continues = found
    points = as_list(load_or_none(continues, f"what run {run_id} continues")) or []
    own = RunPoint(thread_id=thread_id, branch=branch, run_id=run_id, up_to=up_to)
    return (*(RunPoint.model_validate(point) for point in points), own)


def own_places(points: Sequence[RunPoint]) -> list[tuple[BranchPoint, CellGroup]]:
    """Return where the cells of a run are along its points."""
    return [
        (
            BranchPoint(thread_id=point.thread_id, branch=point.branch, up_to=point.up_to),
            position_of(point.run_id),
        )
        for point in points
    ]
