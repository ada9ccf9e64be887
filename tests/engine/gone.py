"""Runs whose workflow is gone, so that the log alone knows of them."""

import asyncio
from dataclasses import dataclass
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from seeding.model import JsonObject
from tests.engine.graphs import held_chain, review, until_called
from tests.engine.nodes import GATES
from tests.engine.stage import Handle, Stage, until


@dataclass(frozen=True)
class Gone:
    """A paused run whose workflow was terminated."""

    run_id: str
    ticket: str
    state: JsonObject


async def terminated(handle: Handle) -> None:
    """Terminate a run's workflow."""
    await handle.terminate(reason="lost")
    assert (await handle.describe()).status == WorkflowExecutionStatus.TERMINATED


async def deleted(handle: Handle) -> None:
    """Delete a run's workflow, history and all."""
    client = client_of(handle)
    await client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(
                workflow_id=handle.id, run_id=handle.first_execution_run_id or ""
            ),
        )
    )
    for _ in range(400):
        try:
            await handle.describe()
        except RPCError as error:
            assert error.status == RPCStatusCode.NOT_FOUND
            return
        await asyncio.sleep(0.025)
    raise AssertionError(f"{handle.id} was never deleted")


def client_of(handle: Handle) -> Any:
    """Return the client a handle was made by."""
    return handle._client  # pyright: ignore[reportPrivateUsage]


async def gone_while_paused(stage: Stage, thread: str) -> Gone:
    """Leave a run at its gate, its workflow terminated."""
    handle = await stage.start(thread, review(500))
    state = await until(handle, "awaiting")
    await terminated(handle)
    ticket = state["run"]["waitingFor"][0]["ticket"]
    return Gone(str(handle.first_execution_run_id), ticket, state)


async def gone_while_running(stage: Stage, thread: str) -> str:
    """Leave a run in the middle of its first node, its workflow terminated."""
    handle = await stage.start(thread, graph=held_chain(thread), data={"kept": 1})
    await until_called(thread, "first:0")
    await terminated(handle)
    GATES[thread].set()
    return str(handle.first_execution_run_id)
