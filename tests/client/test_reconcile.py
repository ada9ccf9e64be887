"""Runs that a lost cluster left behind are reported and put right (AW-14, AW-17)."""

import asyncio
from typing import Any

import pytest
from live_stage import REVIEW, SOON, Served
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle

from activities.ending_operation import ending_operation
from activities.log import CommitLog, Execution
from client import reconciling
from client.log_opening import open_log, open_writable_log
from client.reconciling import Finding
from client.waiting import tickets_document
from seeding.commits import EndCause
from seeding.model import JsonObject, as_list
from tests.engine.test_log_ahead import reset_before

DELAYED: JsonObject = {
    "graph": {
        "id": "delayed",
        "nodes": [{"id": "wait", "type": "delay", "config": {"duration": "1h"}}],
        "edges": [],
    }
}


async def found(served: Served, thread: str, *, repair: bool = False) -> list[Finding]:
    with open_writable_log(served.configured.log_url) as log:
        findings = await reconciling.find(served.client, served.threads, log, thread)
        if not repair:
            return findings
        return [
            await reconciling.repair(served.threads, log, served.client, finding)
            for finding in findings
        ]


def handle_of(served: Served, thread: str) -> WorkflowHandle[Any, Any]:
    return served.client.get_workflow_handle(f"thread/{thread}")


async def started(served: Served, thread: str, request: JsonObject) -> str:
    run = await served.threads.start(thread, request)
    assert await served.threads.opened(thread, run.run_id, within=SOON)
    return run.run_id


async def test_a_paused_run_without_a_workflow_is_taken_over_and_can_be_answered(
    served: Served, thread: str
) -> None:
    run = await started(served, thread, REVIEW)
    waiting = await served.threads.wait(thread, within=SOON)
    assert await found(served, thread) == []
    await handle_of(served, thread).terminate(reason="cluster lost")

    (finding,) = await found(served, thread)
    assert (finding.run_id, finding.phase, finding.action) == (run, "awaiting", "adopt")
    assert (finding.reason, finding.repaired) == ("terminated: cluster lost", None)
    (repaired,) = await found(served, thread, repair=True)
    assert repaired.repaired == "it goes on"

    assert await found(served, thread) == []
    ticket = waiting.tickets[0].ticket
    await served.threads.resume(thread, ticket=ticket, decision="approve")
    ended = await served.threads.wait(thread, within=SOON, answered=[ticket])
    assert ended.result is not None
    assert (ended.result["runId"], ended.result["status"]) == (run, "completed")


async def test_a_run_left_running_is_recovered_five_times_and_then_ended(
    served: Served, thread: str
) -> None:
    """AW-14: a sixth takeover is not started."""
    run = await started(served, thread, DELAYED)
    for takeovers in range(5):
        await handle_of(served, thread).terminate(reason="again")
        (finding,) = await found(served, thread, repair=True)
        assert (finding.action, finding.takeovers) == ("recover", takeovers)
        assert finding.repaired == "it goes on"
    await handle_of(served, thread).terminate(reason="again")

    (finding,) = await found(served, thread, repair=True)

    assert (finding.action, finding.takeovers) == ("end", 5)
    assert finding.repaired == "it has ended: Indeterminate"
    assert await found(served, thread) == []
    with open_writable_log(served.configured.log_url) as log:
        (ended,) = log.runs(thread)
    assert ended.cause is not None
    assert (ended.run_id, ended.cause.kind) == (run, "Indeterminate")


@pytest.mark.parametrize("again", [False, True], ids=["as its owner", "as another owner"])
async def test_a_workflow_that_outlived_the_end_of_its_run_closes_without_an_effect(
    served: Served, thread: str, again: bool
) -> None:
    """AW-17: the log wins; it is fenced, or restores and closes with the committed cause."""
    run = await started(served, thread, REVIEW)
    await served.threads.wait(thread, within=SOON)
    with open_writable_log(served.configured.log_url) as log:
        end_beside(log, run, as_another=again)
        commits = log.commits(thread)

    (finding,) = await found(served, thread, repair=True)
    assert (finding.action, finding.reason) == ("cancel", "its workflow is open after its end")

    handle = handle_of(served, thread)
    for _ in range(400):
        if (await handle.describe()).close_time is not None:
            break
        await asyncio.sleep(0.025)
    closed = (await handle.describe()).status
    assert closed == (WorkflowExecutionStatus.FAILED if again else WorkflowExecutionStatus.CANCELED)
    with open_writable_log(served.configured.log_url) as log:
        assert log.commits(thread) == commits
    assert await found(served, thread) == []


