"""An effect that finished is never run again: after a kill, a reset, a retry, beside a zombie."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResetReapplyType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client

import activities.run_node
import tests.engine.ledger_nodes as ledger_nodes
import workflows.effects
from activities.log import EffectIntent
from seeding.identity import EffectName, effect_key
from seeding.model import JsonObject
from tests.engine.graphs import graph, until_called
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, failure_of, until
from tests.engine.watched_ledger import watched

assert ledger_nodes.__name__  # Imported for the node types it declares.

ROOT = Path(__file__).resolve().parents[2]
EVENT = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED

CHAIN_TO_GATE: JsonObject = graph(
    "chain-to-gate",
    {"first": "noted", "second": "noted", "gate": "gate", "last": "noted"},
    "first.value -> second.value",
    "second.value -> gate.value",
    "gate.approve -> last.value",
)


def effects_of(stage: Stage, thread: str) -> list[tuple[str, str, str | None, int]]:
    """Node, status, code and attempts of every effect of a thread."""
    return [
        (f"{row.node_id}:{row.occurrence}", row.status, row.code, row.attempts)
        for row in stage.log.effects(thread)
    ]


async def until_true(what: Callable[[], bool]) -> None:
    for _ in range(3000):
        if what():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


async def reset_to_before(
    client: Client, handle: Handle, found: Callable[[HistoryEvent], bool]
) -> Handle:
    """Reset a run to the workflow task before the first such event; return the new execution."""
    events = (await handle.fetch_history()).events
    first = next(event.event_id for event in events if found(event))
    tasks = [
        event.event_id
        for event in events
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
        and event.event_id < first
    ]
    described = await handle.describe()
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=described.run_id),
            reason="test",
            request_id=f"reset-{handle.id}-{first}",
            workflow_task_finish_event_id=tasks[-1],
            reset_reapply_type=ResetReapplyType.RESET_REAPPLY_TYPE_NONE,
        )
    )
    return client.get_workflow_handle(handle.id)


def scheduled(activity: str) -> Callable[[HistoryEvent], bool]:
    """Whether an event schedules an activity of a type."""

    def found(event: HistoryEvent) -> bool:
        kind = event.activity_task_scheduled_event_attributes.activity_type.name
        return event.event_type == EVENT and kind == activity

    return found


# --- a worker that is killed -------------------------------------------------------------------


@asynccontextmanager
async def hanging_worker(stage: Stage, told: Path) -> AsyncGenerator[None]:
    """Serve from a process that hangs after its first effect, until that; then kill it."""
    address = stage.client.service_client.config.target_host
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.engine.ledger_process"),
        *(address, stage.task_queue, stage.log_url, str(told)),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'temporal-dev'}"},
    )
    try:
        yield
        await until_true(told.exists)
    finally:
        process.kill()
        await process.wait()


async def killed_after_its_outcome(stage: Stage, thread: str, tmp_path: Path, to: str) -> Handle:
    """Start a run whose worker dies when its first effect is in the ledger, and serve again."""
    await stage.stop()
    config = {"calls": str(tmp_path / "calls"), "to": to}
    document = graph("counted", {"a": ("counted", config), "b": "noted"}, "a.value -> b.value")
    async with hanging_worker(stage, tmp_path / "told"):
        handle = await stage.client.start_workflow(
            "Run",
            {"graph": document},
            id=f"thread/{thread}",
            task_queue=stage.task_queue,
            task_timeout=timedelta(seconds=1),
        )
    assert len(stage.log.commits(thread)) == 1, "the outcome is not committed"
    await stage.serve()
    return handle


def calls_in(tmp_path: Path) -> list[str]:
    return (tmp_path / "calls").read_text().split()


async def test_a_worker_killed_between_outcome_and_commit_does_not_repeat_the_effect(
    stage: Stage, tmp_path: Path
) -> None:
    """AW-9, PB-B4: one call, one outcome, one commit."""
    handle = await killed_after_its_outcome(stage, "killed-outputs", tmp_path, "outputs")
    result = await handle.result()
    assert result["results"]["a"] == {"value": 7, "nothing": None}
    assert len(calls_in(tmp_path)) == 1
    assert effects_of(stage, "killed-outputs") == [
        ("a:0", "done", None, 1),
        ("b:0", "done", None, 1),
    ]


async def test_a_question_is_not_asked_again_and_the_run_after_the_answer_is_another_effect(
    stage: Stage, tmp_path: Path
) -> None:
    handle = await killed_after_its_outcome(stage, "killed-question", tmp_path, "question")
    [ticket] = (await until(handle, "awaiting"))["run"]["waitingFor"]
    assert len(calls_in(tmp_path)) == 1
    await handle.signal("resume", {"ticket": ticket["ticket"], "value": "savings"})
    assert (await handle.result())["results"]["a"]["value"] == "savings"
    assert len(dict.fromkeys(calls_in(tmp_path))) == 2
    assert [row[1] for row in effects_of(stage, "killed-question")] == ["asked", "done", "done"]


@pytest.mark.parametrize(
    ("to", "code", "error"),
    [("failure", "empty", "no money"), ("crash", "ValueError", "ValueError: boom")],
)
async def test_a_failure_keeps_its_text_and_type_although_its_worker_never_told_it(
    stage: Stage, tmp_path: Path, to: str, code: str, error: str
) -> None:
    thread = f"killed-{to}"
    handle = await killed_after_its_outcome(stage, thread, tmp_path, to)
    assert (await failure_of(handle)).message == error
    run = stage.log.latest_run(thread)
    assert run is not None
    assert run.cause is not None
    assert run.cause.details["code"] == code
    assert len(calls_in(tmp_path)) == 1
    assert effects_of(stage, thread) == [("a:0", "failed", code, 1)]


# --- resets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("activity", ["seed_run", "run_node"])
async def test_a_live_run_that_is_reset_repeats_no_effect_and_changes_no_row(
    stage: Stage, activity: str
) -> None:
    """Prototypes A5."""
    thread = f"reset-live-{activity}"
    started = await stage.start(thread, graph=CHAIN_TO_GATE)
    await until(started, "awaiting")
    before = stage.log.effects(thread)
    commits = stage.log.commits(thread)

    handle = await reset_to_before(stage.client, started, scheduled(activity))
    [ticket] = (await until(handle, "awaiting"))["run"]["waitingFor"]
    assert CALLS[thread] == ["first:0", "second:0"]
    assert stage.log.effects(thread) == before
    assert stage.log.commits(thread) == commits

    await handle.signal("resume", {"ticket": ticket["ticket"], "decision": "approve"})
    assert list((await handle.result())["results"]) == ["first", "second", "gate", "last"]
    assert CALLS[thread] == ["first:0", "second:0", "last:0"]


@pytest.mark.parametrize("activity", ["seed_run", "run_node"])
async def test_an_ended_run_that_is_reset_calls_no_node_and_closes_as_before(
    stage: Stage, activity: str
) -> None:
    thread = f"reset-ended-{activity}"
    started = await stage.start(
        thread, graph=graph("two", {"a": "noted", "b": "noted"}, "a.value -> b.value")
    )
    result = await started.result()
    before = stage.log.effects(thread)
    assert [(row.status, row.outcome) for row in before] == [("done", None)] * 2

    handle = await reset_to_before(stage.client, started, scheduled(activity))
    assert await handle.result() == result
    assert CALLS[thread] == ["a:0", "b:0"]
    assert stage.log.effects(thread) == before


# --- attempts --------------------------------------------------------------------------------


async def test_retries_are_attempts_of_one_effect_and_its_success_is_kept(stage: Stage) -> None:
    thread = "ledger-retries"
    document = graph(
        "flaky-then-gate",
        {"a": ("flaky", {"failures": 2}), "gate": "gate"},
        "a.keys -> gate.keys",
    )
    started = await stage.start(thread, graph=document)
    await until(started, "awaiting")
    assert len(CALLS[thread]) == 3
    assert len(dict.fromkeys(CALLS[thread])) == 1
    assert effects_of(stage, thread) == [("a:0", "done", None, 3)]

    handle = await reset_to_before(stage.client, started, scheduled("run_node"))
    await until(handle, "awaiting")
    assert len(CALLS[thread]) == 3


async def test_a_failure_that_may_be_tried_again_is_in_the_ledger_by_its_code(
    stage: Stage,
) -> None:
    thread = "ledger-flaky"
    document = graph(
        "too-flaky", {"a": ("flaky", {"failures": 9}), "b": "noted"}, "a.error -> b.error"
    )
    await stage.run(thread, {"graph": document})
    assert effects_of(stage, thread)[0] == ("a:0", "begun", "busy", 3)


async def test_pb_e11_an_attempt_that_was_given_up_changes_nothing_when_it_ends_at_last(
    client: Client, log_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that outlives its heartbeats: both attempts finish, the newer one counts."""
    monkeypatch.setattr(activities.run_node, "HEARTBEAT_SECONDS", 3600.0)
    monkeypatch.setattr(workflows.effects, "HEARTBEAT", timedelta(seconds=1))
    thread = "zombie"
    zombie = GATES.setdefault(thread, threading.Event())
    document = graph(
        "zombie",
        {"slow": ("slow_at_first", {"name": thread}), "gate": "gate"},
        "slow.call -> gate.call",
    )
    async with watched(client, log_url) as (stage, log):
        try:
            handle = await stage.start(thread, graph=document)
            [ticket] = (await until(handle, "awaiting"))["run"]["waitingFor"]
            effects, commits = log.effects(thread), log.commits(thread)
        finally:
            zombie.set()
        await until_true(lambda: bool(log.refused))
        assert log.refused == ["Fenced"]
        assert log.effects(thread) == effects
        assert log.commits(thread) == commits
        await handle.signal("resume", {"ticket": ticket["ticket"], "decision": "approve"})
        assert (await handle.result())["results"]["slow"] == {"call": 2}
    assert len(CALLS[thread]) == 2
    assert CALLS[thread][0] == CALLS[thread][1]


