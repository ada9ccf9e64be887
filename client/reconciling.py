"""Runs that the log and the server disagree about: found, and put right (awaken 4.8).

The log says which runs have not ended; the server says which of them somebody executes. A run
that waits and lost its workflow is taken over, so that it can be answered; one left running is
recovered, at most five times without a commit in between, and then ended as ``Indeterminate``;
a workflow that outlived its run's end is cancelled. A run that belongs to another namespace may be
executed there: it is shown, and never touched from here, by whatever way that became known.
"""

from collections.abc import AsyncGenerator
from typing import Literal

from temporalio.client import Client

from activities.ending_operation import ending_operation
from activities.log import CommitLog, LogReader, StoredRun
from activities.lost_executions import reason_of_loss
from activities.queueing import wake
from activities.thread_facts import run_fact
from client.calls import call_server
from client.live_runs import DEFAULT_SECONDS
from client.reading import graph_name
from client.reconcile_line import reconcile_line
from client.threads import Threads
from seeding.errors import FermataError, InvalidRequest, UnknownThread
from seeding.facts import is_elsewhere
from seeding.identity import checkpoint_id, thread_of_workflow, workflow_id
from seeding.model import Model
from seeding.request import RunRequest
from seeding.run_endings import is_spent, lost_cause

Action = Literal["adopt", "recover", "end", "cancel", "leave"]

REPAIR_SECONDS = 10.0
"""How long one run's repair may take to be seen."""


class Finding(Model):
    """One run that the log and the server disagree about.

    Attributes:
        phase: What the log says of it.
        reason: What became of its workflow, where the server knows.
        action: What puts it right; ``leave`` where that cannot be told from here.
        namespace: The namespace it belongs to, where that is another one.
        takeovers: How often it was taken over since its last commit.
        repaired: What came of the repair; None where none was asked for.
    """

    thread_id: str
    run_id: str
    checkpoint_id: str
    phase: str
    reason: str | None = None
    action: Action
    namespace: str | None = None
    takeovers: int = 0
    repaired: str | None = None


async def find(
    client: Client, threads: Threads, log: LogReader, thread_id: str | None = None
) -> list[Finding]:
    """Return the runs that the log and the server disagree about, by thread.

    Args:
        client: The server's client.
        threads: The runs of its threads.
        log: The log.
        thread_id: The one thread to look at; by default all.

    Raises:
        UnknownThread: The log has no run of the thread.
        ServerUnreachable: The server did not answer.
    """
    found = [
        finding
        for run in _runs(log, thread_id)
        if run.phase != "ended" and (finding := await _lost(client, threads, log, run)) is not None
    ]
    async for finding in _outlived(client, log, thread_id):
        found.append(finding)
    return sorted(found, key=lambda finding: finding.thread_id)


async def repair(threads: Threads, log: CommitLog, client: Client, finding: Finding) -> Finding:
    """Put one finding right, and return it with what came of it.

    Raises:
        ServerUnreachable: The server did not answer.
    """
    try:
        done = await _repaired(threads, log, client, finding)
    except FermataError as error:
        done = f"{error.code}: {error.message}"
    return finding.model_copy(update={"repaired": done})


async def wake_queues(
    log: CommitLog, client: Client, task_queue: str, thread_id: str | None
) -> None:
    """Have the queue of a thread, or of all threads, look whether a turn can start.

    It is for a queue whose own workflow is gone, and for what has been put right just now.

    Raises:
        ServerUnreachable: The server did not answer.
    """
    for name in log.threads_with_queue():
        if thread_id in (None, name):
            await call_server(name, wake(client, name, task_queue), seconds=DEFAULT_SECONDS)


