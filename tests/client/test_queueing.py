"""Turns for a busy thread, by every way in: ``start``, ``send``, the client (KU-44, PB-E4)."""

import asyncio
from collections.abc import Callable

import pytest
from command_runner import Answer
from live_stage import REVIEW, SOON, WITHIN_LIMIT, Served
from written_log import WrittenThread

from activities.log import CommitLog, ReadOnlyLog, StoredRun
from seeding.errors import NoWorker, ThreadBusy, UnknownGraph
from seeding.model import JsonObject
from seeding.queued_turns import NewTurn, QueuedTurn
from seeding.request import parse_request
from workflows.inbox_model import Reply

Command = Callable[..., Answer]
QUEUED: JsonObject = {**WITHIN_LIMIT, "message": "next", "config": {"onBusy": "queue"}}


async def until_queued(here: Served, thread: str, count: int) -> list[QueuedTurn]:
    with ReadOnlyLog.open(here.configured.log_url) as log:
        turns: list[QueuedTurn] = []
        for _ in range(400):
            turns = log.queued_turns(thread)
            if len(turns) == count:
                return turns
            await asyncio.sleep(0.02)
    raise AssertionError(f"{turns}")


async def until_ended(here: Served, thread: str, count: int) -> list[StoredRun]:
    with ReadOnlyLog.open(here.configured.log_url) as log:
        runs: list[StoredRun] = []
        for _ in range(800):
            runs = log.runs(thread)
            if sum(run.phase == "ended" for run in runs) == count:
                return runs
            await asyncio.sleep(0.02)
    raise AssertionError(f"{runs}")


async def test_each_way_in_queues_the_same(here: Served, thread: str) -> None:
    """PB-E4: one entry point; and the client's ``submit`` takes a whole request."""
    started = await here.threads.start(thread, REVIEW)
    await here.threads.wait(thread, within=SOON)

    by_message = await here.threads.message(thread, "1", on_busy="queue")
    by_submit = await here.threads.submit(thread, {"graph": "expense-review", "message": "2"})
    sent = await here.answer("send", thread, "3", "--on-busy", "queue", "--json")
    begun = await here.answer(
        *("start", thread, "expense-review", "--message", "4", "--config", '{"onBusy": "queue"}')
    )
    signalled = here.client.get_workflow_handle(f"thread/{thread}")
    await signalled.signal("message", {"message": "5", "onBusy": "queue"})

    def reply(number: int) -> Reply:
        return Reply(run_id=started.run_id, pending=True, queued_turn=number)

    assert (by_message, by_submit) == (reply(1), reply(2))
    assert sent.document == reply(3).to_json()
    assert begun.out == (
        f"queued as turn 4 of thread {thread}; it starts when run {started.run_id} is over: "
        f"fermata queue {thread}\n"
    )
    turns = await until_queued(here, thread, 5)
    assert [turn.request["message"] for turn in turns] == ["1", "2", "3", "4", "5"]
    assert {turn.behind for turn in turns} == {started.run_id}


async def test_each_way_in_rejects_the_same(here: Served, thread: str) -> None:
    await here.threads.start(thread, REVIEW)
    await here.threads.wait(thread, within=SOON)

    with pytest.raises(ThreadBusy):
        await here.threads.start(thread, WITHIN_LIMIT)
    sent = await here.answer("send", thread, "x")
    begun = await here.answer("start", thread, "expense-review")

    assert sent.refusal.startswith("ThreadBusy: ")
    assert begun.refusal.startswith("ThreadBusy: ")
    assert (await here.answer("queue", thread, "--json")).document["turns"] == []


