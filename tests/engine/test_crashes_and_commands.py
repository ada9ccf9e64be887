"""A worker process is killed, and before the next one is there something else arrives.

What was committed stays as it is, whatever the run hears next; what arrives decides only what
comes after it (prototypes A1, A3; AW-10).
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from temporalio.client import WorkflowExecutionStatus

import tests.engine.paying_nodes as paying_nodes
from seeding.model import JsonObject
from tests.engine.charges import Charges
from tests.engine.crashing import (
    assert_charged_once,
    assert_whole,
    begin,
    crashed,
    died_on,
    lived_on,
    paying_after_gate,
    paying_chain,
    thread_of,
    worker_process,
)
from tests.engine.graphs import graph, until_completed
from tests.engine.stage import Handle, Stage, closed, until
from workflows.wire import RUN_NODE, NodeCallResult

assert paying_nodes.__name__  # Imported for the node types it declares.

ARRIVALS: dict[str, Callable[[Handle], Awaitable[None]]] = {
    "cancel": lambda handle: handle.signal("cancel", {"reason": "late"}),
    "native cancel": lambda handle: handle.cancel(),
    "pause": lambda handle: handle.signal("pause", {}),
    "message": lambda handle: handle.signal("message", {"message": "one more"}),
}

TOO_LATE = {
    "cancel": [],
    "native cancel": [],
    "pause": ["PIPELINE_TERMINAL"],
    "message": ["ThreadBusy"],
}
"""The codes that a command meets which a run hears after its end was sent to the log."""


@pytest.mark.parametrize(
    ("point", "arrives"),
    [
        ("before end_run", "cancel"),
        ("before end_run", "message"),
        ("before end_run", "pause"),
        ("after end_run", "native cancel"),
        ("after end_run", "message"),
    ],
)
async def test_what_arrives_while_the_end_is_being_committed_changes_nothing_of_it(
    idle: Stage, tmp_path: Path, point: str, arrives: str
) -> None:
    service = tmp_path / "service"
    request: JsonObject = {"graph": paying_chain(service)}
    handle = await crashed(idle, died_on(idle), request, point)
    await ARRIVALS[arrives](handle)
    await idle.serve()
    assert (await handle.result())["status"] == "completed"
    assert await closed(handle) == WorkflowExecutionStatus.COMPLETED
    codes = [entry["code"] for entry in await handle.query("refusals")]
    assert codes == TOO_LATE[arrives]
    await idle.run(lived_on(idle), request)
    assert thread_of(idle, died_on(idle)) == thread_of(idle, lived_on(idle))
    assert Charges(service).calls(died_on(idle)) == {"pay:0": 1, "again:0": 1}
    assert_whole(idle, died_on(idle))


@pytest.mark.parametrize("arrives", ["cancel", "native cancel"])
async def test_a_cancel_after_an_effect_whose_commit_was_not_acknowledged_ends_the_run_behind_it(
    idle: Stage, tmp_path: Path, arrives: str
) -> None:
    """The committed charge and its message stay; nothing starts after them."""
    service = tmp_path / "service"
    handle = await crashed(
        idle, died_on(idle), {"graph": paying_chain(service)}, "after commit pay"
    )
    stored = idle.log.commits(died_on(idle))
    await ARRIVALS[arrives](handle)
    await idle.serve()
    assert await closed(handle) == WorkflowExecutionStatus.CANCELED
    commits = idle.log.commits(died_on(idle))
    assert commits[:-1] == stored
    assert commits[-1].operation.commit.disposition.kind == "Ended"
    assert [message["content"] for message in idle.log.messages(died_on(idle))] == ["paid pay:0"]
    assert Charges(service).calls(died_on(idle)) == {"pay:0": 1}
    assert_whole(idle, died_on(idle))


@pytest.mark.parametrize("point", ["after charge pay:0", "after commit opening approval"])
@pytest.mark.parametrize("arrives", ["pause", "message"])
async def test_a_pause_or_a_message_to_a_run_without_a_worker_is_dealt_with_by_the_next_one(
    idle: Stage, tmp_path: Path, point: str, arrives: str
) -> None:
    service = tmp_path / "service"
    document = paying_chain(service) if "charge" in point else paying_after_gate(service)
    handle = await crashed(idle, died_on(idle), {"graph": document}, point)
    await ARRIVALS[arrives](handle)
    await idle.serve()
    if arrives == "pause":
        await until(handle, "paused")
        await handle.signal("resume", {})
    if "approval" in point:
        ticket = f"{handle.first_execution_run_id}:gate:0:0"
        await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    assert (await handle.result())["status"] == "completed"
    codes = [entry["code"] for entry in await handle.query("refusals")]
    assert codes == (["ThreadBusy"] if arrives == "message" else [])
    executions = ("pay:0", "again:0") if "charge" in point else ("pay:0",)
    assert_charged_once(service, died_on(idle), *executions)
    assert_whole(idle, died_on(idle))


def gate_beside_charge(service: Path) -> JsonObject:
    """A gate and a charge side by side."""
    return graph(
        "gate-beside-charge",
        {
            "gate": ("gate", {"kind": "approval", "message": "Well?"}),
            "pay": ("pays", {"service": str(service)}),
            "tell": ("reply", {"message": "{said}: {receipt}"}),
        },
        "gate.answer -> tell.said",
        "pay.receipt -> tell.receipt",
    )


async def test_an_answer_beside_a_commit_that_was_not_acknowledged_is_taken_after_it(
    idle: Stage, tmp_path: Path
) -> None:
    service = tmp_path / "service"
    request: JsonObject = {"graph": gate_beside_charge(service)}
    handle = await crashed(idle, died_on(idle), request, "after commit pay")
    await approve(handle)
    await idle.serve()
    assert (await handle.result())["results"]["tell"] == {"message": "approve: paid pay:0"}
    twin = await begin(idle, lived_on(idle), request)
    await until(twin, "awaiting")
    await until_completed(twin, "pay")
    await approve(twin)
    await twin.result()
    assert thread_of(idle, died_on(idle)) == thread_of(idle, lived_on(idle))
    assert Charges(service).calls(died_on(idle)) == {"pay:0": 1}
    assert_whole(idle, died_on(idle))


async def approve(handle: Handle) -> None:
    ticket = f"{handle.first_execution_run_id}:gate:0:0"
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})


async def test_a_completion_beside_a_commit_that_was_not_acknowledged_is_committed_after_it(
    idle: Stage, tmp_path: Path
) -> None:
    """Two completions in one workflow task are two commits, whichever task they come in."""
    service = tmp_path / "service"
    document = graph(
        "two-charges",
        {
            "pay": ("pays", {"service": str(service)}),
            "beside": ("held", {"name": "never"}),
            "both": "merge",
        },
        "pay.receipt -> both.left",
        "beside.value -> both.right",
    )
    handle = await crashed(idle, died_on(idle), {"graph": document}, "after commit pay")
    described = await handle.describe()
    (pending,) = described.raw_description.pending_activities
    assert pending.activity_type.name == RUN_NODE
    beside = idle.client.get_async_activity_handle(
        workflow_id=handle.id, run_id=described.run_id, activity_id=pending.activity_id
    )
    await beside.complete(NodeCallResult(outputs={"value": "elsewhere"}))
    await idle.serve()
    result = await handle.result()
    assert result["results"]["both"]["merged"] == {"left": "paid pay:0", "right": "elsewhere"}
    nodes = [stored.operation.commit.node_id for stored in idle.log.commits(died_on(idle))]
    assert nodes == [None, "pay", "beside", "both", None]
    assert Charges(service).calls(died_on(idle)) == {"pay:0": 1}
    assert_whole(idle, died_on(idle))


async def test_workers_that_die_one_after_the_other_at_one_commit_lose_nothing(
    idle: Stage, tmp_path: Path
) -> None:
    """Three workers die one after the other at the same commit; the fourth ends the run."""
    service = tmp_path / "service"
    request: JsonObject = {"graph": paying_chain(service)}
    handle = await crashed(idle, died_on(idle), request, "before commit pay")
    for _ in range(2):
        async with worker_process(idle, "before commit pay") as worker:
            await worker.reached()
            await worker.kill()
    await idle.serve()
    assert (await asyncio.wait_for(handle.result(), 30))["status"] == "completed"
    await idle.run(lived_on(idle), request)
    assert thread_of(idle, died_on(idle)) == thread_of(idle, lived_on(idle))
    assert Charges(service).calls(died_on(idle)) == {"pay:0": 1, "again:0": 1}
    assert_whole(idle, died_on(idle))
