"""Erasing a thread: what Temporal keeps of it first, then what the log holds.

That order can be repeated: while the log still has the thread, the verb is simply run again,
whatever it had come to. The log is asked before anything goes whether it may.
"""

import asyncio
from collections.abc import Sequence
from shlex import quote

from temporalio.client import Client

from activities.log import CommitLog, DeleteReport
from client.executions import delete_executions
from seeding.errors import ThreadInUse, UnknownThread
from seeding.facts import is_elsewhere
from seeding.model import Model

CALL_SECONDS = 10.0
"""How long the server has for each call."""


class Erasure(Model):
    """What went of a thread.

    Attributes:
        executions: How many executions the server had; None where it was not asked.
        log: What went from the log; None where it had nothing of the thread.
        elsewhere: Namespaces other than the client's in which the thread's runs were executed
            too, and whose executions are not deleted.
    """

    thread_id: str
    executions: int | None
    log: DeleteReport | None
    elsewhere: tuple[str, ...] = ()


async def erase_thread(
    log: CommitLog, client: Client | None, thread_id: str, *, within: float = CALL_SECONDS
) -> Erasure:
    """Erase everything that a thread left.

    Args:
        log: The log.
        client: A client of the server; None leaves what Temporal keeps where it is.
        thread_id: The thread.
        within: Seconds the server has for each call.

    Raises:
        UnknownThread: Neither has anything of it.
        ThreadInUse: A run of it is open, or it cannot be told without the server, or not from
            this namespace.
        ThreadStoodOn: Branches of other threads stand on it.
        ServerUnreachable: The server did not answer; run it again.
        CallRefused: The server refused a call.
    """
    try:
        gone = log.deletable(thread_id)
    except UnknownThread as unknown:
        return await _without_log(client, thread_id, unknown, within)
    if client is None:
        report = await asyncio.to_thread(log.delete_thread, thread_id)
        return Erasure(thread_id=thread_id, executions=None, log=report)
    _check_owners_are_here(log, client, thread_id, gone)
    owners = [owner.execution for run in log.runs(thread_id) for owner in log.owners(run.run_id)]
    namespaces = dict.fromkeys(owner.namespace for owner in owners if owner.namespace)
    known = [
        owner.execution_run_id
        for owner in owners
        if owner.execution_run_id and not is_elsewhere(owner.namespace, client.namespace)
    ]
    executions = await delete_executions(client, thread_id, known, within=within)
    # A run that was opened after the server was asked is not among those that are gone.
    return Erasure(
        thread_id=thread_id,
        executions=executions,
        log=await asyncio.to_thread(log.delete_thread, thread_id, gone=gone),
        elsewhere=tuple(name for name in namespaces if name != client.namespace),
    )


def _check_owners_are_here(
    log: CommitLog, client: Client, thread_id: str, not_ended: Sequence[str]
) -> None:
    """Refuse to erase what another namespace may still execute.

    Raises:
        ThreadInUse: A run that has not ended has its owner elsewhere.
    """
    for run_id in not_ended:
        namespace = log.owners(run_id)[-1].execution.namespace
        if is_elsewhere(namespace, client.namespace):
            there = f"TEMPORAL_NAMESPACE={quote(namespace or '')}"
            raise ThreadInUse(
                f"run {run_id} of thread {thread_id!r} has not ended and belongs to namespace "
                f"{namespace!r}; cancel it there first: {there} fermata cancel {quote(thread_id)}",
                runId=run_id,
                namespace=namespace,
            )


async def _without_log(
    client: Client | None, thread_id: str, unknown: UnknownThread, within: float
) -> Erasure:
    executions = 0
    if client is not None:
        executions = await delete_executions(client, thread_id, within=within)
    if executions == 0:
        raise unknown
    return Erasure(thread_id=thread_id, executions=executions, log=None)
