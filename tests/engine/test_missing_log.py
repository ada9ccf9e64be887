"""A log that is moved away, replaced or missing: open runs wait for theirs, and lose nothing."""

import asyncio
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url
from temporalio.client import Client, WorkflowExecutionStatus

from activities.log import CommitLog
from seeding.model import JsonObject
from tests.engine.gone import gone_while_paused
from tests.engine.graphs import graph, held_chain, until_called
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, closed, staged, until, update
from tests.postgresql_server import PostgresqlServer

GATED: JsonObject = graph(
    "gated",
    {"before": "noted", "gate": "gate", "after": "noted"},
    "before.value -> gate.value",
    "gate.answer -> after.answer",
)


def files_of(stage: Stage) -> list[Path]:
    path = Path(stage.log_url.removeprefix("sqlite:///"))
    return [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]


@contextmanager
def away(stage: Stage) -> Generator[None]:
    """Keep the log's files in another folder, and put them back over whatever is there then."""
    elsewhere = files_of(stage)[0].parent / "elsewhere"
    elsewhere.mkdir()
    moved = [file for file in files_of(stage) if file.exists()]
    for file in moved:
        file.rename(elsewhere / file.name)
    yield
    for file in files_of(stage):
        file.unlink(missing_ok=True)
    for file in moved:
        (elsewhere / file.name).rename(file)


async def until_waiting(handle: Handle, activity: str, code: str) -> str:
    """Return what a pending activity of the run last failed with, once that is ``code``."""
    for _ in range(400):
        described = await handle.describe()
        for pending in described.raw_description.pending_activities:
            failure = pending.last_failure
            if (
                pending.activity_type.name == activity
                and failure.application_failure_info.type == code
            ):
                return failure.message
        await asyncio.sleep(0.025)
    raise AssertionError(f"{activity} never failed with {code}")


async def until_told(handle: Handle, activity: str) -> str:
    """Return what a pending activity of the run says it waits for."""
    for _ in range(400):
        described = await handle.describe()
        for pending in described.raw_description.pending_activities:
            for payload in pending.heartbeat_details.payloads:
                if pending.activity_type.name == activity:
                    return payload.data.decode()
        await asyncio.sleep(0.025)
    raise AssertionError(f"{activity} never said what it waits for")


async def activities_of(handle: Handle) -> list[str]:
    """Return the activities that a run's history has, local ones apart, in order."""
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        async for event in handle.fetch_history_events()
        if event.HasField("activity_task_scheduled_event_attributes")
    ]


async def restart_on_what_is_there(stage: Stage) -> None:
    """Replace worker and log by new ones, as another process would open them."""
    await stage.close()
    stage.resources = None
    await stage.serve()


async def test_an_answer_taken_while_the_file_is_away_is_committed_once_it_is_back(
    stage: Stage,
) -> None:
    handle = await stage.start("log-moved", graph=GATED)
    ticket = (await until(handle, "awaiting"))["run"]["waitingFor"][0]["ticket"]
    with away(stage):
        assert (await update(handle, "resume", {"ticket": ticket, "decision": "approve"}))[
            "accepted"
        ]
        said = await until_waiting(handle, "commit", "CommitUnavailable")
        assert not files_of(stage)[0].exists()
    assert said.startswith(
        f"the log at {stage.log_url} did not answer while appending: unable to open database file"
    )
    assert (await handle.result())["results"]["after"] == {"value": {"answer": "approve"}}
    assert CALLS["log-moved"] == ["before:0", "after:0"]


async def test_a_run_beside_an_empty_log_waits_for_its_own_and_keeps_its_answer(
    stage: Stage,
) -> None:
    handle = await stage.start("log-missing", graph=GATED)
    ticket = (await until(handle, "awaiting"))["run"]["waitingFor"][0]["ticket"]
    await stage.close()
    with away(stage):
        await restart_on_what_is_there(stage)
        assert stage.log.is_new
        assert (await update(handle, "resume", {"ticket": ticket, "decision": "approve"}))[
            "accepted"
        ]
        said = await until_waiting(handle, "seed_run", "RunNotInLog")
        assert stage.log.threads() == []
        await stage.close()
    run = handle.first_execution_run_id
    assert said == (
        f"the log at {stage.log_url} does not know the run of thread 'log-missing' that execution "
        f"{run} goes on with. Unless it was deleted, another log has it: put that one there, or "
        "point FERMATA_LOG_URL at it, and what waits goes on"
    )
    await restart_on_what_is_there(stage)
    assert not stage.log.is_new
    result = await handle.result()
    assert result["runId"] == run
    assert result["results"]["after"] == {"value": {"answer": "approve"}}
    assert CALLS["log-missing"] == ["before:0", "after:0"]