async def test_a_run_of_another_namespace_is_shown_and_never_touched(
    served: Served, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await started(served, thread, REVIEW)
    await served.threads.wait(thread, within=SOON)
    take_over(served, run, namespace="elsewhere")

    (finding,) = await found(served, thread, repair=True)

    assert (finding.action, finding.namespace) == ("leave", "elsewhere")
    assert finding.reason == "it belongs to namespace 'elsewhere'"
    assert finding.repaired == (
        f"left alone; see to it there: TEMPORAL_NAMESPACE=elsewhere fermata reconcile {thread}"
    )
    with open_writable_log(served.configured.log_url) as log:
        assert [owner.chain_id for owner in log.owners(run)] == [run, "another chain"]
    assert await live(served, thread, monkeypatch) == ["unknown"]


async def test_a_fenced_execution_is_not_called_live(
    served: Served, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await started(served, thread, REVIEW)
    await served.threads.wait(thread, within=SOON)
    assert await live(served, thread, monkeypatch) == ["yes"]

    take_over(served, run, namespace=served.client.namespace)

    assert await live(served, thread, monkeypatch) == ["no"]


async def test_an_owner_recorded_without_a_namespace_is_taken_to_be_here(
    served: Served, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await started(served, thread, REVIEW)
    await served.threads.wait(thread, within=SOON)
    await handle_of(served, thread).terminate(reason="cluster lost")
    take_over(served, run, namespace="")

    assert await live(served, thread, monkeypatch) == ["no"]
    (repaired,) = await found(served, thread, repair=True)

    assert (repaired.action, repaired.repaired) == ("adopt", "it goes on")
    assert await live(served, thread, monkeypatch) == ["yes"]


async def test_a_chain_that_was_reset_and_owns_its_run_again_is_live(
    served: Served, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await started(served, thread, REVIEW)
    await served.threads.wait(thread, within=SOON)
    take_over(served, run, namespace=served.client.namespace)
    first = handle_of(served, thread)

    await reset_before(served.client, first, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
    await served.threads.wait(thread, within=SOON)

    assert await live(served, thread, monkeypatch) == ["yes"]
    with open_log(served.configured.log_url) as log:
        assert [owner.chain_id for owner in log.owners(run)] == [run, "another chain", run]


def take_over(served: Served, run: str, *, namespace: str) -> None:
    """Have another chain own a run whose workflow is still open."""
    with open_writable_log(served.configured.log_url) as log:
        log.take_over(run, "another chain", Execution(execution_run_id="x", namespace=namespace))


async def live(served: Served, thread: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    for name, value in served.environment().items():
        monkeypatch.setenv(name, value)
    with open_log(served.configured.log_url) as log:
        return [ticket["live"] for ticket in await tickets_document(log, thread)]


def end_beside(log: CommitLog, run_id: str, *, as_another: bool) -> None:
    """End a run in the log, its workflow still open."""
    run = log.run(run_id)
    assert run is not None
    epoch = log.take_over(run_id, "reconciler") if as_another else run.owner_epoch
    cause = EndCause(kind="Cancelled", message="by hand")
    ending = ending_operation(log, run, cause, owner_epoch=epoch, thread_version=run.thread_version)
    assert log.append([ending]).refusal is None


async def test_the_verb_prints_what_it_found_and_what_came_of_it(here: Served, thread: str) -> None:
    await started(here, thread, REVIEW)
    await here.threads.wait(thread, within=SOON)
    await handle_of(here, thread).terminate(reason="cluster lost")

    listed = await here.answer("reconcile", thread)
    assert "adopt" in listed.out
    assert "terminated: cluster lost" in listed.out
    (repaired,) = (
        as_list((await here.answer("reconcile", thread, "--repair", "--json")).document) or []
    )
    assert repaired["repaired"] == "it goes on"
    agreed = await here.answer("reconcile", thread)
    assert (agreed.code, agreed.out) == (0, "the log and the server agree\n")


async def test_an_unknown_thread_is_refused(here: Served) -> None:
    answer = await here.answer("reconcile", "nobody")
    assert answer.refusal == "UnknownThread: the log has no run of thread 'nobody'"