async def test_a_queued_turn_starts_and_one_that_was_taken_back_does_not(
    here: Served, thread: str
) -> None:
    await here.threads.start(thread, REVIEW)
    await here.threads.wait(thread, within=SOON)
    await here.threads.submit(thread, QUEUED)
    await here.threads.submit(thread, {**QUEUED, "message": "not this"})

    assert (await here.answer("queue", thread, "--withdraw", "2")).out == (
        f"turn 2 of thread {thread} is taken back\n"
    )
    await here.threads.cancel(thread)

    for _ in range(400):
        runs = (await here.answer("runs", thread, "--json")).document
        if [run["phase"] for run in runs] == ["ended", "ended"]:
            break
        await asyncio.sleep(0.05)
    contents = [
        item["content"] for item in (await here.answer("messages", thread, "--json")).document
    ]
    assert "next" in contents
    assert "not this" not in contents
    table = (await here.answer("queue", thread)).out.splitlines()
    assert [line.split()[:2] for line in table[1:3]] == [["1", "started"], ["2", "withdrawn"]]
    assert table[3] == "0 queued, 2 remembered"
    refusal = (await here.answer("queue", thread, "--withdraw", "1")).refusal
    assert refusal.startswith(f"InvalidRequest: turn 1 of thread '{thread}' is started and began")


async def test_send_that_supersedes_cancels_the_run(here: Served, thread: str) -> None:
    await here.threads.start(thread, REVIEW)
    await here.threads.wait(thread, within=SOON)

    sent = await here.answer("send", thread, "instead", "--on-busy", "supersede", "--key", "k")

    assert sent.out.startswith(f"queued as turn 1 of thread {thread}; it starts when run ")
    runs = await until_ended(here, thread, 2)
    assert runs[0].cause is not None
    assert runs[0].cause.message == "superseded"


async def test_on_an_idle_thread_it_starts_at_once(here: Served, thread: str) -> None:
    reply = await here.threads.submit(thread, {**WITHIN_LIMIT, "message": "first"})

    assert (reply.run_id, reply.queued_turn) == (None, 1)
    assert len(await until_ended(here, thread, 1)) == 1


async def test_reconcile_wakes_a_queue_whose_workflow_is_gone(here: Served, thread: str) -> None:
    await here.threads.start(thread, WITHIN_LIMIT)
    await here.threads.result(thread, within=SOON)
    request = parse_request({**WITHIN_LIMIT, "message": "next"}, f"thread/{thread}")
    with CommitLog.open(here.configured.log_url) as log:
        log.queue_turn(
            thread,
            NewTurn(operation="o", request=request, graph_given=True, namespace="default"),
        )

    assert (await here.answer("reconcile", "--repair")).code == 0

    assert len(await until_ended(here, thread, 2)) == 2


async def test_what_no_start_could_be_is_refused(served: Served, thread: str) -> None:
    with pytest.raises(UnknownGraph):
        await served.threads.submit(thread, {"graph": "nowhere"})


async def test_without_a_worker_it_ends_in_time(unserved: Served, thread: str) -> None:
    with pytest.raises(NoWorker, match="the turn may still be queued when one comes"):
        await unserved.threads.submit(thread, QUEUED, within=0.5)


class TestWithoutAServer:
    def test_the_queue_is_read_from_the_log(
        self, fermata: Command, alice: WrittenThread, log: CommitLog
    ) -> None:
        alice.open()
        assert (
            fermata("queue", "alice").out == "no turn was queued lately\n0 queued, 0 remembered\n"
        )
        request = parse_request({"graph": "g", "message": "m" * 80}, "thread/alice")
        log.queue_turn(
            "alice",
            NewTurn(operation="o", request=request, graph_given=True, namespace="default"),
        )

        told = fermata("queue", "alice").out.splitlines()

        assert told[0].split() == ["turn", "state", "received", "run", "key", "message"]
        assert told[1].split()[:2] == ["1", "queued"]
        assert told[1].endswith("m" * 60 + "…")
        assert told[2] == "1 queued, 0 remembered"

    def test_an_unknown_thread_is_said(self, fermata: Command, alice: WrittenThread) -> None:
        alice.open()
        assert (
            fermata("queue", "bob").refusal == "UnknownThread: the log has no run of thread 'bob'"
        )