@pytest.mark.parametrize("older", [False, True], ids=["an empty log", "an older copy"])
async def test_a_run_that_was_taken_over_waits_for_the_log_that_says_so(
    stage: Stage, tmp_path: Path, older: bool
) -> None:
    thread = f"log-missing-{older}"
    gone = await gone_while_paused(stage, thread)
    await stage.close()
    copy = shutil.copy(files_of(stage)[0], tmp_path / "copy")
    await restart_on_what_is_there(stage)
    handle = await stage.start(thread, graph="expense-review")
    await until(handle, "awaiting")
    await stage.close()
    with away(stage):
        if older:
            shutil.copy(copy, files_of(stage)[0])
        await restart_on_what_is_there(stage)
        assert stage.log.is_new is not older
        await update(handle, "resume", {"ticket": gone.ticket, "decision": "approve"})
        await until_waiting(handle, "seed_run", "RunNotInLog")
        # Refused, it goes to look for its own log, and does not try to end as failed.
        assert await activities_of(handle) == ["seed_run", "commit", "seed_run"]
        await stage.close()
    await restart_on_what_is_there(stage)
    result = await handle.result()
    assert (result["runId"], result["status"]) == (gone.run_id, "completed")
    assert result["results"]["gate"]["answer"] == "approve"


async def test_a_run_beside_an_empty_schema_waits_for_its_own(
    client: Client, postgresql: PostgresqlServer, postgresql_url: str
) -> None:
    schema = str(make_url(postgresql_url).query["options"]).partition("=")[2]
    async with staged(client, postgresql_url) as stage:
        handle = await stage.start("schema-missing", graph=GATED)
        ticket = (await until(handle, "awaiting"))["run"]["waitingFor"][0]["ticket"]
        await stage.close()
        postgresql.run(f"ALTER SCHEMA {schema} RENAME TO {schema}_away", f"CREATE SCHEMA {schema}")
        await restart_on_what_is_there(stage)
        assert stage.log.is_new
        await update(handle, "resume", {"ticket": ticket, "decision": "approve"})
        said = await until_waiting(handle, "seed_run", "RunNotInLog")
        assert said.startswith("the log at postgresql+psycopg://")
        await stage.close()
        postgresql.run(
            f"DROP SCHEMA {schema} CASCADE", f"ALTER SCHEMA {schema}_away RENAME TO {schema}"
        )
        await restart_on_what_is_there(stage)
        result = await handle.result()
    assert result["results"]["after"] == {"value": {"answer": "approve"}}


async def test_a_node_in_flight_beside_an_empty_log_is_committed_to_its_own(stage: Stage) -> None:
    handle = await stage.start("log-missing-node", graph=held_chain("log-missing-node"))
    await until_called("log-missing-node", "first:0")
    # Another process makes an empty log where this worker's was.
    with away(stage), CommitLog.open(stage.log_url) as other:
        assert other.is_new
        GATES["log-missing-node"].set()
        said = await until_told(handle, "run_node")
    assert f"the log at {stage.log_url} has no effect " in said
    result = await handle.result()
    assert list(result["results"]) == ["first", "second"]
    assert [run.run_id for run in stage.log.runs("log-missing-node")] == [
        handle.first_execution_run_id
    ]


async def test_a_run_that_waits_for_its_log_can_be_cancelled_and_ends_there(stage: Stage) -> None:
    handle = await stage.start("log-missing-cancel", graph=GATED)
    await until(handle, "awaiting")
    await stage.close()
    with away(stage):
        await restart_on_what_is_there(stage)
        await handle.signal("cancel", {"reason": "no log"})
        await until_waiting(handle, "seed_run", "RunNotInLog")
        await stage.close()
    await restart_on_what_is_there(stage)
    assert await closed(handle) == WorkflowExecutionStatus.CANCELED
    (run,) = stage.log.runs("log-missing-cancel")
    assert run.cause is not None
    assert (run.cause.kind, run.cause.message) == ("Cancelled", "no log")
