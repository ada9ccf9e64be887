"""What is said of a run that the server does not have open: the log tells which case it is.

The server forgets runs and the log does not, so what a command meets there is explained here,
for every verb alike: the thread was never there, has no run yet, has ended, lost its workflow, or
belongs to another namespace.
"""

from shlex import quote

from activities.log import AsyncLogReader, StoredRun
from client.errors_of_temporal import nothing_open
from client.forked_threads import find_forked
from client.reconcile_line import reconcile_line
from seeding.errors import FermataError, PipelineTerminal, RunLost, UnknownThread
from seeding.facts import is_elsewhere


def explained(
    log: AsyncLogReader,
    thread_id: str,
    namespace: str,
    error: UnknownThread | PipelineTerminal | RunLost,
) -> FermataError:
    """Return what a command raises that found no open run of a thread on the server.

    Args:
        log: The log.
        thread_id: The thread.
        namespace: The namespace that was asked.
        error: What the server's answer comes to by itself.

    Returns:
        ``error`` itself where the log has nothing to add.
    """
    run = log.latest_run(thread_id)
    if run is None:
        return error if find_forked(log, thread_id) is None else log.without_run(thread_id)
    if run.phase == "ended":
        return _ended(run) if isinstance(error, UnknownThread) else error
    owner = log.owners(run.run_id)[-1].execution.namespace
    if is_elsewhere(owner, namespace):
        return _elsewhere(run, namespace, str(owner))
    if isinstance(error, UnknownThread):
        return nothing_open(thread_id)
    return _lost(run, error) if isinstance(error, RunLost) else error


def _ended(run: StoredRun) -> PipelineTerminal:
    return PipelineTerminal(
        f"no run of thread {run.thread_id!r} is open: its last one, {run.run_id}, has ended; start "
        "the next turn on the thread"
    )


def _elsewhere(run: StoredRun, asked: str, owner: str) -> UnknownThread:
    return UnknownThread(
        f"namespace {asked!r} has no open run of thread {run.thread_id!r}: run {run.run_id} "
        f"belongs to namespace {owner!r}; say the same with TEMPORAL_NAMESPACE={quote(owner)}"
    )


def _lost(run: StoredRun, error: RunLost) -> RunLost:
    line = reconcile_line(run.thread_id, repair=True)
    return RunLost(f"{error.message}; it has not ended, take it over: {line}")
