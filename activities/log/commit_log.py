"""The commit log: one truth about threads and runs, one way to change it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, Self

from sqlalchemy import Connection, update

from activities.log.branching import Branching
from activities.log.dialect import open_engine, shown, storage_errors, write_problem
from activities.log.effect_ledger import EffectLedger
from activities.log.forgetting import forget_run
from activities.log.graphs import write_graph
from activities.log.migrations import is_current, prepare_schema
from activities.log.missing_runs import not_in_log
from activities.log.queueing import Queueing
from activities.log.rebuilding import Rebuilding
from activities.log.retention import Retention
from activities.log.run_ownership import RunOwnership
from activities.log.stored import Execution, PinnedGraph
from activities.log.tables import schema_version
from activities.log.transaction import CommitTransaction
from activities.log.waiting import in_executor, submit
from seeding.commits import BatchReceipt, CommitOperation, Receipt, Refusal, TicketTimes
from seeding.errors import CommitRefused, RunNotInLog
from seeding.model import JsonObject


def _now() -> datetime:
    return datetime.now(UTC)


class _Opening(NamedTuple):
    """What is recorded beside the opening of a run."""

    execution: Execution
    graph: PinnedGraph | None


class CommitLog(RunOwnership, Branching, EffectLedger, Queueing, Retention, Rebuilding):
    """An append-only log of commits in a SQL database.

    Writes run one after the other on a thread of the log's own, each a whole transaction in one
    hop; several processes may have the same log open. Use it as a context manager, or close it.
    """

    is_new: bool = False
    """Whether there was no log and an empty one was made when it was opened."""

    @classmethod
    def open(cls, url: str, *, clock: Callable[[], datetime] = _now) -> Self:
        """Open the log at ``url``, making its folder, file and tables where they are missing.

        A log that has them is not written to, and opens while another process writes.

        Args:
            url: An SQLAlchemy URL, such as ``sqlite:///.fermata/log.db``.
            clock: Returns the time, with its zone, that commits and tickets are given.

        Raises:
            LogError: The URL names no file, or a database that is not known yet.
            NewerLog: A newer version of this project wrote the log.
            CommitUnavailable: The file cannot be opened, or has to be changed and stays locked
                for 5 seconds.
            CorruptLog: The file is no log; it was left as it is.
        """
        log = cls(open_engine(url), clock)
        try:
            if not is_current(url):
                log.is_new = log._write(prepare_schema, f"opening {shown(url)}")
        except BaseException:
            log.close()
            raise
        return log

    @property
    def place(self) -> str:
        """Where the log is: its URL, without what is secret in it."""
        return shown(self._engine.url)

    def lacks(self, what: str) -> RunNotInLog:
        """Return the error that says what of an open run the log does not have, and where it is.

        Args:
            what: It, as the end of a sentence about the log.
        """
        return not_in_log(self._engine.url, what)

    def write_problem(self) -> str | None:
        """Return why the log takes no writes now; None where it does, or somebody else writes.

        Raises:
            CommitUnavailable: It does not answer at all.
        """
        same = update(schema_version).values(version=schema_version.c.version)
        with (
            storage_errors("trying a write", self._engine.url),
            self._quick.connect() as connection,
        ):
            return write_problem(connection, same)

    # --- appending ----------------------------------------------------------------------------

    def append(
        self,
        operations: Sequence[CommitOperation],
        *,
        whole: bool = False,
        quick: bool = False,
        execution: Execution | None = None,
        graph: PinnedGraph | None = None,
    ) -> BatchReceipt:
        """Append operations in one transaction, each judged for itself and in turn.

        An operation that was accepted before gets its first receipt and times again, as a
        duplicate. The first refused one ends the list; those before it stay accepted.

        Args:
            operations: The operations, in the order in which they are to be judged.
            whole: Accept all of them or none.
            quick: Wait 200 ms for a lock that another process holds, not 5 seconds.
            execution: Temporal's names of the execution that opens a run here, for its owner row.
            graph: The graph that run pins, kept in the same transaction.

        Returns:
            How many were accepted, the last one's receipt, the times of every ticket that an
            accepted operation opened, and why the list ended early, if it did.

        Raises:
            CommitUnavailable: Nothing was written, or it is not known whether it was: send the
                same operations again.
            CorruptLog: What the operations stand on is damaged.
        """
        pins = _Opening(execution or Execution(), graph)
        return submit(self._writer, self._append(operations, whole, quick, pins)).result()

    async def append_async(
        self,
        operations: Sequence[CommitOperation],
        *,
        whole: bool = False,
        quick: bool = False,
        execution: Execution | None = None,
        graph: PinnedGraph | None = None,
    ) -> BatchReceipt:
        """Do what :meth:`append` does, in one hop off the event loop."""
        pins = _Opening(execution or Execution(), graph)
        return await in_executor(self._writer, self._append(operations, whole, quick, pins))

    def _append(
        self,
        operations: Sequence[CommitOperation],
        whole: bool,
        quick: bool,
        pins: "_Opening",
    ) -> Callable[[], BatchReceipt]:
        append = partial(self._append_now, pins=pins, whole=whole, quick=quick)
        return partial(append, tuple(operations))

    def _append_now(
        self,
        operations: tuple[CommitOperation, ...],
        *,
        pins: "_Opening",
        whole: bool,
        quick: bool,
    ) -> BatchReceipt:
        if not operations:
            return BatchReceipt(accepted=0)
        with self._writing("appending", quick=quick) as connection:
            transaction = CommitTransaction(connection, operations, self._clock(), pins.execution)
            receipts, times, refusal = _apply_each(transaction, operations)
            if refusal is not None and whole:
                return BatchReceipt(accepted=0, refusal=refusal)
            if receipts:
                transaction.write()
                if pins.graph is not None:
                    write_graph(connection, **dict(pins.graph), at=self._now())
        return BatchReceipt(
            accepted=len(receipts),
            receipt=receipts[-1] if receipts else None,
            times=tuple(times),
            refusal=refusal,
        )

    # --- other writes -------------------------------------------------------------------------

    def put_graph(self, digest: str, graph_id: str, body: JsonObject) -> None:
        """Keep a graph document under its digest; the first one of a digest and id stays."""
        self._write(*self._keeping(digest, graph_id, body))

    async def put_graph_async(self, digest: str, graph_id: str, body: JsonObject) -> None:
        """Do what :meth:`put_graph` does, in one hop off the event loop."""
        await self._write_async(*self._keeping(digest, graph_id, body))

    def _keeping(
        self, digest: str, graph_id: str, body: JsonObject
    ) -> tuple[Callable[[Connection], None], str]:
        work = partial(write_graph, digest=digest, graph_id=graph_id, body=body, at=self._now())
        return work, f"keeping graph {graph_id}"

    def forget_run(self, run_id: str) -> None:
        """Remove an ended ephemeral run and all it left; one that is gone stays gone.

        Raises:
            InvalidCommit: The run is not ephemeral, has not ended, or is not its thread's last.
        """
        self._write(partial(forget_run, run_id=run_id), f"forgetting run {run_id}")

    async def forget_run_async(self, run_id: str) -> None:
        """Do what :meth:`forget_run` does, in one hop off the event loop."""
        await self._write_async(partial(forget_run, run_id=run_id), f"forgetting run {run_id}")


def _apply_each(
    transaction: CommitTransaction, operations: Sequence[CommitOperation]
) -> tuple[list[Receipt], list[TicketTimes], Refusal | None]:
    receipts: list[Receipt] = []
    times: list[TicketTimes] = []
    for operation in operations:
        try:
            receipt, opened = transaction.apply(operation)
        except CommitRefused as error:
            refusal = Refusal(
                code=error.code,
                message=error.message,
                ordinal=operation.ordinal,
                run_id=operation.run_id,
            )
            return receipts, times, refusal
        receipts.append(receipt)
        times.extend(opened)
    return receipts, times, None
