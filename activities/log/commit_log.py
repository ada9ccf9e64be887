"""The commit log: one truth about threads and runs, one way to change it."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Self, TypeVar

from sqlalchemy import Connection, Engine

from activities.log.async_reader import AsyncLogReader
from activities.log.dialect import open_engine, storage_errors, writing
from activities.log.forgetting import forget_run
from activities.log.graphs import write_graph
from activities.log.migrations import is_current, prepare_schema
from activities.log.ownership import take_over
from activities.log.records import iso
from activities.log.stored import Execution
from activities.log.transaction import CommitTransaction
from activities.log.waiting import in_executor, submit
from seeding.commits import BatchReceipt, CommitOperation, Receipt, Refusal, TicketTimes
from seeding.errors import CommitRefused
from seeding.model import JsonObject

_T = TypeVar("_T")


def _now() -> datetime:
    return datetime.now(UTC)


class CommitLog(AsyncLogReader):
    """An append-only log of commits in a SQL database.

    Writes run one after the other on a thread of the log's own, each a whole transaction in one
    hop; several processes may have the same log open. Use it as a context manager, or close it.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime]) -> None:
        super().__init__(engine)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="log-writer")
        self._clock = clock
        self._patient = writing(engine, quick=False)
        self._quick = writing(engine, quick=True)

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
        prepare = partial(log._in_transaction, prepare_schema, f"opening {url}")
        try:
            if not is_current(url):
                submit(log._writer, prepare).result()
        except BaseException:
            log.close()
            raise
        return log

    def close(self) -> None:
        """Finish what was handed over and close the file."""
        self._writer.shutdown()
        super().close()

    # --- appending ----------------------------------------------------------------------------

    def append(
        self,
        operations: Sequence[CommitOperation],
        *,
        whole: bool = False,
        quick: bool = False,
        execution: Execution | None = None,
    ) -> BatchReceipt:
        """Append operations in one transaction, each judged for itself and in turn.

        An operation that was accepted before gets its first receipt and times again, as a
        duplicate. The first refused one ends the list; those before it stay accepted.

        Args:
            operations: The operations, in the order in which they are to be judged.
            whole: Accept all of them or none.
            quick: Wait 200 ms for a lock that another process holds, not 5 seconds.
            execution: Temporal's names of the execution that opens a run here, for its owner row.

        Returns:
            How many were accepted, the last one's receipt, the times of every ticket that an
            accepted operation opened, and why the list ended early, if it did.

        Raises:
            CommitUnavailable: Nothing was written, or it is not known whether it was: send the
                same operations again.
            CorruptLog: What the operations stand on is damaged.
        """
        return submit(self._writer, self._append(operations, whole, quick, execution)).result()

    async def append_async(
        self,
        operations: Sequence[CommitOperation],
        *,
        whole: bool = False,
        quick: bool = False,
        execution: Execution | None = None,
    ) -> BatchReceipt:
        """Do what :meth:`append` does, in one hop off the event loop."""
        return await in_executor(self._writer, self._append(operations, whole, quick, execution))

    def _append(
        self,
        operations: Sequence[CommitOperation],
        whole: bool,
        quick: bool,
        execution: Execution | None,
    ) -> Callable[[], BatchReceipt]:
        owner = execution or Execution()
        append = partial(self._append_now, owner=owner, whole=whole, quick=quick)
        return partial(append, tuple(operations))

    def _append_now(
        self, operations: tuple[CommitOperation, ...], *, owner: Execution, whole: bool, quick: bool
    ) -> BatchReceipt:
        if not operations:
            return BatchReceipt(accepted=0)
        with self._writing("appending", quick=quick) as connection:
            transaction = CommitTransaction(connection, operations, self._clock(), owner)
            receipts, times, refusal = _apply_each(transaction, operations)
            if refusal is not None and whole:
                return BatchReceipt(accepted=0, refusal=refusal)
            if receipts:
                transaction.write()
        return BatchReceipt(
            accepted=len(receipts),
            receipt=receipts[-1] if receipts else None,
            times=tuple(times),
            refusal=refusal,
        )

    # --- other writes -------------------------------------------------------------------------

    def take_over(self, run_id: str, chain_id: str, execution: Execution | None = None) -> int:
        """Make an execution chain the owner of a run and return its owner epoch.

        The chain that owns the run already keeps its epoch; another one gets the next, and
        every writer before it is fenced.

        Raises:
            RunTerminal: The run has ended.
            UnknownThread: The log has no such run.
        """
        return submit(self._writer, self._taking_over(run_id, chain_id, execution)).result()

    async def take_over_async(
        self, run_id: str, chain_id: str, execution: Execution | None = None
    ) -> int:
        """Do what :meth:`take_over` does, in one hop off the event loop."""
        return await in_executor(self._writer, self._taking_over(run_id, chain_id, execution))

    def _taking_over(
        self, run_id: str, chain_id: str, execution: Execution | None
    ) -> Callable[[], int]:
        owner = execution or Execution()

        def work(connection: Connection) -> int:
            return take_over(connection, run_id, chain_id, owner, iso(self._clock()))

        return partial(self._in_transaction, work, f"taking over run {run_id}")

    def put_graph(self, digest: str, graph_id: str, body: JsonObject) -> None:
        """Keep a graph document under its digest; the first one of a digest and id stays."""
        submit(self._writer, self._keeping(digest, graph_id, body)).result()

    async def put_graph_async(self, digest: str, graph_id: str, body: JsonObject) -> None:
        """Do what :meth:`put_graph` does, in one hop off the event loop."""
        await in_executor(self._writer, self._keeping(digest, graph_id, body))

    def _keeping(self, digest: str, graph_id: str, body: JsonObject) -> Callable[[], None]:
        def work(connection: Connection) -> None:
            write_graph(connection, digest, graph_id, body, iso(self._clock()))

        return partial(self._in_transaction, work, f"keeping graph {graph_id}")

    def forget_run(self, run_id: str) -> None:
        """Remove an ended ephemeral run and all it left; one that is gone stays gone.

        Raises:
            InvalidCommit: The run is not ephemeral, has not ended, or is not its thread's last.
        """
        submit(self._writer, self._forgetting(run_id)).result()

    async def forget_run_async(self, run_id: str) -> None:
        """Do what :meth:`forget_run` does, in one hop off the event loop."""
        await in_executor(self._writer, self._forgetting(run_id))

    def _forgetting(self, run_id: str) -> Callable[[], None]:
        def work(connection: Connection) -> None:
            forget_run(connection, run_id)

        return partial(self._in_transaction, work, f"forgetting run {run_id}")

    def _in_transaction(self, work: Callable[[Connection], _T], doing: str) -> _T:
        with self._writing(doing, quick=False) as connection:
            return work(connection)

    @contextmanager
    def _writing(self, doing: str, *, quick: bool) -> Generator[Connection, None, None]:
        engine = self._quick if quick else self._patient
        with storage_errors(doing), engine.begin() as connection:
            yield connection


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
