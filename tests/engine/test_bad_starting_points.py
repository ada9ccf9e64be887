"""Where a run cannot start from is refused by name; an unknown checkpoint starts fresh, warned."""

import shlex
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus

from seeding.model import JsonObject
from tests.engine.gone import gone_while_paused
from tests.engine.graphs import review
from tests.engine.refused_starts import GOOD, refused_start, starts_well
from tests.engine.stage import Stage, closed, until

SNAPSHOTS: dict[str, tuple[Any, str, str]] = {
    "completed": (
        {"status": "completed", "isComplete": True, "data": {"a": 1}},
        "TerminalSnapshot",
        "initialSnapshot is the state of an ended run (status 'completed')",
    ),
    "complete without a status": (
        {"isComplete": True},
        "TerminalSnapshot",
        "initialSnapshot is the state of an ended run (isComplete true)",
    ),
    "failed": (
        {"status": "failed"},
        "TerminalSnapshot",
        "initialSnapshot is the state of an ended run (status 'failed')",
    ),
    "cancelled": (
        {"status": "cancelled"},
        "TerminalSnapshot",
        "initialSnapshot is the state of an ended run (status 'cancelled')",
    ),
    "a list": ([], "UnreadableSnapshot", "initialSnapshot is a list; a state is a JSON object"),
    "false": (
        False,
        "UnreadableSnapshot",
        "initialSnapshot is a boolean; a state is a JSON object",
    ),
    "an empty text": (
        "",
        "UnreadableSnapshot",
        "initialSnapshot is a string; a state is a JSON object",
    ),
    "unknown status": ({"status": "done"}, "UnreadableSnapshot", "initialSnapshot.status"),
    "messages a text": ({"messages": "hi"}, "UnreadableSnapshot", "messages"),
    "count a text": ({"iterationCount": "3"}, "UnreadableSnapshot", "iterationCount"),
    "index outside the items": (
        {"iterator": {"items": [1], "index": 1, "results": []}},
        "UnreadableSnapshot",
        "iterator.index",
    ),
}


@pytest.mark.parametrize("name", SNAPSHOTS)
async def test_a_snapshot_that_is_terminal_or_no_state_is_never_a_fresh_start(
    stage: Stage, name: str
) -> None:
    """INT-14, INT-15, FD-9."""
    snapshot, code, said = SNAPSHOTS[name]
    thread = f"bad-snapshot-{name.replace(' ', '-')}"
    refusal = await refused_start(stage, thread, {**GOOD, "initialSnapshot": snapshot})
    assert refusal.code == code
    assert said in refusal.message
    await starts_well(stage, thread)


async def finished(stage: Stage, thread: str, **more: Any) -> str:
    """Run one good turn on a thread and return its run id."""
    handle = await stage.start(thread, {**GOOD, **more})
    await handle.result()
    return str(handle.first_execution_run_id)


@pytest.mark.parametrize("ordinal", [0, 1, 2])
async def test_no_checkpoint_of_an_ended_run_is_gone_on_with_its_middle_neither(
    stage: Stage, ordinal: int
) -> None:
    """INT-14, FD-1."""
    thread = f"ended-checkpoint-{ordinal}"
    run = await finished(stage, thread)
    named = f"{run}:{ordinal}"
    refusal = await refused_start(stage, thread, {**GOOD, "checkpointId": named})
    assert (refusal.code, refusal.message) == (
        "CheckpointOfEndedRun",
        f"checkpoint {named} is of run {run}, which has ended (NaturalEnd); a run never goes on "
        "after its end. Leave checkpointId out for the thread's next turn, or give it as "
        "forkFrom for a new run from there",
    )
    await starts_well(stage, thread)


async def test_a_checkpoint_of_another_thread_is_refused_naming_both(stage: Stage) -> None:
    run = await finished(stage, "theirs")
    request = {**GOOD, "checkpointId": f"{run}:1"}
    refusal = await refused_start(stage, "ours", request)
    assert (refusal.code, refusal.message) == (
        "CheckpointThreadMismatch",
        f"checkpoint {run}:1 is of thread 'theirs', not of 'ours'; to start from it here give "
        "it as forkFrom",
    )
    await starts_well(stage, "ours")


UNKNOWN = {
    "checkpointId": (
        {"checkpointId": "gone:3", "config": {"onUnknownCheckpoint": "refuse"}},
        "checkpointId names checkpoint 'gone:3', which does not exist; list those of the thread "
        "with: fermata checkpoints THREAD. Leave it out for the thread's next turn",
    ),
    "forkFrom": (
        {"forkFrom": "gone:3"},
        "forkFrom names checkpoint 'gone:3', which does not exist; list a thread's with: "
        "fermata checkpoints THREAD",
    ),
}


@pytest.mark.parametrize("field", UNKNOWN)
async def test_an_unknown_checkpoint_is_refused_where_the_caller_wants_that(
    stage: Stage, field: str
) -> None:
    more, said = UNKNOWN[field]
    refusal = await refused_start(stage, f"unknown-{field}", {**GOOD, **more})
    assert (refusal.code, refusal.message) == ("UnknownCheckpoint", said)
    await starts_well(stage, f"unknown-{field}")