async def test_pb_b4_an_approved_effect_with_other_arguments_is_not_run(stage: Stage) -> None:
    thread = "ledger-mismatch"
    handle = await stage.start(
        thread, graph=graph("paid", {"gate": "gate", "pay": "noted"}, "gate.approve -> pay.value")
    )
    [ticket] = (await until(handle, "awaiting"))["run"]["waitingFor"]
    run = stage.log.latest_run(thread)
    assert run is not None
    name = EffectName(
        thread_id=thread,
        run_id=run.run_id,
        run_epoch=1,
        graph=f"{run.graph_id}@{run.graph_digest}",
        node_id="pay",
        occurrence=0,
        ask=0,
    )
    stage.log.begin_effect(
        EffectIntent(
            effect_key=effect_key(name),
            thread_id=thread,
            run_id=run.run_id,
            node_id="pay",
            occurrence=0,
            node_type="noted",
            arguments_hash="0" * 64,
        )
    )
    await handle.signal("resume", {"ticket": ticket["ticket"], "decision": "approve"})

    failure = await failure_of(handle)
    assert failure.message.startswith(f"EffectArgsMismatch: effect {effect_key(name)} ")
    assert thread not in CALLS
    ended = stage.log.latest_run(thread)
    assert ended is not None
    assert ended.cause is not None
    assert ended.cause.details["code"] == "EffectArgsMismatch"


async def test_a_worker_that_is_stopped_during_a_node_freezes_nothing(stage: Stage) -> None:
    thread = "ledger-stopped"
    handle = await stage.start(thread, graph=graph("one", {"a": ("held", {"name": thread})}))
    await until_called(thread, "a:0")
    await stage.stop()
    assert effects_of(stage, thread) == [("a:0", "begun", None, 1)]
    GATES[thread].set()
    await stage.serve()
    assert (await handle.result())["results"] == {"a": {"value": "a"}}
    assert effects_of(stage, thread) == [("a:0", "done", None, 2)]


async def test_an_ephemeral_run_leaves_no_effect(stage: Stage) -> None:
    thread = "ledger-ephemeral"
    await stage.run(
        thread,
        {"graph": graph("one", {"a": "noted"}), "config": {"checkpointStore": "ephemeral"}},
    )
    assert CALLS[thread] == ["a:0"]
    assert stage.log.effects(thread) == []
