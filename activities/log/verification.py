"""Comparing all that a thread holds with the hashes it was accepted under (AW-53)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, bindparam, select

from activities.log.commit_checks import Bodies, check_bodies, check_checksum
from activities.log.commit_streams import AtVersion, versions_of
from activities.log.density import Density
from activities.log.effect_rows import check_effect_row
from activities.log.encoding import verify_commit_row
from activities.log.floors import read_floors
from activities.log.lineage import count_messages, read_branch, read_branches
from activities.log.ownership import read_owners
from activities.log.projecting import Projections, differing_columns, missing_commits
from activities.log.projections import new_fold, read_projections
from activities.log.stored import StoredBranch, StoredOwner
from activities.log.tables import effects, graphs
from activities.log.turn_rows import turn_problems
from seeding.commits import BranchPoint
from seeding.counting import counted
from seeding.errors import CorruptLog
from seeding.model import Model

_EFFECTS = (
    select(effects)
    .where(effects.c.thread_id == bindparam("thread"))
    .execution_options(yield_per=200)
)
_ANY_GRAPH = select(graphs.c.digest).limit(1)
_GRAPH = select(graphs.c.digest).where(
    graphs.c.digest == bindparam("digest"), graphs.c.graph_id == bindparam("graph")
)


class Finding(Model):
    """One thing that is not as it was accepted.

    Attributes:
        thread_id: The thread; None for what belongs to none.
        version: The version of the commit it is about; None for what is about none.
        what: What is wrong.
    """

    thread_id: str | None
    version: int | None
    what: str


class ThreadVerification:
    """Goes over one thread; ``findings`` is everything that was not as it was accepted."""

    def __init__(self, connection: Connection, thread_id: str) -> None:
        self._connection = connection
        self._thread_id = thread_id
        self.findings: list[Finding] = []
        self._floors = read_floors(connection, thread_id)
        self._branches = self._read_branches()
        self._fold = new_fold(connection, thread_id)
        self._density = Density(self._floors, self._base_of)
        self._owners: dict[str, Mapping[int, StoredOwner]] = {}

    def verify(self) -> list[Finding]:
        """Go over everything of the thread, in the order of versions, and return what is wrong.

        Raises:
            CorruptLog: The database itself cannot be read on.
        """
        with versions_of(self._connection, self._thread_id) as versions:
            for found in versions:
                self._add(found.version, self._density.add_messages(found.bodies))
                if found.commit is None:
                    self._add(found.version, self._without_commit(found))
                else:
                    self._check_commit(found.commit, found.bodies)
        self._add(None, self._density.check_end())
        self._add(None, self._check_branches())
        self._add(None, self._check_owners())
        self._add(None, self._check_effects())
        self._add(None, turn_problems(self._connection, self._thread_id))
        self._add(None, self._check_graphs())
        self._add(None, self._check_last())
        if not self.findings:
            # Of a damaged truth no projection can be said to be wrong.
            self._add(None, self._check_projections())
        return self.findings

    def _add(self, version: int | None, whats: Iterable[str]) -> None:
        for what in whats:
            self.findings.append(Finding(thread_id=self._thread_id, version=version, what=what))

    # --- commits ----------------------------------------------------------------------------

    def _check_commit(self, row: Mapping[Any, Any], bodies: Bodies) -> None:
        version: int = row["thread_version"]
        self._add(version, self._density.add_commit(row))
        try:
            verify_commit_row(row)
            self._fold.add(row)
        except (CorruptLog, ValidationError, KeyError) as error:
            # The row and what is compared with it cannot be told apart any more.
            self._add(version, [_words(error)])
            return
        pruned = self._density.is_pruned(row["branch"], version)
        self._add(version, self._check_place(row, pruned=pruned))
        if row["branch"] in self._branches:
            self._add(version, self._density.check_count(row))
            self._add(version, check_bodies(row, bodies, pruned=pruned))
        elif bodies.messages or bodies.cells:
            self._add(version, [f"rows of its branch {row['branch']!r} are there, and it is not"])

    def _check_place(self, row: Mapping[Any, Any], *, pruned: bool) -> Iterator[str]:
        run = self._fold.made.runs[row["run_id"]]
        if run["branch"] != row["branch"]:
            yield f"run {row['run_id']} was opened on branch {run['branch']!r}"
        if row["branch"] not in self._branches and not pruned:
            yield f"its branch {row['branch']!r} is missing"
        owner = self._owners_of(row["run_id"]).get(row["owner_epoch"])
        if owner is None or owner.last_ordinal >= row["ordinal"]:
            yield f"nobody owned run {row['run_id']} under epoch {row['owner_epoch']} then"

    def _without_commit(self, found: AtVersion) -> Iterator[str]:
        """Check what the commits left that pruning took: messages, and cells of the thread."""
        if self._density.is_due(found.version):
            count = sum(len(rows) for rows in found.bodies)
            verb = "is" if count == 1 else "are"
            yield f"commit {found.version} is missing, {counted(count, 'row')} of it {verb} there"
            return
        for name, rows in (("messages", found.bodies.messages), ("state", found.bodies.cells)):
            for row in rows:
                yield from check_checksum(row, name)
                kept = row["branch"] in self._branches and row.get("scope") != "run"
                if not kept or not self._density.is_pruned(row["branch"], found.version):
                    yield f"a row of {name} on branch {row['branch']!r} belongs to no commit"
        for row in found.bodies.rows:
            yield f"{row['kind']} {row['node_id']}:{row['occurrence']} belongs to no commit"

    # --- what is beside the commits -----------------------------------------------------------

    def _read_branches(self) -> dict[str, StoredBranch]:
        try:
            found = read_branches(self._connection, self._thread_id)
        except (CorruptLog, ValidationError) as error:
            self._add(None, [_words(error)])
            return {}
        return {branch.name: branch for branch in found}

    def _base_of(self, branch: str) -> int | None:
        found = self._branches.get(branch)
        return None if found is None else count_messages(self._connection, found.lineage)

    def _check_branches(self) -> Iterator[str]:
        for branch in self._branches.values():
            for point in branch.lineage:
                if not self._exists(point):
                    yield (
                        f"branch {branch.name!r} stands on thread {point.thread_id!r}, branch "
                        f"{point.branch!r} up to {point.up_to}, which is not there"
                    )

    def _exists(self, point: BranchPoint) -> bool:
        try:
            return read_branch(self._connection, point.thread_id, point.branch) is not None
        except CorruptLog:
            return False

    def _owners_of(self, run_id: str) -> Mapping[int, StoredOwner]:
        if run_id not in self._owners:
            self._owners[run_id] = {}
            try:
                owners = read_owners(self._connection, run_id)
                self._owners[run_id] = {owner.owner_epoch: owner for owner in owners}
            except (CorruptLog, ValidationError) as error:
                self._add(None, [_words(error)])
        return self._owners[run_id]

    def _check_owners(self) -> Iterator[str]:
        for run_id in self._fold.made.runs:
            epochs = list(self._owners_of(run_id))
            if epochs != list(range(1, len(epochs) + 1)):
                yield f"run {run_id} was owned under the epochs {epochs}, one is missing"

    def _check_effects(self) -> Iterator[str]:
        for row in self._connection.execute(_EFFECTS, {"thread": self._thread_id}).mappings():
            if row["run_id"] not in self._fold.made.runs:
                yield f"effect {row['effect_key']} is of run {row['run_id']}, which has no commit"
            try:
                check_effect_row(row)
            except CorruptLog as error:
                yield error.message

    def _check_graphs(self) -> Iterator[str]:
        # A log that keeps no graph at all was not written by runs of graphs.
        if self._connection.execute(_ANY_GRAPH).first() is None:
            return
        pinned = Counter(
            (run["graph_id"], run["graph_digest"]) for run in self._fold.made.runs.values()
        )
        for (graph_id, digest), count in pinned.items():
            named = {"graph": graph_id, "digest": digest}
            if self._connection.execute(_GRAPH, named).first() is None:
                pinned_by = f"pinned by {counted(count, 'run')}"
                yield f"graph {graph_id}@{digest[:16]}, {pinned_by}, is missing"

    def _check_last(self) -> Iterator[str]:
        stored = read_projections(self._connection, self._thread_id)
        missing = missing_commits(self._thread_id, stored, self._density.last_version)
        if missing is not None:
            yield missing

    def _check_projections(self) -> Iterator[str]:
        made, stored = self._fold.made, read_projections(self._connection, self._thread_id)
        for name, expected, found in zip(Projections._fields, made, stored, strict=True):
            for key in {**expected, **found}:
                differing = differing_columns(found.get(key), expected.get(key))
                if differing:
                    yield (
                        f"the row {key} of {name} is not what the commits make ({differing}); "
                        "fermata rebuild makes it again"
                    )


def verify_thread(connection: Connection, thread_id: str) -> list[Finding]:
    """Return everything of a thread that is not as it was accepted.

    Raises:
        CorruptLog: The database itself cannot be read on.
    """
    return ThreadVerification(connection, thread_id).verify()


def _words(error: Exception) -> str:
    if isinstance(error, CorruptLog):
        return error.message
    return f"it cannot be read: {' '.join(str(error).split())}"