async def _repaired(threads: Threads, log: CommitLog, client: Client, finding: Finding) -> str:
    run = log.run(finding.run_id)
    if run is None:
        return "the log has no such run any more"
    if finding.action == "cancel":
        await client.get_workflow_handle(workflow_id(run.thread_id)).cancel()
        return "its workflow was asked to cancel"
    if run.phase == "ended":
        return "it has ended meanwhile"
    owner = log.owners(run.run_id)[-1].execution.namespace
    if finding.action == "leave" or is_elsewhere(owner, client.namespace):
        return f"left alone; see to it there: {reconcile_line(run.thread_id, namespace=owner)}"
    if finding.action == "end":
        return _end(log, run)
    return await _take_over(threads, run)


async def _take_over(threads: Threads, run: StoredRun) -> str:
    request = RunRequest.model_validate({"graph": graph_name(run), "recover": True})
    started = await threads.start(run.thread_id, request)
    if not await threads.opened(run.thread_id, started.run_id, within=REPAIR_SECONDS):
        return await threads.why_waiting(run.thread_id) or "its start waits for a worker"
    return "it goes on"


def _end(log: CommitLog, run: StoredRun) -> str:
    cause = lost_cause(run_fact(log, run))
    epoch = log.take_over(run.run_id, f"reconciled/{run.run_id}/{run.owner_epoch}")
    ending = ending_operation(log, run, cause, owner_epoch=epoch, thread_version=run.thread_version)
    receipt = log.append([ending])
    if receipt.refusal is not None:
        return f"{receipt.refusal.code}: {receipt.refusal.message}"
    return f"it has ended: {cause.kind}"


def _runs(log: LogReader, thread_id: str | None) -> list[StoredRun]:
    if thread_id is None:
        return [thread.run for thread in log.threads()]
    run = log.latest_run(thread_id)
    if run is None:
        raise log.without_run(thread_id)
    return [run]


async def _lost(client: Client, threads: Threads, log: LogReader, run: StoredRun) -> Finding | None:
    """Return what to do about a run that nothing executes; None where something may."""
    owner = log.owners(run.run_id)[-1]
    if is_elsewhere(owner.execution.namespace, client.namespace):
        return _elsewhere(run, owner.execution.namespace)
    try:
        if await threads.open_execution(run.thread_id) is not None:
            return None  # Its own, or a start that decides about it at this moment.
    except UnknownThread:
        pass  # The server forgets what is closed.
    reason = await reason_of_loss(
        client,
        workflow_id(run.thread_id),
        owner.execution.execution_run_id or owner.chain_id,
    )
    fact = run_fact(log, run, reason)
    action: Action = "adopt"
    if run.phase == "running":
        action = "end" if is_spent(fact) else "recover"
    return Finding(
        thread_id=run.thread_id,
        run_id=run.run_id,
        checkpoint_id=checkpoint_id(run.run_id, run.last_ordinal),
        phase=run.phase,
        reason=reason,
        action=action,
        takeovers=fact.takeovers,
    )


def _elsewhere(run: StoredRun, namespace: str | None) -> Finding:
    return Finding(
        thread_id=run.thread_id,
        run_id=run.run_id,
        checkpoint_id=checkpoint_id(run.run_id, run.last_ordinal),
        phase=run.phase,
        reason=f"it belongs to namespace {namespace!r}",
        action="leave",
        namespace=namespace,
    )


async def _outlived(
    client: Client, log: LogReader, thread_id: str | None
) -> AsyncGenerator[Finding]:
    """Yield the runs that have ended and whose workflow is open all the same."""
    open_runs = client.list_workflows("WorkflowType = 'Run' AND ExecutionStatus = 'Running'")
    async for execution in open_runs:
        try:
            named = thread_of_workflow(execution.id)
        except InvalidRequest:
            continue
        if thread_id not in (None, named):
            continue
        described = await client.get_workflow_handle(
            execution.id, run_id=execution.run_id
        ).describe()
        run = log.run_of_chain(described.raw_info.first_run_id)
        if run is not None and run.phase == "ended":
            yield Finding(
                thread_id=named,
                run_id=run.run_id,
                checkpoint_id=checkpoint_id(run.run_id, run.last_ordinal),
                phase=run.phase,
                reason="its workflow is open after its end",
                action="cancel",
            )
