"""The client and the command against a real server and a real worker."""

import json
from pathlib import Path

import pytest
from live_stage import FAILING, REVIEW, SOON, Served, in_phase

from seeding import errors
from seeding.request import RunRequest


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
        paused = await in_phase(served.threads, thread, "paused")
        await served.threads.resume(thread)
        await in_phase(served.threads, thread, "awaiting")

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
        self, here: Served, thread: str
    ) -> None:
        watched = await here.answer(
            *("start", thread, "expense-review", "--input", "items.value=[50, 150]"),
            *("--watch", "--json"),
        )
        standing = json.loads(watched.out)["standing"]
        ticket = standing["tickets"][0]["ticket"]
        listed = (await here.answer("tickets", thread, "--json")).document
        reply = (await here.answer("resume", thread, "--decision", "approve", "--json")).document
        await here.threads.result(thread, within=SOON)
        state = (await here.answer("state", thread, "--json")).document

        assert (watched.code, standing["phase"]) == (0, "awaiting")
        assert json.loads(watched.out)["workflowId"] == f"thread/{thread}"
        assert [(item["ticket"], item["live"]) for item in listed] == [(ticket, "yes")]
        assert (reply["accepted"], reply["ticket"]) == (True, ticket)
        assert (state["status"], state["run"]["checkpointId"]) == ("completed", "workflow_end")

    async def test_a_ticket_whose_workflow_is_gone_is_not_live(
        self, here: Served, thread: str
    ) -> None:
        started = await here.threads.start(thread, REVIEW)
        await here.threads.wait(thread, within=SOON)
        await here.client.get_workflow_handle(started.workflow_id).terminate("power cut")

        listed = (await here.answer("tickets", thread, "--json")).document

        assert [item["live"] for item in listed] == ["no"]
        printed = (await here.answer("tickets", thread)).out
        assert (
            "its workflow is gone; before it can be answered: fermata reconcile "
            f"{thread} --repair\n"
        ) in printed
        refused = (await here.answer("resume", thread, "--decision", "approve")).refusal
        assert refused.endswith(f"take it over: fermata reconcile {thread} --repair")
        assert (await here.answer("reconcile", thread, "--repair")).code == 0
        assert (await here.answer("resume", thread, "--decision", "approve")).code == 0
        shown = (await here.answer("provenance", thread)).out
        assert f"taken over at {listed[0]['runId']}:6" in shown

    async def test_a_refused_start_exits_1_with_one_line(self, here: Served, thread: str) -> None:
        refusal = (await here.answer("start", thread, "nowhere")).refusal

        assert refusal.startswith("UnknownGraph: ")

    async def test_a_start_nobody_takes_up_is_kept_and_said(
        self, nobody_here: Served, thread: str
    ) -> None:
        answer = await nobody_here.answer(
            "start", thread, "expense-review", "--timeout", "0.2", "--json"
        )

        assert answer.code == 0
        assert json.loads(answer.out)["threadId"] == thread
        assert answer.err.startswith("no worker has taken the run up within 0.2 s; ")

    async def test_a_failed_run_that_is_watched_exits_1(
        self, here: Served, thread: str, tmp_path: Path
    ) -> None:
        graph = tmp_path / "failing.json"
        graph.write_text(json.dumps(FAILING["graph"]))

        answer = await here.answer("start", thread, str(graph), "--watch", "--json")

        assert (answer.code, json.loads(answer.out)["standing"]["result"]["status"]) == (
            1,
            "failed",
        )
        assert answer.err.splitlines()[-1].startswith("failed: run ")

    async def test_the_config_reaches_the_run(self, here: Served, thread: str) -> None:
        answer = await here.answer(
            *("start", thread, "expense-review", "--input", "items.value=[50, 60]"),
            *("--config", '{"maxIterations": 1}', "--watch"),
        )
        runs = (await here.answer("runs", thread, "--json")).document

        assert answer.code == 1
        assert answer.err.splitlines()[-1].startswith("max_iterations_exceeded: run ")
        assert runs[0]["config"]["maxIterations"] == 1
        assert (runs[0]["result"]["status"], runs[0]["result"]["results"]) == (
            "max_iterations_exceeded",
            [],
        )

    async def test_a_cancelled_run_has_its_result_in_its_row(
        self, here: Served, thread: str
    ) -> None:
        await here.threads.start(thread, REVIEW)
        await here.threads.wait(thread, within=SOON)
        await here.answer("cancel", thread, "--reason", "not needed")
        await here.threads.result(thread, within=SOON)

        row = (await here.answer("runs", thread, "--json")).document[0]

        assert row["cause"]["kind"] == "Cancelled"
        assert row["result"]["status"] == "cancelled"
        assert row["result"]["results"]["items"] == {"value": [50, 150]}
