"""The log is ahead of the workflow: it restores from the log, and never fails for it.

A commit may be on disk while the workflow task that decided it is lost or reset; decided again
with newer events, the same ordinal would say something else (prototypes, A1).
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResetReapplyType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

from tests.engine.stage import Handle, Stage, is_cancelled, until

MODULE = "tests.engine.worker_process"
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def worker_process(stage: Stage, *fault: str) -> Generator["subprocess.Popen[bytes]"]:
    """Run a worker in a process of its own; it is killed at the latest when the block ends."""
    address = stage.client.service_client.config.target_host
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, address, stage.task_queue, stage.log_url, *fault],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'temporal-dev'}"},
        stdout=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


async def until_exists(path: Path) -> None:
    for _ in range(1500):
        if path.exists():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{path} was never written")


async def until_waiting_for(handle: Handle, ticket: str) -> dict[str, Any]:
    """The run's state once it waits for a ticket."""
    state: dict[str, Any] = {}
    for _ in range(400):
        state = await handle.query("state")
        if ticket in [waiting["ticket"] for waiting in state["run"]["waitingFor"]]:
            return state
        await asyncio.sleep(0.02)
    raise AssertionError(f"never waited for {ticket}; the state is {state}")


async def count_of(handle: Handle, activity: str) -> int:
    """How often an activity of a type was scheduled in a run's history."""
    return sum(
        event.activity_task_scheduled_event_attributes.activity_type.name == activity
        for event in (await handle.fetch_history()).events
    )


def dense_ordinals(stage: Stage, thread: str) -> None:
    commits = stage.log.commits(thread)
    assert [commit.operation.ordinal for commit in commits] == list(range(len(commits)))


@pytest.mark.parametrize("arrives", ["nothing", "cancel", "native cancel", "pause"])
async def test_a_commit_whose_workflow_task_was_lost_is_restored_whatever_arrives_meanwhile(
    stage: Stage, tmp_path: Path, arrives: str
) -> None:
    """The worker dies after the commit of a batch, before its acknowledgement."""
    thread = f"lost-task-{arrives.replace(' ', '-')}"
    await stage.stop()
    appended, calls, go = tmp_path / "appended", tmp_path / "calls", tmp_path / "go"
    graph: dict[str, Any] = {
        "id": "lost-task",
        "nodes": [
            {"id": "first", "type": "noop"},
            {"id": "tell", "type": "reply", "config": {"message": "done"}},
            {
                "id": "last",
                "type": "waits_for_file",
                "config": {"path": str(go), "calls": str(calls)},
            },
        ],
        "edges": ["first.value -> tell.message", "tell.message -> last.message"],
    }
    with worker_process(stage, "2", str(appended)) as process:
        handle = await stage.client.start_workflow(
            "Run",
            {"graph": graph},
            id=f"thread/{thread}",
            task_queue=stage.task_queue,
            task_timeout=timedelta(seconds=1),
        )
        await until_exists(appended)
        process.kill()
        process.wait()
    if arrives == "cancel":
        await handle.signal("cancel", {})
    elif arrives == "native cancel":
        await handle.cancel()
    elif arrives == "pause":
        await handle.signal("pause", {"reason": "lunch"})
    await stage.serve()
    if arrives == "pause":
        await until(handle, "paused")
        assert not calls.exists()
        await handle.signal("resume", {})
    go.write_text("go")
    if "cancel" in arrives:
        assert await is_cancelled(handle)
        assert not calls.exists()
    else:
        result = await handle.result()
        assert list(result["results"]) == ["first", "tell", "last"]
        assert len(calls.read_text().split()) == 1
    assert [message["content"] for message in stage.log.messages(thread)] == ["done"]
    dense_ordinals(stage, thread)
    restored = 0 if arrives == "nothing" else 1
    assert await count_of(handle, "seed_run") == 1 + restored


async def reset_before(client: Client, handle: Handle, event_type: "EventType.ValueType") -> None:
    """Reset a run to the workflow task before the first event of a type, forgetting it."""
    events = (await handle.fetch_history()).events
    found = next(event.event_id for event in events if event.event_type == event_type)
    task = max(
        event.event_id
        for event in events
        if event.event_id < found
        and event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    )
    described = await handle.describe()
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=described.run_id),
            reason="test",
            request_id=f"reset-{handle.id}",
            workflow_task_finish_event_id=task,
            reset_reapply_type=ResetReapplyType.RESET_REAPPLY_TYPE_NONE,
        )
    )


async def test_a_run_reset_to_before_its_answer_goes_on_from_what_the_log_holds(
    stage: Stage,
) -> None:
    started = await stage.start(
        "reset-live", graph="expense-review", input={"items": {"value": [150, 160]}}
    )
    await until(started, "awaiting")
    run_id = started.first_execution_run_id
    await started.signal("resume", {"ticket": f"{run_id}:gate:0:0", "decision": "approve"})
    handle: Handle = stage.client.get_workflow_handle(started.id)
    second = await until_waiting_for(handle, f"{run_id}:gate:1:0")
    assert second["run"]["waitingFor"][0]["ticket"] == f"{run_id}:gate:1:0"
    stored = stage.log.commits("reset-live")

    await reset_before(stage.client, started, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
    await until(handle, "awaiting")
    await handle.signal("resume", {"ticket": f"{run_id}:gate:0:0", "decision": "deny"})
    assert await until_waiting_for(handle, f"{run_id}:gate:1:0") == second
    assert stage.log.commits("reset-live") == stored

    await handle.signal("resume", {"ticket": f"{run_id}:gate:1:0", "decision": "approve"})
    result = await handle.result()
    assert result["runId"] == run_id
    assert result["results"]["each:2"]["collected_results"] == ["approve", "approve"]
    dense_ordinals(stage, "reset-live")


async def test_an_ended_run_reset_to_its_first_task_closes_as_the_log_says(
    stage: Stage,
) -> None:
    """Prototypes A5: no second turn, nothing written, no node runs again."""
    started = await stage.start(
        "reset-ended", graph="expense-review", input={"items": {"value": [50]}}
    )
    before = await started.result()
    stored = stage.log.commits("reset-ended")
    await reset_before(stage.client, started, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
    handle: Handle = stage.client.get_workflow_handle(started.id)
    assert await handle.result() == before
    assert stage.log.commits("reset-ended") == stored
