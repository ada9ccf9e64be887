"""The executions that Temporal keeps of a thread, open or closed: found, and deleted."""

from collections.abc import Iterable
from datetime import timedelta
from shlex import quote
from typing import NamedTuple

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus

from client.calls import call_server
from seeding.errors import ThreadInUse, UnknownThread
from seeding.identity import workflow_id

CHILDREN = "/flow/"
"""What stands between a thread's workflow id and the number of a child run."""


class Execution(NamedTuple):
    """One execution, by both of its ids."""

    workflow_id: str
    run_id: str


async def delete_executions(
    client: Client, thread_id: str, known: Iterable[str] = (), *, within: float
) -> int:
    """Delete what the server keeps of a thread's runs and of their child runs.

    Args:
        client: The client.
        thread_id: The thread.
        known: Run ids of executions of the thread that are known from elsewhere; the server
            lists one that closed a moment ago only a little later.
        within: Seconds the server has for each call.

    Returns:
        How many it had.

    Raises:
        ThreadInUse: One of them is open; nothing was deleted.
        ServerUnreachable: The server did not answer. What it deleted by then is gone, and the
            same call may be made again.
        CallRefused: The server refused a call.
    """
    name = workflow_id(thread_id)
    found = dict.fromkeys(Execution(name, run_id) for run_id in known)
    for execution in (Execution(name, ""), *await _listed(client, thread_id, within)):
        described = await _describe(client, thread_id, execution, within)
        if described is None:
            continue
        if described.status == WorkflowExecutionStatus.RUNNING:
            raise ThreadInUse(
                f"run {described.run_id} of {described.id} is open; cancel it first: "
                f"fermata cancel {quote(thread_id)}",
                runId=described.run_id,
            )
        found[Execution(described.id, described.run_id)] = None
    deleted = [await _delete(client, thread_id, execution, within) for execution in found]
    return sum(deleted)


async def _listed(client: Client, thread_id: str, within: float) -> list[Execution]:
    async def listed() -> list[Execution]:
        query = _query(workflow_id(thread_id))
        return [Execution(item.id, item.run_id) async for item in client.list_workflows(query)]

    return await call_server(thread_id, listed(), seconds=within)


def _query(name: str) -> str:
    own, children = (_quoted(text) for text in (name, name + CHILDREN))
    return f"WorkflowId = {own} OR WorkflowId STARTS_WITH {children}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


async def _describe(
    client: Client, thread_id: str, execution: Execution, within: float
) -> WorkflowExecutionDescription | None:
    handle = client.get_workflow_handle(execution.workflow_id, run_id=execution.run_id or None)
    call = handle.describe(rpc_timeout=timedelta(seconds=within))
    try:
        return await call_server(thread_id, call, seconds=within)
    except UnknownThread:
        return None


async def _delete(client: Client, thread_id: str, execution: Execution, within: float) -> int:
    """Delete one execution; return 0 for one that is not there."""
    request = DeleteWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_execution=WorkflowExecution(
            workflow_id=execution.workflow_id, run_id=execution.run_id
        ),
    )
    call = client.workflow_service.delete_workflow_execution(
        request, timeout=timedelta(seconds=within)
    )
    try:
        await call_server(thread_id, call, seconds=within)
    except UnknownThread:
        return 0
    return 1
