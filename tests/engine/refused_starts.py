"""What every refused start has in common, checked the same way in every test of one."""

from dataclasses import dataclass
from typing import Any

from temporalio.client import WorkflowExecutionStatus

from seeding.model import JsonObject
from tests.engine.stage import Handle, Stage, failure_of

GOOD: JsonObject = {
    "graph": {"id": "good", "nodes": [{"id": "one", "type": "value", "config": {"value": 1}}]}
}
"""A start that succeeds on any thread."""


@dataclass(frozen=True)
class Refusal:
    """What a refused start said.

    Attributes:
        code: The type of the application error that the workflow failed with.
        message: Its message.
        state: The state that query ``state`` shows of it.
    """

    code: str
    message: str
    state: JsonObject


def dump(stage: Stage, thread: str) -> list[Any]:
    """Return all that the log holds of a thread."""
    return [
        stage.log.thread_version(thread),
        stage.log.runs(thread),
        stage.log.commits(thread),
        stage.log.branches(thread),
    ]


async def refusal_of(handle: Handle) -> Refusal:
    """Return what a run that was refused says of itself, and check that it closed Failed."""
    failure = await failure_of(handle)
    assert failure.non_retryable
    assert (await handle.describe()).status == WorkflowExecutionStatus.FAILED
    return Refusal(str(failure.type), failure.message, await handle.query("state"))


async def start_raw(
    stage: Stage, workflow_id: str, arguments: list[Any], workflow_type: str = "Run"
) -> Handle:
    """Start a workflow with just these arguments, whatever they are."""
    return await stage.client.start_workflow(
        workflow_type, args=arguments, id=workflow_id, task_queue=stage.task_queue
    )


async def refused_start(stage: Stage, thread: str, request: Any) -> Refusal:
    """Start a run that must be refused, and check that nothing else came of it.

    The log holds of the thread what it held before, and the next start on it goes through.
    """
    before = dump(stage, thread)
    latest = stage.log.latest_run(thread)
    handle = await start_raw(stage, f"thread/{thread}", [request])
    refusal = await refusal_of(handle)
    assert dump(stage, thread) == before
    last = latest and {
        "runId": latest.run_id,
        "phase": latest.phase,
        "checkpointId": f"{latest.run_id}:{latest.last_ordinal}",
        "cause": latest.cause and latest.cause.kind,
        "tickets": [ticket.body.ticket for ticket in latest.open_tickets],
    }
    assert refusal.state == {
        "threadId": thread,
        "run": {
            "phase": "refused",
            "waitingFor": [],
            "code": refusal.code,
            "message": refusal.message,
            "lastRun": last,
        },
    }
    return refusal


async def starts_well(stage: Stage, thread: str) -> None:
    """Check that a good start on the thread goes through."""
    assert (await stage.run(thread, GOOD))["status"] == "completed"
