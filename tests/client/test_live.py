"""The client and the command against a real server and a real worker."""

import asyncio
import json
import os
import signal
import sys
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from client.settings import Settings
from client.threads import Threads
from client.worker import build_worker, open_resources
from seeding import errors
from seeding.errors import FermataError
from seeding.model import Json, JsonObject
from seeding.request import RunRequest

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "temporal-dev"
REVIEW: JsonObject = {
    "graph": "expense-review",
    "message": "please check these",
    "input": {"items": {"value": [50, 150]}},
}
WITHIN_LIMIT: JsonObject = {"graph": "expense-review", "input": {"items": {"value": [50]}}}
FAILING: JsonObject = {
    "graph": {"id": "failing", "nodes": [{"id": "check", "type": "expense_policy"}], "edges": []}
}
SOON = 20.0


@dataclass(frozen=True)
class Served:
    """A worker on a queue of its own, and how to reach it."""

    threads: Threads
    client: Client
    configured: Settings

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if "TEMPORAL" not in name}
        return {
            **kept,
            "TEMPORAL_ADDRESS": self.client.service_client.config.target_host,
            "TEMPORAL_NAMESPACE": self.client.namespace,
            "TEMPORAL_CONFIG_FILE": os.devnull,
            "FERMATA_LOG_URL": self.configured.log_url,
            "FERMATA_TASK_QUEUE": self.configured.task_queue,
            "FERMATA_NODES": "sample_nodes",
            "FERMATA_GRAPHS": str(STAGE / "graphs"),
            "PYTHONPATH": os.pathsep.join((str(STAGE), str(ROOT))),
        }

    async def begin(self, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "client.command", *arguments),
            env=self.environment(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def command(self, *arguments: str) -> tuple[int, str, str]:
        process = await self.begin(*arguments)
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    async def document(self, *arguments: str) -> Json:
        code, out, err = await self.command(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)


@pytest_asyncio.fixture(loop_scope="session")
async def unserved(temporal: WorkflowEnvironment, log_url: str) -> Served:
    """A queue that no worker serves."""
    config = temporal.client.config()
    config["data_converter"] = pydantic_data_converter
    client = Client(**config)
    configured = Settings(
        log_url=log_url,
        task_queue=f"q-{uuid.uuid4().hex}",
        nodes=("sample_nodes",),
        graphs=(STAGE / "graphs",),
    )
    return Served(Threads(client, configured.task_queue), client, configured)


@pytest_asyncio.fixture(loop_scope="session")
async def served(unserved: Served) -> AsyncGenerator[Served]:
    """The same with a worker."""
    configured = unserved.configured
    async with (
        open_resources(configured) as resources,
        build_worker(unserved.client, resources, configured.task_queue),
    ):
        yield unserved


@pytest.fixture
def thread() -> str:
    """A thread that no other test uses."""
    return f"t-{uuid.uuid4().hex[:12]}"


class TestThreads:
    async def test_a_run_is_started_waits_is_answered_and_ends(
        self, served: Served, thread: str
    ) -> None:
        threads = served.threads
        started = await threads.start(thread, RunRequest.model_validate(REVIEW))

        waiting = await threads.wait(thread, started.run_id, within=SOON)
        reply = await threads.resume(
            thread, ticket=waiting.tickets[0].ticket, decision="approve", actor="carol"
        )
        answered = [waiting.tickets[0].ticket]
        ended = await threads.wait(thread, started.run_id, within=SOON, answered=answered)

        assert started.workflow_id == f"thread/{thread}"
        assert (waiting.phase, waiting.tickets[0].node_id) == ("awaiting", "gate")
        assert waiting.tickets[0].ticket == f"{started.run_id}:gate:0:0"
        assert (reply.run_id, reply.ticket) == (started.run_id, waiting.tickets[0].ticket)
        assert ended.phase == "ended"
        assert ended.result is not None
        assert (ended.result["status"], ended.result["runId"]) == ("completed", started.run_id)
        assert await threads.result(thread, within=SOON) == ended.result

    async def test_a_busy_thread_names_its_run_and_its_tickets(
        self, served: Served, thread: str
    ) -> None:
        started = await served.threads.start(thread, REVIEW)
        waiting = await served.threads.wait(thread, within=SOON)

        with pytest.raises(errors.ThreadBusy) as busy:
            await served.threads.start(thread, REVIEW)

        tickets = [waiting.tickets[0].ticket]
        assert busy.value.details == {"runId": started.run_id, "tickets": tickets}
        assert tickets[0] in busy.value.message

    async def test_a_refused_start_raises_the_class_of_its_code(
        self, served: Served, thread: str
    ) -> None:
        started = await served.threads.start(thread, {"graph": "nowhere"})

        with pytest.raises(errors.UnknownGraph, match="nowhere"):
            await served.threads.result(thread, started.run_id, within=SOON)
        with pytest.raises(errors.UnknownGraph):
            await served.threads.wait(thread, started.run_id, within=SOON)

    async def test_a_request_of_the_wrong_shape_starts_nothing(
        self, served: Served, thread: str
    ) -> None:
        with pytest.raises(errors.InvalidRequest, match="colour: unknown field"):
            await served.threads.start(thread, {"graph": "expense-review", "colour": "red"})
        with pytest.raises(errors.UnknownThread):
            await served.threads.state(thread)

    async def test_a_failed_run_returns_its_result(self, served: Served, thread: str) -> None:
        await served.threads.start(thread, FAILING)

        result = await served.threads.result(thread, within=SOON)

        assert (result["status"], result["threadId"]) == ("failed", thread)

    async def test_a_cancelled_run_has_the_status_cancelled(
        self, served: Served, thread: str
    ) -> None:
        started = await served.threads.start(thread, REVIEW)
        await served.threads.wait(thread, within=SOON)

        await served.threads.cancel(thread, reason="not needed")

        assert await served.threads.result(thread, started.run_id, within=SOON) == {
            "runId": started.run_id,
            "threadId": thread,
            "status": "cancelled",
        }

    async def test_a_pause_is_held_until_it_is_lifted(self, served: Served, thread: str) -> None:
        await served.threads.start(thread, REVIEW)
        await served.threads.wait(thread, within=SOON)

        await served.threads.pause(thread, reason="checking")
        paused = await _in_phase(served.threads, thread, "paused")
        await served.threads.resume(thread)
        await _in_phase(served.threads, thread, "awaiting")

        reasons = [ticket.get("reason") for ticket in paused["waitingFor"]]
        assert (paused["pausedReason"], reasons) == (None, [None, "checking"])

    async def test_every_refusal_is_the_class_of_its_code(
        self, served: Served, thread: str
    ) -> None:
        threads = served.threads
        await threads.start(thread, REVIEW)
        ticket = (await threads.wait(thread, within=SOON)).tickets[0].ticket

        for kind, command in (
            (errors.UnknownTicket, threads.resume(thread, ticket="X:gate:0:0", decision="deny")),
            (errors.DecisionNotAllowed, threads.resume(thread, ticket=ticket, decision="maybe")),
            (errors.NoActivePause, threads.resume(thread)),
            (errors.InvalidCommand, threads.resume(thread, ticket=ticket)),
            (errors.RunBusy, threads.message(thread, "and these")),
        ):
            with pytest.raises(kind):
                await command
        await threads.cancel(thread)
        await threads.result(thread, within=SOON)
        with pytest.raises(errors.PipelineTerminal):
            await threads.resume(thread, ticket=ticket, decision="approve")

    async def test_a_thread_the_server_does_not_know_is_named(
        self, served: Served, thread: str
    ) -> None:
        for call in (
            served.threads.state(thread),
            served.threads.resume(thread, decision="approve"),
            served.threads.wait(thread, within=SOON),
            served.threads.result(thread, within=SOON),
        ):
            with pytest.raises(errors.UnknownThread, match=thread):
                await call

    async def test_a_wait_that_is_over_says_that_the_run_goes_on(
        self, served: Served, thread: str
    ) -> None:
        started = await served.threads.start(thread, REVIEW)
        await served.threads.wait(thread, within=SOON)

        with pytest.raises(errors.StillOpen, match=started.run_id):
            await served.threads.result(thread, within=0.1)

    async def test_a_terminated_run_is_lost(self, served: Served, thread: str) -> None:
        started = await served.threads.start(thread, REVIEW)
        await served.threads.wait(thread, within=SOON)
        await served.client.get_workflow_handle(started.workflow_id).terminate("power cut")

        with pytest.raises(errors.RunLost, match="is gone: terminated"):
            await served.threads.result(thread, within=SOON)


class TestWithoutAWorker:
    async def test_a_call_that_needs_one_says_so(self, unserved: Served, thread: str) -> None:
        await unserved.threads.start(thread, REVIEW)

        for call in (
            unserved.threads.state(thread, within=0.3),
            unserved.threads.resume(thread, decision="approve", within=0.3),
            unserved.threads.wait(thread, within=0.3),
        ):
            with pytest.raises(errors.NoWorker, match=thread):
                await call

    async def test_a_busy_thread_is_named_without_its_tickets(
        self, unserved: Served, thread: str
    ) -> None:
        started = await unserved.threads.start(thread, REVIEW)

        with pytest.raises(errors.ThreadBusy) as busy:
            await unserved.threads.start(thread, REVIEW)

        assert busy.value.details == {"runId": started.run_id, "tickets": []}


class TestCommand:
    async def test_start_watch_then_resume_without_naming_the_one_ticket(
        self, served: Served, thread: str
    ) -> None:
        watched = await served.document(
            *("start", thread, "expense-review", "--input", "items.value=[50, 150]", "--watch")
        )
        ticket = watched["standing"]["tickets"][0]["ticket"]
        listed = await served.document("tickets", thread)
        reply = await served.document("resume", thread, "--decision", "approve")
        await served.threads.result(thread, within=SOON)
        state = await served.document("state", thread)

        assert watched["workflowId"] == f"thread/{thread}"
        assert watched["standing"]["phase"] == "awaiting"
        assert [(item["ticket"], item["live"]) for item in listed] == [(ticket, "yes")]
        assert (reply["accepted"], reply["ticket"]) == (True, ticket)
        assert (state["status"], state["run"]["checkpointId"]) == ("completed", "workflow_end")

    async def test_a_ticket_whose_workflow_is_gone_is_not_live(
        self, served: Served, thread: str
    ) -> None:
        started = await served.threads.start(thread, REVIEW)
        await served.threads.wait(thread, within=SOON)
        await served.client.get_workflow_handle(started.workflow_id).terminate("power cut")

        assert [item["live"] for item in await served.document("tickets", thread)] == ["no"]

    async def test_a_refused_start_exits_1_with_one_line(self, served: Served, thread: str) -> None:
        code, out, err = await served.command("start", thread, "nowhere", "--watch")

        assert code == 1
        assert out.startswith("run ")
        assert err.startswith("UnknownGraph: ")
        assert err.count("\n") == 1

    async def test_a_failed_run_that_is_watched_exits_1(
        self, served: Served, thread: str, tmp_path: Path
    ) -> None:
        graph = tmp_path / "failing.json"
        graph.write_text(json.dumps(FAILING["graph"]))

        code, out, err = await served.command("start", thread, str(graph), "--watch", "--json")

        assert (code, json.loads(out)["standing"]["result"]["status"]) == (1, "failed")
        assert err.startswith("failed: run ")

    async def test_a_run_that_ends_is_shown_to_people_with_its_results(
        self, served: Served, thread: str
    ) -> None:
        code, out, err = await served.command(
            "start", thread, "expense-review", "--input", "items.value=[50]", "--watch"
        )

        assert (code, err) == (0, "")
        assert "ended: completed" in out

    async def test_the_worker_says_when_it_polls_and_stops_by_signal(
        self, unserved: Served, thread: str
    ) -> None:
        process = await unserved.begin("worker")
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), SOON)
        await unserved.threads.start(thread, WITHIN_LIMIT)
        result = await unserved.threads.result(thread, within=SOON)
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.communicate(), SOON)

        assert line == b"worker ready\n"
        assert result["status"] == "completed"
        assert process.returncode == 0


async def _in_phase(threads: Threads, thread: str, phase: str) -> JsonObject:
    for _ in range(200):
        run = (await threads.state(thread))["run"]
        if run["phase"] == phase:
            return run
        await asyncio.sleep(0.02)
    raise FermataError(f"thread {thread} never came to phase {phase}")
