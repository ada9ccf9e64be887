"""The first run on a server that has just started.

A new server answers before it has loaded its namespaces and queues; a poll that comes too early
is refused and tried again after a pause. What a test waits for must not include that.
"""

import uuid

from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker


@workflow.defn(name="FirstRun")
class FirstRun:
    """Ends at once."""

    @workflow.run
    async def run(self) -> None:
        """Do nothing."""


async def run_first(client: Client) -> None:
    """Return when the server has run something from its start to its end."""
    queue = f"first-{uuid.uuid4().hex}"
    async with Worker(
        client,
        task_queue=queue,
        workflows=[FirstRun],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        await client.execute_workflow(FirstRun.run, id=queue, task_queue=queue)
