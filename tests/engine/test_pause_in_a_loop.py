"""A run pauses inside a loop, is resumed by a signal, and the next turn starts clean."""

from datetime import datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowExecutionStatus

from tests.engine.stage import Stage, closed, staged, until

REVIEW = {
    "graph": "expense-review",
    "message": "please check these",
    "input": {"items": {"value": [50, 150]}},
}


def paused_state(run_id: str, created_at: str, deadline: str, graph: str) -> dict[str, Any]:
    """The state of the traced run, paused at its second item (contract, section 4)."""
    return {
        "status": None,
        "isComplete": False,
        "error": None,
        "messages": {"count": 1, "checkpointId": f"{run_id}:6"},
        "data": {},
        "metadata": {},
        "threadId": "alice",
        "currentNodeId": "gate",
        "iterationCount": 2,
        "iterator": {"items": [50, 150], "index": 1, "results": [50]},
        "run": {
            "runId": run_id,
            "runEpoch": 1,
            "phase": "awaiting",
            "pausedReason": None,
            "graph": graph,
            "branch": "main",
            "checkpointId": f"{run_id}:6",
            "waitingFor": [
                {
                    "ticket": f"{run_id}:gate:0:0",
                    "nodeId": "gate",
                    "occurrence": 0,
                    "kind": "approval",
                    "message": "Over the limit. Pay 150?",
                    "input": {"item": 150},
                    "schema": None,
                    "allowed": ["approve", "deny"],
                    "createdAt": created_at,
                    "deadline": deadline,
                }
            ],
        },
    }


async def test_the_traced_run_waits_at_its_second_item_exactly_as_the_contract_shows(
    stage: Stage,
) -> None:
    handle = await stage.start("alice", REVIEW)
    state = await until(handle, "awaiting")
    ticket = state["run"]["waitingFor"][0]
    assert state == paused_state(
        str(handle.first_execution_run_id),
        ticket["createdAt"],
        ticket["deadline"],
        state["run"]["graph"],
    )
    opened, until_when = (datetime.fromisoformat(ticket[key]) for key in ("createdAt", "deadline"))
    assert until_when - opened == timedelta(days=2)
    assert await handle.query("tickets") == [ticket]


async def test_the_run_resumed_by_signal_ends_with_every_execution_under_its_key(
    stage: Stage,
) -> None:
    handle = await stage.start("ann", REVIEW)
    state = await until(handle, "awaiting")
    ticket = state["run"]["waitingFor"][0]["ticket"]
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    result = await handle.result()
    run_id = handle.first_execution_run_id
    assert result["status"] == "completed"
    assert result["checkpointId"] == f"{run_id}:10"
    assert list(result["results"]) == [
        "items", "each", "check", "each:1", "check:1", "gate", "each:2", "summary",
    ]  # fmt: skip
    assert result["results"]["summary"] == {"message": 'Done: [50,"approve"]'}
    assert result["results"]["gate"]["decision"] == "approve"
    assert result["metadata"] == {"nodes_skipped": 0, "skipped_node_ids": []}


async def test_each_completion_pause_and_end_is_one_checkpoint_in_one_chain(stage: Stage) -> None:
    handle = await stage.start("amy", REVIEW)
    state = await until(handle, "awaiting")
    await handle.signal(
        "resume", {"ticket": state["run"]["waitingFor"][0]["ticket"], "decision": "approve"}
    )
    await handle.result()
    rows = stage.log.checkpoints("amy")
    assert [(row.ordinal, row.node_id, row.kind, row.name) for row in rows] == [
        (1, "items", "node", None),
        (2, "each", "node", None),
        (3, "check", "node", None),
        (4, "each", "node", None),
        (5, "check", "node", None),
        (6, "gate", "pause", None),
        (7, "gate", "node", None),
        (8, "each", "node", None),
        (9, "summary", "node", None),
        (10, None, "end", "workflow_end"),
    ]
    assert [row.parent for row in rows] == [None, *(row.id for row in rows[:-1])]


async def test_a_worker_restarted_while_the_run_is_paused_changes_nothing(
    client: Client, log_url: str
) -> None:
    async with staged(client, log_url, cached=0) as stage:
        handle = await stage.start("bob", REVIEW)
        before = await until(handle, "awaiting")
        await stage.restart()
        assert await handle.query("state") == before
        ticket = before["run"]["waitingFor"][0]["ticket"]
        await handle.signal("resume", {"ticket": ticket, "decision": "deny"})
        result = await handle.result()
        assert result["results"]["each:2"]["collected_results"] == [50, "deny"]
        assert [row.ordinal for row in stage.log.checkpoints("bob")] == list(range(1, 11))


async def test_the_next_turn_keeps_what_the_thread_accumulated_and_clears_the_rest(
    stage: Stage,
) -> None:
    first = await stage.start("carol", {**REVIEW, "data": {"budget": 500}, "metadata": {"m": 1}})
    state = await until(first, "awaiting")
    await first.signal("cancel", {"reason": "enough"})
    assert await closed(first) == WorkflowExecutionStatus.CANCELED
    ended = stage.log.state("carol").state
    assert (ended.status, ended.is_complete, ended.iteration_count) == ("cancelled", True, 2)

    second = await stage.start("carol", graph="expense-review", input={"items": {"value": [7]}})
    result = await second.result()
    provenance = await second.query("provenance")
    assert provenance["start"] == {
        "source": "thread",
        "passedOver": [
            {"source": "initialSnapshot", "why": "not given"},
            {"source": "checkpoint", "why": "not given"},
        ],
    }
    assert provenance["cleared"] == {
        "status": "cancelled",
        "isComplete": True,
        "currentNodeId": "gate",
        "iterationCount": 2,
        "iterator": state["iterator"],
    }
    assert result["status"] == "completed"
    state = stage.log.state("carol").state
    assert state.data == {"budget": 500}
    assert state.metadata == {"m": 1}
    assert [message["content"] for message in state.messages] == ["please check these", "Done: [7]"]
    assert (state.status, state.iteration_count, state.iterator) == ("completed", 1, None)
    assert stage.log.latest_run("carol").run_epoch == 2  # pyright: ignore[reportOptionalMemberAccess]
