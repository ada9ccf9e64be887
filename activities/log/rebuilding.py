"""Making the projections again from the truth, as a part of the log (AW-52)."""

from functools import partial

from sqlalchemy import Connection

from activities.log.facts import read_thread_head
from activities.log.known_threads import check_known
from activities.log.log_writer import LogWriter
from activities.log.projecting import missing_commits
from activities.log.projections import (
    make_projections,
    read_projections,
    read_version_beside,
    remove_stray_tickets,
    write_projections,
)
from seeding.errors import CorruptLog
from seeding.model import Model


class RebuiltThread(Model):
    """What rebuilding changed on one thread: how many rows were written anew or removed."""

    thread_id: str
    threads: int
    runs: int
    tickets: int


class DamagedThread(Model):
    """A thread whose projections stayed as they were, because its commits are damaged."""

    thread_id: str
    what: str


class RebuildReport(Model):
    """What rebuilding came to.

    Attributes:
        looked_at: How many threads were compared with their commits.
        changed: Those whose rows were not what their commits make.
        stray_tickets: Tickets removed because their run has no commit at all.
        damaged: Those that could not be rebuilt.
    """

    looked_at: int
    changed: tuple[RebuiltThread, ...] = ()
    stray_tickets: int = 0
    damaged: tuple[DamagedThread, ...] = ()


class Rebuilding(LogWriter):
    """The part of the log that makes thread heads, runs and tickets again from the commits."""

    def rebuild(self, thread_id: str | None = None) -> RebuildReport:
        """Make the projections of one thread, or of all, again from the commits (AW-52).

        Each thread is one transaction under its lock, so others go on, and one that is
        interrupted leaves each thread either as it was or made again: it is simply run again.
        Rows that are right are not written. A thread whose commits are damaged stays as it is
        and is reported; the others are made again all the same.

        Raises:
            UnknownThread: The log holds nothing of ``thread_id``.
            CommitUnavailable: The database did not answer; threads before are made again.
        """
        done: list[RebuiltThread] = []
        damaged: list[DamagedThread] = []
        stray = 0
        for name in self.thread_names() if thread_id is None else [thread_id]:
            try:
                done.append(self._write(partial(_rebuild, thread_id=name), f"rebuilding {name}"))
            except CorruptLog as error:
                damaged.append(DamagedThread(thread_id=name, what=error.message))
        if thread_id is None:
            stray = self._write(remove_stray_tickets, "removing the tickets of no run")
        return RebuildReport(
            looked_at=len(done) + len(damaged),
            changed=tuple(one for one in done if one.threads or one.runs or one.tickets),
            stray_tickets=stray,
            damaged=tuple(damaged),
        )


def _rebuild(connection: Connection, *, thread_id: str) -> RebuiltThread:
    read_thread_head(connection, thread_id)
    check_known(connection, thread_id)
    made = make_projections(connection, thread_id)
    stored = read_projections(connection, thread_id)
    head = made.threads.get(thread_id)
    last = 0 if head is None else head["version"]
    beside = read_version_beside(connection, thread_id)
    missing = missing_commits(thread_id, stored, last, beside)
    if missing is not None:
        raise CorruptLog(f"{missing}; its lists stay as they are")
    heads, runs, tickets = write_projections(connection, stored, made)
    return RebuiltThread(thread_id=thread_id, threads=heads, runs=runs, tickets=tickets)
