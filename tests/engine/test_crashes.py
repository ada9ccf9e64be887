"""A worker process is killed at each point of a run's life; another one goes on.

Each thread is compared, commit by commit, with that of the same run under a worker that lived;
the service outside counts what it was asked for (AW-1, AW-3, AW-4, AW-9, AW-48, PB-B8, PB-B29).
"""

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
from tests.engine.graphs import until_waiting_for
from tests.engine.stage import Stage, closed, until

assert paying_nodes.__name__  # Imported for the node types it declares.


async def lived(stage: Stage, request: JsonObject) -> JsonObject:
    """Return the thread of the same run under a worker that lives."""
    result = await stage.run(lived_on(stage), request)
    assert result["status"] == "completed"
    return thread_of(stage, lived_on(stage))


@pytest.fixture(params=["sqlite", "postgresql"])
def idle_url(request: pytest.FixtureRequest) -> str:
    """Every kill on both databases."""
    named = "log_url" if request.param == "sqlite" else "postgresql_url"
    return str(request.getfixturevalue(named))


@pytest.mark.parametrize(
    ("point", "calls"),
    [
        ("before seed_run", 1),
        ("after seed_run", 1),
        ("before open_run", 1),
        ("after open_run", 1),
        ("before charge pay:0", 1),
        ("after charge pay:0", 2),
        ("after run_node pay", 1),
        ("before commit pay", 1),
        ("after commit pay", 1),
        ("before end_run", 1),
        ("after end_run", 1),
        ("told end_run", 1),
    ],
)
async def test_wherever_a_worker_dies_the_thread_ends_as_if_it_had_lived(
    idle: Stage, tmp_path: Path, point: str, calls: int
) -> None:
    """Only a charge whose outcome never reached the ledger is asked for again, by its key."""
    service = tmp_path / "service"
    request: JsonObject = {"graph": paying_chain(service), "message": "pay", "data": {"a": 1}}
    handle = await crashed(idle, died_on(idle), request, point)
    await idle.serve()
    assert (await handle.result())["status"] == "completed"
    assert thread_of(idle, died_on(idle)) == await lived(idle, request)
    assert Charges(service).calls(died_on(idle)) == {"pay:0": calls, "again:0": 1}
    assert_charged_once(service, died_on(idle), "pay:0", "again:0")
    assert_whole(idle, died_on(idle))


@pytest.mark.parametrize(
    "point", ["before commit opening approval", "after commit opening approval"]
)
@pytest.mark.parametrize("answered", ["while the worker is dead", "later"])
async def test_a_gate_whose_worker_died_as_it_opened_is_open_once_and_answered_once(
    idle: Stage, tmp_path: Path, point: str, answered: str
) -> None:
    """After Awaiting was committed, before the workflow waits (AW-4)."""
    service = tmp_path / "service"
    request: JsonObject = {"graph": paying_after_gate(service)}
    handle = await crashed(idle, died_on(idle), request, point)
    answer = {"ticket": f"{handle.first_execution_run_id}:gate:0:0", "decision": "approve"}
    if answered == "while the worker is dead":
        await handle.signal("resume", answer)
        await idle.serve()
    else:
        await idle.serve()
        await until_waiting_for(handle, "gate:0:0")
        await handle.signal("resume", answer)
    assert (await handle.result())["status"] == "completed"
    twin = await begin(idle, lived_on(idle), request)
    await until(twin, "awaiting")
    await twin.signal("resume", {**answer, "ticket": f"{twin.first_execution_run_id}:gate:0:0"})
    await twin.result()
    assert thread_of(idle, died_on(idle)) == thread_of(idle, lived_on(idle))
    assert_charged_once(service, died_on(idle), "pay:0")
    assert_whole(idle, died_on(idle))


@pytest.mark.parametrize(
    "point", ["before commit closing answered", "after commit closing answered"]
)
async def test_an_answer_whose_worker_died_as_it_was_committed_counts_once(
    idle: Stage, tmp_path: Path, point: str
) -> None:
    """No answer is lost, taken twice or half taken, and another one comes too late (PB-B29)."""
    service = tmp_path / "service"
    async with worker_process(idle, point) as worker:
        handle = await begin(idle, died_on(idle), {"graph": paying_after_gate(service)})
        await until(handle, "awaiting")
        ticket = f"{handle.first_execution_run_id}:gate:0:0"
        await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
        await worker.reached()
        await worker.kill()
    await handle.signal("resume", {"ticket": ticket, "decision": "deny"})
    await idle.serve()
    result = await handle.result()
    assert result["results"]["tell"] == {"message": "approve: paid pay:0"}
    refused = await handle.query("refusals")
    assert [entry["code"] for entry in refused] == ["AlreadyDecided"]
    assert Charges(service).calls(died_on(idle)) == {"pay:0": 1}
    assert_charged_once(service, died_on(idle), "pay:0")
    assert_whole(idle, died_on(idle))


@pytest.mark.parametrize("point", ["before request_cancel", "after request_cancel"])
async def test_a_cancel_whose_worker_died_after_its_commit_closes_the_run_cancelled(
    idle: Stage, tmp_path: Path, point: str
) -> None:
    """After Ended(Cancelled), before the workflow closes."""
    service = tmp_path / "service"
    async with worker_process(idle, point) as worker:
        handle = await begin(idle, died_on(idle), {"graph": paying_after_gate(service)})
        await until(handle, "awaiting")
        await handle.signal("cancel", {"reason": "enough"})
        await worker.reached()
        await worker.kill()
    await idle.serve()
    assert await closed(handle) == WorkflowExecutionStatus.CANCELED
    run = idle.log.latest_run(died_on(idle))
    assert run is not None
    assert run.cause is not None
    assert (run.cause.kind, run.cause.message) == ("Cancelled", "enough")
    assert Charges(service).calls(died_on(idle)) == {}
    assert_whole(idle, died_on(idle))
