"""The projections of one thread, folded from its commits (AW-52): pure, no database.

What the heads of threads, the table of runs and the tickets hold is a function of the commits
and of who owned the runs. Writing keeps them up commit by commit; this makes them whole, and the
same row for row.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from activities.log.checks import RunFacts
from activities.log.commit_rows import operation_of
from activities.log.encoding import EncodedCommit, dump
from activities.log.records import PHASES, Row, run_changes, run_row, ticket_row
from seeding.commits import CommitOperation
from seeding.errors import CorruptLog


class Projections(NamedTuple):
    """The rows of one thread: its head, its runs and tickets by their ids."""

    threads: dict[str, Row]
    runs: dict[str, Row]
    tickets: dict[str, Row]


class ProjectionFold:
    """Takes a thread's commit rows in the order of their versions.

    Args:
        owners: The newest owner epoch of each run.
        floors: The floors of the thread's branches. The tickets of runs that were pruned are
            gone, so those runs are given none.
    """

    def __init__(self, owners: Mapping[str, int], floors: Mapping[str, int]) -> None:
        self._owners = owners
        self._floors = floors
        self.made = Projections({}, {}, {})

    def add(self, row: Mapping[Any, Any]) -> None:
        """Apply one whole commit row.

        Raises:
            CorruptLog: The commits before it do not lead to it.
        """
        operation = operation_of(row)
        version: int = row["thread_version"]
        if operation.commit.opening is not None:
            self._open(operation, row)
        run = self.made.runs.get(operation.run_id)
        if run is None:
            raise CorruptLog(
                f"run {operation.run_id} has commit {version} of thread {row['thread_id']} and "
                "no opening"
            )
        after = _run_after(row)
        encoded = EncodedCommit(row["payload_hash"], {"result": row["result"]}, (), (), (), 0)
        run.update(run_changes(operation, encoded, after, row["created_at"]))
        head = self.made.threads.setdefault(
            row["thread_id"], {"thread_id": row["thread_id"], "head_run_id": operation.run_id}
        )
        head["version"] = version
        if operation.commit.opening is not None:
            head["head_run_id"] = operation.run_id
        if version > self._floors.get(row["branch"], 0):
            self._move_tickets(operation, after, row["created_at"])

    def _open(self, operation: CommitOperation, row: Mapping[Any, Any]) -> None:
        opening = operation.commit.opening
        assert opening is not None
        if operation.run_id not in self._owners:
            raise CorruptLog(f"nobody is known who opened run {operation.run_id}")
        made = run_row(operation, opening, row["thread_version"], row["created_at"])
        self.made.runs[operation.run_id] = {
            **made,
            "owner_epoch": self._owners[operation.run_id],
        }

    def _move_tickets(self, operation: CommitOperation, run: RunFacts, at: str) -> None:
        for closing in operation.commit.closed:
            ticket = self.made.tickets.get(closing.ticket)
            if ticket is None:
                raise CorruptLog(
                    f"commit {run.last_version} of thread {run.thread_id} closes ticket "
                    f"{closing.ticket}, which no commit opened"
                )
            ticket.update(closed_version=run.last_version, closing=dump(closing.to_json()))
        for place, ticket in enumerate(operation.commit.opened):
            made = ticket_row(ticket, run, place, datetime.fromisoformat(at))
            self.made.tickets[ticket.ticket] = made


def missing_commits(thread_id: str, stored: Projections, last: int, beside: int = 0) -> str | None:
    """Return which commits a thread has lost at its end, or None where that cannot be said.

    What came beside a commit proves it. A single row of a list may be wrong by itself; where the
    head of the thread and a run agree on a version that no commit has, or one of them says so
    and the other is gone, it is the commit that is missing.

    Args:
        thread_id: The thread.
        stored: Its lists as they are stored.
        last: The highest version of its commits.
        beside: The highest version of its messages, cells and rows.
    """
    listed = _listed_version(thread_id, stored, last)
    end = max(listed, beside)
    if end <= last:
        return None
    named = f"commit {end} is" if end == last + 1 else f"commits {last + 1} to {end} are"
    seen = "the thread was at" if listed == end else "what came with it is of"
    return f"{named} missing: {seen} version {end}, and the last commit is {last}"


def _listed_version(thread_id: str, stored: Projections, last: int) -> int:
    """Return the version behind ``last`` that the lists know of, 0 where they leave it open."""
    head = stored.threads.get(thread_id)
    own = [run["last_version"] for run in stored.runs.values() if run["thread_id"] == thread_id]
    # A row of a list that is damaged may hold no number.
    runs = [version for version in own if isinstance(version, int)]
    furthest: int = max(runs, default=0)
    if head is None:
        return furthest if furthest > last else 0
    version = head["version"]
    if not isinstance(version, int) or version <= last:
        return 0
    alone = head["head_run_id"] not in stored.runs and last > 0
    return version if version in runs or alone else 0


def differing_columns(stored: Mapping[str, Any] | None, made: Mapping[str, Any] | None) -> str:
    """Return what sets a stored row apart from the one the commits make; '' where nothing does."""
    if stored is None and made is None:
        return ""
    if stored is None:
        return "it is missing"
    if made is None:
        return "no commit makes it"
    return ", ".join(name for name in made if made[name] != stored[name])


def _run_after(row: Mapping[Any, Any]) -> RunFacts:
    return RunFacts(
        run_id=row["run_id"],
        thread_id=row["thread_id"],
        branch=row["branch"],
        owner_epoch=row["owner_epoch"],
        phase=PHASES[row["kind"]],
        last_ordinal=row["ordinal"],
        last_version=row["thread_version"],
        message_count=row["message_count"],
    )
