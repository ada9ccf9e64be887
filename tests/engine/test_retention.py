"""What Temporal no longer has, and what was pruned: threads go on from the log all the same."""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from activities.results import run_result
from client.erasing import erase_thread
from client.executions import delete_executions
from client.reading import runs_document, state_document
from tests.engine.graphs import review
from tests.engine.refused_starts import GOOD, refused_start
from tests.engine.stage import Handle, Stage

SOON = 60.0


def prune(stage: Stage) -> None:
    """Prune whatever may go."""
    stage.log.prune(older_than=timedelta(0), keep=0, apply=True)


async def turn(stage: Stage, thread: str, message: str) -> Handle:
    """Play one turn of the expense review to its end."""
    handle = await stage.start(
        thread, {**review(50, 60), "message": message, "data": {message: True}}
    )
    await handle.result()
    return handle


async def test_runs_and_causes_are_served_from_the_log_once_temporal_has_forgotten_them(
    stage: Stage,
) -> None:
    """AW-74."""
    thread = "forgotten"
    first = await turn(stage, thread, "one")
    result = await first.result()
    assert await delete_executions(stage.client, thread, within=SOON) == 1
    await _gone(stage.client, thread)

    (run,) = runs_document(stage.log, thread)
    assert (run["runId"], run["cause"]) == (
        first.first_execution_run_id,
        {"kind": "NaturalEnd", "message": None, "details": {}},
    )
    assert run["result"] == result
    assert state_document(stage.log, thread)["data"] == {"one": True}

    second = await turn(stage, thread, "two")
    assert (await second.result())["start"]["source"] == "thread"
    state = state_document(stage.log, thread)
    assert state["data"] == {"one": True, "two": True}
    assert [message["content"] for message in state["messages"] if message["role"] == "user"] == [
        "one",
        "two",
    ]


async def test_the_next_turn_on_a_pruned_thread_starts_as_on_one_that_is_whole(
    stage: Stage,
) -> None:
    for thread in ("pruned", "whole"):
        for message in ("one", "two", "three"):
            await turn(stage, thread, message)
    stage.log.prune("pruned", older_than=timedelta(0), keep=0, apply=True)
    assert [run.pruned for run in stage.log.runs("pruned")] == [True, True, False]

    seeds = [
        await (await turn(stage, thread, "four")).query("state") for thread in ("pruned", "whole")
    ]

    documents = [state_document(stage.log, thread) for thread in ("pruned", "whole")]
    for state in (*seeds, *documents):
        for name in ("run", "threadId"):
            del state[name]
        state["messages"] = _texts(state["messages"])
    assert seeds[0] == seeds[1]
    assert documents[0] == documents[1]


async def test_a_start_from_a_pruned_checkpoint_is_told_that_it_was_pruned(stage: Stage) -> None:
    thread = "told"
    first = await turn(stage, thread, "one")
    await turn(stage, thread, "two")
    prune(stage)
    named = f"{first.first_execution_run_id}:2"

    fork = await refused_start(stage, thread, {**GOOD, "forkFrom": named})
    assert fork.code == "UnknownCheckpoint"
    assert fork.message.startswith(f"forkFrom names checkpoint '{named}', which was pruned; ")

    config = {"onUnknownCheckpoint": "refuse"}
    asked = await refused_start(stage, thread, {**GOOD, "checkpointId": named, "config": config})
    assert asked.code == "UnknownCheckpoint"
    assert asked.message.startswith(f"checkpointId names checkpoint '{named}', which was pruned; ")

    fresh = await stage.run(thread, {**GOOD, "checkpointId": named})
    assert fresh["start"]["source"] == "fresh"
    (warning,) = fresh["warnings"]
    assert warning["code"] == "unknown_checkpoint"
    assert warning["message"].startswith(f"checkpoint '{named}' was pruned; the run starts fresh")


async def test_a_workflow_that_is_reset_after_its_run_was_pruned_closes_as_it_did(
    stage: Stage,
) -> None:
    """What is left says how the run ended; nothing is executed or written again."""
    thread = "reset-when-pruned"
    first = await turn(stage, thread, "one")
    await turn(stage, thread, "two")
    prune(stage)
    run_id = str(first.first_execution_run_id)
    version = stage.log.thread_version(thread)

    answer = await stage.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=stage.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=f"thread/{thread}", run_id=run_id),
            reason="for the test",
            workflow_task_finish_event_id=4,
            request_id=thread,
        )
    )

    again: Handle = stage.client.get_workflow_handle(f"thread/{thread}", run_id=answer.run_id)
    result = await again.result()
    assert result == run_result(stage.log, run_id)
    assert (result["status"], result["results"], result["pruned"]) == ("completed", {}, True)
    assert stage.log.thread_version(thread) == version


async def test_a_deleted_thread_is_as_one_that_never_was(stage: Stage) -> None:
    thread = "erased"
    await turn(stage, thread, "one")
    erased = await erase_thread(stage.log, stage.client, thread)
    assert erased.log is not None
    assert (erased.executions, erased.log.rows["runs"], erased.log.overwritten) == (1, 1, True)

    again = await turn(stage, thread, "two")

    assert (await again.result())["start"]["source"] == "fresh"
    assert state_document(stage.log, thread)["data"] == {"two": True}
    (run,) = stage.log.runs(thread)
    assert (run.run_id, run.run_epoch) == (again.first_execution_run_id, 1)


def _texts(messages: Any) -> Any:
    """Return what does not differ from thread to thread; the query gives the count alone."""
    if "count" in messages:
        return messages["count"]
    return [(message["role"], message["content"]) for message in messages]


async def _gone(client: Client, thread: str) -> None:
    """Wait until the server has done what it accepted: it deletes in the background."""
    for _ in range(400):
        try:
            await client.get_workflow_handle(f"thread/{thread}").describe()
        except RPCError as error:
            assert error.status == RPCStatusCode.NOT_FOUND, error
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"the server still has thread {thread}")
