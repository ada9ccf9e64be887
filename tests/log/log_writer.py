"""A writer on a log under test: it counts ordinals and versions.

Also what every test needs past the log: whole dumps, changed rows, held locks, other processes.
"""

import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, select

from activities.log import CommitLog
from activities.log.tables import metadata
from seeding.commits import (
    BatchReceipt,
    CauseKind,
    CommitOperation,
    Disposition,
    EndCause,
    Opening,
    StateCommand,
    ThreadCommit,
    operation,
)
from seeding.identity import ticket_id
from seeding.model import Json, JsonObject
from seeding.tickets import Ticket, TicketClosing

NOON = datetime(2030, 1, 2, 12, 0, 0, tzinfo=UTC)


class Clock:
    """A clock that moves one second with every reading."""

    def __init__(self) -> None:
        self.moment = NOON - timedelta(seconds=1)

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


def message(identity: str, content: Json = "hello") -> JsonObject:
    return {"id": identity, "role": "user", "content": content}


def put(
    key: str,
    value: Json,
    cell: Any = "data",
    policy: Any = "disjoint",
) -> StateCommand:
    scope = "run" if cell == "position" else "thread"
    return StateCommand(scope=scope, cell=cell, key=key, value=value, policy=policy)


def drop(key: str, cell: Any = "data") -> StateCommand:
    scope = "run" if cell == "position" else "thread"
    return StateCommand(op="remove", scope=scope, cell=cell, key=key)


def opening(**changes: Any) -> Opening:
    given: dict[str, Any] = {
        "run_epoch": 1,
        "chain_id": "chain-1",
        "graph_id": "greet",
        "graph_digest": "f" * 64,
        **changes,
    }
    return Opening(**given)


class Writer:
    """Sends commits of one run, each at the next ordinal and the thread's version."""

    def __init__(self, log: CommitLog, run_id: str = "r1", thread_id: str = "t") -> None:
        self.log = log
        self.run_id = run_id
        self.thread_id = thread_id
        self.owner_epoch = 1
        self.ordinal = 0
        self.version = log.thread_version(thread_id)
        self.tickets: tuple[Ticket, ...] = ()

    def ticket(self, node: str = "gate", n: int = 0, **changes: Any) -> Ticket:
        given: dict[str, Any] = {
            "ticket": ticket_id(self.run_id, node, 0, n),
            "run_id": self.run_id,
            "thread_id": self.thread_id,
            "node_id": node,
            "occurrence": 0,
            "kind": "approval",
            **changes,
        }
        return Ticket(**given)

    def commit(
        self,
        kind: Any = "Running",
        *,
        cause: EndCause | None = None,
        named: Sequence[Ticket] = (),
        **parts: Any,
    ) -> ThreadCommit:
        said = Disposition(
            kind=kind, tickets=tuple(ticket.reference for ticket in named), cause=cause
        )
        return ThreadCommit(thread_id=self.thread_id, run_id=self.run_id, disposition=said, **parts)

    def make(self, commit: ThreadCommit, **changes: Any) -> CommitOperation:
        given: dict[str, Any] = {
            "ordinal": self.ordinal,
            "owner_epoch": self.owner_epoch,
            "expected_thread_version": self.version,
            **changes,
        }
        return operation(commit, **given)

    def ending(self, kind: CauseKind = "NaturalEnd", text: str | None = None) -> CommitOperation:
        closed = tuple(
            TicketClosing(ticket=ticket.ticket, outcome="cancelled") for ticket in self.tickets
        )
        cause = EndCause(kind=kind, message=text)
        return self.make(self.commit("Ended", cause=cause, closed=closed, checkpoint="end"))

    def send(self, operation: CommitOperation) -> BatchReceipt:
        """Append one operation that must be accepted."""
        answer = self.log.append([operation])
        assert answer.refusal is None, answer.refusal
        self.ordinal += 1
        self.version += 1
        return answer

    def open(self, *, kind: Any = "Running", how: Opening | None = None, **parts: Any) -> str:
        self.send(self.make(self.commit(kind, opening=how or opening(), **parts)))
        return self.at

    def step(self, **parts: Any) -> str:
        """Append one completion; returns its checkpoint id."""
        kind = "Awaiting" if self.tickets else "Running"
        self.send(self.make(self.commit(kind, named=self.tickets, **parts)))
        return self.at

    def wait(self, *opened: Ticket, **parts: Any) -> BatchReceipt:
        self.tickets = (*self.tickets, *opened)
        return self.send(
            self.make(self.commit("Awaiting", named=self.tickets, opened=opened, **parts))
        )

    def answer(self, ticket: Ticket, decision: str = "approve", **parts: Any) -> str:
        self.tickets = tuple(kept for kept in self.tickets if kept.ticket != ticket.ticket)
        closing = TicketClosing(ticket=ticket.ticket, outcome="answered", decision=decision)
        return self.step(closed=(closing,), **parts)

    def end(self, kind: CauseKind = "NaturalEnd", text: str | None = None) -> str:
        self.send(self.ending(kind, text))
        self.tickets = ()
        return self.at

    @property
    def at(self) -> str:
        """The checkpoint id of the last commit."""
        return f"{self.run_id}:{self.ordinal - 1}"


def next_turn(before: Writer, run_id: str, **how: Any) -> Writer:
    """Open the next run of a thread whose run has ended."""
    writer = Writer(before.log, run_id, before.thread_id)
    given = {"run_epoch": 2, "chain_id": f"chain-{run_id}", **how}
    writer.open(how=opening(**given))
    return writer


def dump(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, in a fixed order."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in metadata.sorted_tables
        }
    engine.dispose()
    return found


def change(url: str, *statements: str) -> None:
    """Change rows or tables past the log."""
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


@contextmanager
def locked(url: str) -> Generator[None]:
    """Another connection holds the lock that a writer of thread t needs."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    if engine.name == "sqlite":
        begin = ("BEGIN IMMEDIATE",)
    else:
        begin = ("BEGIN", "SELECT 1 FROM threads WHERE thread_id = 't' FOR UPDATE")
    with engine.connect() as other:
        for statement in begin:
            other.exec_driver_sql(statement)
        yield
        other.exec_driver_sql("ROLLBACK")
    engine.dispose()


def process(script: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a script of this folder in a process of its own; it waits for a line."""
    here = Path(__file__).parent
    return subprocess.Popen(
        [sys.executable, str(here / script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(here.parent.parent)},
    )


def finished(started: "subprocess.Popen[str]") -> str:
    """Let a process begin and return what it printed, once it has ended well."""
    printed, _ = started.communicate("\n", timeout=100)
    assert started.returncode == 0
    return printed
