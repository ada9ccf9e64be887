"""Whether commits and messages follow each other without a gap: pure, no database.

Ordinals of a run are dense from 0, versions of a thread are those of its runs together, and the
messages of a branch go on where what it stands on ends. Pruning leaves of a run its first and
last commit only, and every message.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from activities.log.commit_checks import Bodies
from seeding.counting import counted

StoredRow = Mapping[Any, Any]


class Density:
    """Takes a thread's versions in ascending order and says where something is missing.

    Args:
        floors: The floors of the thread's branches.
        base: Returns how many messages the point holds that a branch stands on; None for a
            branch that is not there.
    """

    def __init__(self, floors: Mapping[str, int], base: Callable[[str], int | None]) -> None:
        self._floors = floors
        self._base = base
        self._highest = max(floors.values(), default=0)
        self._last_version = 0
        self._ordinals: dict[str, int] = {}
        self._counts: dict[str, int | None] = {}
        self._founded: dict[str, None] = {}

    @property
    def last_version(self) -> int:
        """The highest version of a commit so far."""
        return self._last_version

    def is_due(self, version: int) -> bool:
        """Whether every commit of this version is there still: no branch was pruned so far."""
        return version > self._highest

    def is_pruned(self, branch: str, version: int) -> bool:
        """Whether the run that committed ``version`` on a branch was pruned."""
        return version <= self._floors.get(branch, 0)

    def add_commit(self, row: StoredRow) -> Iterator[str]:
        """Yield what is missing before a commit."""
        version, before = row["thread_version"], self._last_version
        if version != before + 1 and version - 1 > self._highest:
            yield f"commit {max(before, self._highest) + 1} is missing"
        self._last_version = version
        if row["kind"] == "Ended" and self._floors.get(row["branch"]) == version:
            self._founded[row["branch"]] = None
        due = self._ordinals.get(row["run_id"], -1) + 1
        jumped = due == 1 and row["kind"] == "Ended" and self.is_pruned(row["branch"], version)
        if row["ordinal"] != due and not jumped:
            yield f"run {row['run_id']} has no commit {due}"
        self._ordinals[row["run_id"]] = row["ordinal"]

    def add_messages(self, bodies: Bodies) -> Iterator[str]:
        """Yield what is missing between the messages before and those of one version."""
        for row in bodies.messages:
            due = self._count(row["branch"])
            if due is None:
                continue
            if row["place"] != due:
                yield f"message {due} of branch {row['branch']!r} is missing"
            self._counts[row["branch"]] = row["place"] + 1

    def check_count(self, row: StoredRow) -> Iterator[str]:
        """Yield whether a commit counts other messages than there are up to it."""
        found = self._count(row["branch"])
        if found is not None and row["message_count"] != found:
            yield f"it counts {counted(row['message_count'], 'message')}, not {found}"

    def check_end(self) -> Iterator[str]:
        """Yield whether the runs have another number of commits in all than the thread.

        Also which floors are not where a run of their branch ended: what is at or below one
        counts as pruned.
        """
        expected = sum(last + 1 for last in self._ordinals.values())
        if expected != self._last_version:
            commits = counted(expected, "commit")
            yield f"its runs have {commits} and its last version is {self._last_version}"
        for branch, version in self._floors.items():
            if branch not in self._founded:
                yield f"branch {branch!r} was pruned up to {version}, where no run of it ended"

    def _count(self, branch: str) -> int | None:
        if branch not in self._counts:
            self._counts[branch] = self._base(branch)
        return self._counts[branch]
