"""The reads of the log for an event loop: each is one hop to a thread that may block."""

from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Engine

from activities.log.reader import LogReader
from activities.log.waiting import in_executor

_P = ParamSpec("_P")
_T = TypeVar("_T")

_READERS = 4


def _off_loop(
    read: Callable[Concatenate[LogReader, _P], _T],
) -> Callable[Concatenate["AsyncLogReader", _P], Coroutine[Any, Any, _T]]:
    @wraps(read)
    async def reading(log: "AsyncLogReader", /, *arguments: _P.args, **named: _P.kwargs) -> _T:
        return await in_executor(log.readers, partial(read, log, *arguments, **named))

    return reading


class AsyncLogReader(LogReader):
    """Every read of :class:`LogReader` once more under its name with ``_async`` behind it.

    Use it as a context manager, or close it.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.readers = ThreadPoolExecutor(_READERS, thread_name_prefix="log-reader")

    def close(self) -> None:
        """Finish what was handed over and close the database."""
        self.readers.shutdown()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    run_async = _off_loop(LogReader.run)
    latest_run_async = _off_loop(LogReader.latest_run)
    run_of_chain_async = _off_loop(LogReader.run_of_chain)
    run_of_key_async = _off_loop(LogReader.run_of_key)
    queued_turn_async = _off_loop(LogReader.queued_turn)
    queued_turn_of_key_async = _off_loop(LogReader.queued_turn_of_key)
    first_queued_async = _off_loop(LogReader.first_queued)
    queued_turns_async = _off_loop(LogReader.queued_turns)
    count_ahead_async = _off_loop(LogReader.count_ahead)
    threads_with_queue_async = _off_loop(LogReader.threads_with_queue)
    count_queued_async = _off_loop(LogReader.count_queued)
    runs_async = _off_loop(LogReader.runs)
    threads_async = _off_loop(LogReader.threads)
    highest_epoch_async = _off_loop(LogReader.highest_epoch)
    thread_version_async = _off_loop(LogReader.thread_version)
    open_tickets_async = _off_loop(LogReader.open_tickets)
    closed_tickets_async = _off_loop(LogReader.closed_tickets)
    owners_async = _off_loop(LogReader.owners)
    branches_async = _off_loop(LogReader.branches)
    branch_count_async = _off_loop(LogReader.branch_count)
    lineage_async = _off_loop(LogReader.lineage)
    messages_async = _off_loop(LogReader.messages)
    commits_async = _off_loop(LogReader.commits)
    state_async = _off_loop(LogReader.state)
    checkpoints_async = _off_loop(LogReader.checkpoints)
    checkpoint_async = _off_loop(LogReader.checkpoint)
    is_pruned_async = _off_loop(LogReader.is_pruned)
    position_async = _off_loop(LogReader.position)
    outputs_async = _off_loop(LogReader.outputs)
    all_outputs_async = _off_loop(LogReader.all_outputs)
    rows_async = _off_loop(LogReader.rows)
    effects_async = _off_loop(LogReader.effects)
    events_async = _off_loop(LogReader.events)
    verify_async = _off_loop(LogReader.verify)
    transcript_async = _off_loop(LogReader.transcript)
    transcript_messages_async = _off_loop(LogReader.transcript_messages)
    prunable_threads_async = _off_loop(LogReader.prunable_threads)
    prunable_async = _off_loop(LogReader.prunable)
    graph_async = _off_loop(LogReader.graph)
    graphs_named_async = _off_loop(LogReader.graphs_named)
