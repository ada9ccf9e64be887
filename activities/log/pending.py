"""Rows a writing transaction has decided on and not written yet.

They are written together, one statement a table, after the last operation was judged: a batch
of small commits costs little more than one. Until then the transaction reads through here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, insert, update

from activities.log.cells import CellGroup
from activities.log.effect_rows import OUTCOME_PART
from activities.log.tables import (
    branches,
    cells,
    commits,
    effects,
    messages,
    run_owners,
    run_rows,
    runs,
    threads,
    tickets,
)
from seeding.commits import BranchPoint

Row = dict[str, Any]

RUN_CHANGES = (
    "phase",
    "cause",
    "result",
    "last_ordinal",
    "last_version",
    "message_count",
    "ended_at",
)

_INSERTED = (commits, threads, branches, runs, run_owners, messages, cells, run_rows, tickets)
_INSERT = {table.name: insert(table) for table in _INSERTED}
_UPDATE_RUN = (
    update(runs)
    .where(runs.c.run_id == bindparam("of_run"))
    .values({name: bindparam(f"new_{name}") for name in RUN_CHANGES})
)
_UPDATE_THREAD = (
    update(threads)
    .where(threads.c.thread_id == bindparam("of_thread"))
    .values(version=bindparam("new_version"), head_run_id=bindparam("new_head"))
)
_CLOSE_TICKET = (
    update(tickets)
    .where(tickets.c.ticket == bindparam("of_ticket"))
    .values(closed_version=bindparam("new_version"), closing=bindparam("new_closing"))
)
_DROP_OUTCOMES = (
    update(effects)
    .where(effects.c.run_id == bindparam("of_run"), effects.c.outcome.is_not(None))
    .values(outcome=None, checksum=effects.c.checksum - effects.c.checksum % OUTCOME_PART)
)


class PendingRows:
    """The rows to insert, by table, and the projections to change."""

    def __init__(self) -> None:
        self._inserts: dict[str, list[Row]] = {table.name: [] for table in _INSERTED}
        self._new_threads: dict[str, Row] = {}
        self._new_runs: dict[str, Row] = {}
        self._new_tickets: dict[str, Row] = {}
        self._threads: dict[str, Row] = {}
        self._runs: dict[str, Row] = {}
        self._closed: list[Row] = []
        self._ended: list[Row] = []

    def add(self, table: Table, row: Row) -> None:
        """Insert a row of the append-only tables."""
        self._inserts[table.name].append(row)

    def open_run(self, row: Row) -> None:
        """Insert a run; later changes of this transaction go into the same row."""
        self._new_runs[row["run_id"]] = row
        self.add(runs, row)

    def change_run(self, run_id: str, changes: Mapping[str, Any]) -> None:
        """Set the columns ``RUN_CHANGES`` of a run."""
        if run_id in self._new_runs:
            self._new_runs[run_id].update(changes)
            return
        changed: Row = {f"new_{name}": value for name, value in changes.items()}
        self._runs[run_id] = {"of_run": run_id, **changed}

    def set_thread(self, thread_id: str, version: int, head_run_id: str, *, new: bool) -> None:
        """Move the head of a thread, or insert a thread's first."""
        if new:
            row: Row = {"thread_id": thread_id}
            self._new_threads[thread_id] = row
            self.add(threads, row)
        if thread_id in self._new_threads:
            self._new_threads[thread_id].update(version=version, head_run_id=head_run_id)
            return
        self._threads[thread_id] = {
            "of_thread": thread_id,
            "new_version": version,
            "new_head": head_run_id,
        }

    def open_ticket(self, row: Row) -> None:
        """Insert an open ticket."""
        self._new_tickets[row["ticket"]] = row
        self.add(tickets, row)

    def close_ticket(self, ticket: str, version: int, closing: str) -> None:
        """Record how a ticket left ``open``."""
        if ticket in self._new_tickets:
            self._new_tickets[ticket].update(closed_version=version, closing=closing)
            return
        self._closed.append({"of_ticket": ticket, "new_version": version, "new_closing": closing})

    def drop_outcomes(self, run_id: str) -> None:
        """Drop what the effects of an ended run came to; none of them is ever asked for again."""
        self._ended.append({"of_run": run_id})

    def knows_ticket(self, ticket: str) -> bool:
        """Whether this transaction opened the ticket."""
        return ticket in self._new_tickets

    def count_messages(self, lineage: Sequence[BranchPoint]) -> int:
        """Return how many messages a lineage holds by what is pending; 0 where nothing is."""
        reach = {(point.thread_id, point.branch): point.up_to for point in lineage}
        return max(
            (
                row["message_count"]
                for row in self._inserts[commits.name]
                if row["thread_version"] <= reach.get((row["thread_id"], row["branch"]), -1)
            ),
            default=0,
        )

    def cell(self, places: Sequence[tuple[BranchPoint, CellGroup]], key: str) -> Row | None:
        """Return the pending row of a cell that counts at ``places``, or None.

        It is newer than every stored one: a branch that stands on a pending commit is pending.
        """
        reach = {(point.thread_id, point.branch, *group): point.up_to for point, group in places}
        for row in reversed(self._inserts[cells.name]):
            name = (row["thread_id"], row["branch"], row["scope"], row["owner"], row["cell"])
            if row["key"] == key and row["version"] <= reach.get(name, -1):
                return row
        return None

    def write(self, connection: Connection) -> None:
        """Write everything, the commits first because other rows name them."""
        for name, rows in self._inserts.items():
            if rows:
                connection.execute(_INSERT[name], rows)
        for statement, changes in (
            (_UPDATE_RUN, list(self._runs.values())),
            (_UPDATE_THREAD, list(self._threads.values())),
            (_CLOSE_TICKET, self._closed),
            (_DROP_OUTCOMES, self._ended),
        ):
            if changes:
                connection.execute(statement, changes)