async def test_an_unknown_checkpoint_starts_fresh_with_a_warning_that_names_the_way_back(
    stage: Stage,
) -> None:
    """SG-12, FD-2."""
    thread = "it's unknown"
    run = await finished(stage, thread, data={"budget": 500}, message="remember")
    graph = (await stage.client.get_workflow_handle(f"thread/{thread}").query("state"))["run"][
        "graph"
    ]
    handle = await stage.start(thread, {**GOOD, "checkpointId": "gone:3"})
    result = await handle.result()
    warning = {
        "code": "unknown_checkpoint",
        "message": (
            "checkpoint 'gone:3' does not exist; the run starts fresh, without the state of "
            f"thread \"it's unknown\". Branch 'main' is left behind at run {run}; once this run "
            "has ended, return to it with: "
            f"{shlex.join(['fermata', 'start', thread, graph, '--fork-from', f'{run}:2'])}"
        ),
    }
    start = {
        "source": "fresh",
        "passedOver": [
            {"source": "initialSnapshot", "why": "not given"},
            {"source": "checkpoint", "why": "unknown: gone:3"},
            {"source": "thread", "why": "not taken: a checkpoint was named"},
        ],
    }
    assert result["warnings"] == [warning]
    assert result["start"] == start
    assert await handle.query("provenance") == {
        "runId": handle.first_execution_run_id,
        "runEpoch": 2,
        "start": start,
        "cleared": {},
        "warnings": [warning],
    }
    state = stage.log.state(thread)
    assert (state.state.data, state.state.messages, state.branch) == ({}, [], "b2")


async def test_an_unknown_checkpoint_on_a_new_thread_is_fresh_with_nothing_to_leave(
    stage: Stage,
) -> None:
    result = await stage.run("unknown-new", {**GOOD, "checkpointId": "not even an id"})
    assert result["warnings"] == [
        {
            "code": "unknown_checkpoint",
            "message": "checkpoint 'not even an id' does not exist; the run starts fresh, and "
            "thread 'unknown-new' has no run to leave behind",
        }
    ]


# --- a run whose workflow is gone, and a start that it stands in the way of ----------------------


ONTO_PAUSED: dict[str, tuple[JsonObject, str, str]] = {
    "a message": (
        {"graph": "expense-review", "message": "hello?"},
        "ThreadBusy",
        "has not ended and is awaiting {ticket}; it would go on as it is (source paused)",
    ),
    "a snapshot": (
        {"graph": "expense-review", "initialSnapshot": {}},
        "ThreadBusy",
        "has not ended and is awaiting {ticket}; initialSnapshot starts from elsewhere",
    ),
    "a fork": (
        {"graph": "expense-review", "forkFrom": "{run}:1"},
        "ThreadBusy",
        "has not ended and is awaiting {ticket}; forkFrom {run}:1 starts from elsewhere",
    ),
    "an unknown checkpoint": (
        {"graph": "expense-review", "checkpointId": "gone:3"},
        "ThreadBusy",
        "checkpointId 'gone:3' does not exist and the start would be fresh",
    ),
    "abandon with its checkpoint": (
        {"graph": "expense-review", "abandon": True, "checkpointId": "{run}:4"},
        "InvalidRequest",
        "abandon would end run {run}, but checkpointId {run}:4 asks to go on with it",
    ),
}


@pytest.mark.parametrize("name", ONTO_PAUSED)
async def test_a_paused_run_whose_workflow_is_gone_stays_in_the_log_as_it_is(
    stage: Stage, name: str
) -> None:
    asked, code, said = ONTO_PAUSED[name]
    thread = f"gone-paused-{name.replace(' ', '-')}"
    gone = await gone_while_paused(stage, thread)
    names = {"run": gone.run_id, "ticket": gone.ticket}
    request = {
        key: value.format(**names) if key in ("checkpointId", "forkFrom") else value
        for key, value in asked.items()
    }
    refusal = await refused_start(stage, thread, request)
    assert refusal.code == code
    assert said.format(**names) in refusal.message
    assert refusal.state["run"]["lastRun"]["tickets"] == [gone.ticket]


async def test_a_snapshot_and_an_empty_one_win_over_what_the_thread_has(stage: Stage) -> None:
    """SG-12: present is what is not null, ``{}`` counts."""
    await finished(stage, "snapshot-wins", data={"old": 1}, message="old")
    snapshot = {"data": {"new": 2}, "messages": [{"role": "user", "content": "new"}], "extra": [1]}
    result = await stage.run("snapshot-wins", {**GOOD, "initialSnapshot": snapshot})
    assert result["start"] == {
        "source": "initialSnapshot",
        "passedOver": [
            {"source": "checkpoint", "why": "not consulted"},
            {"source": "thread", "why": "not consulted"},
        ],
    }
    state = stage.log.state("snapshot-wins").state
    assert (state.data, [each["content"] for each in state.messages]) == ({"new": 2}, ["new"])
    assert state.model_extra == {"extra": [1]}

    await stage.run("snapshot-wins", {**GOOD, "initialSnapshot": {}})
    state = stage.log.state("snapshot-wins").state
    assert (state.data, state.messages, state.model_extra) == ({}, [], {})


async def test_while_its_run_is_open_the_server_refuses_a_second_start(stage: Stage) -> None:
    handle = await stage.start("busy", review(500))
    before = await until(handle, "awaiting")
    with pytest.raises(Exception, match="Workflow execution already started"):
        await stage.start("busy", review(500))
    assert await handle.query("state") == before
    await handle.signal("cancel", {})
    assert await closed(handle) == WorkflowExecutionStatus.CANCELED
