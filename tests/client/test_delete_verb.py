"""``fermata delete`` erases a thread in Temporal and in the log, or says why it may not."""

import asyncio
from collections.abc import Callable

import pytest
from command_runner import Answer
from live_stage import SOON, WITHIN_LIMIT, Served
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from written_log import WrittenThread

from activities.log import CommitLog
from client.executions import delete_executions
from client.threads import Threads

Command = Callable[..., Answer]


async def test_nothing_is_left_in_the_log_and_in_temporal(here: Served, thread: str) -> None:
    for _ in range(2):
        await _ended(here.threads, thread)
    other = f"{thread}-other"
    await _ended(here.threads, other)

    answer = await here.answer("delete", thread, "--json")

    assert answer.document["threadId"] == thread
    assert answer.document["executions"] == 2
    assert answer.document["elsewhere"] == []
    assert answer.document["log"]["threads"] == [thread]
    assert answer.document["log"]["rows"]["runs"] == 2
    await _gone(here.client, thread)
    with CommitLog.open(here.configured.log_url) as log:
        assert [item.thread_id for item in log.threads()] == [other]
    assert (await here.threads.result(other, within=SOON))["status"] == "completed"


async def test_a_deleted_thread_is_unknown_and_begins_afresh(here: Served, thread: str) -> None:
    await _ended(here.threads, thread)
    told = await here.answer("delete", thread)

    assert told.code == 0
    assert told.out.startswith(f"thread {thread} is erased, from the log: 1 run, ")
    assert told.out.endswith("from Temporal: 1 execution\n")
    assert told.err == ""
    refusal = (await here.answer("delete", thread, "--log-only")).refusal
    assert refusal == f"UnknownThread: the log has no run of thread '{thread}'"
    run_id = await _ended(here.threads, thread)
    with CommitLog.open(here.configured.log_url) as log:
        assert [(run.run_id, run.run_epoch) for run in log.runs(thread)] == [(run_id, 1)]


async def test_an_open_run_is_to_be_cancelled_first(here: Served, thread: str) -> None:
    await here.threads.start(thread, {**WITHIN_LIMIT, "input": {"items": {"value": [150]}}})
    await here.threads.wait(thread, within=SOON)

    refusal = (await here.answer("delete", thread)).refusal

    assert refusal.startswith("ThreadBusy: run ")
    assert refusal.endswith(f"is open; cancel it first: fermata cancel {thread}")
    with CommitLog.open(here.configured.log_url) as log:
        assert len(log.runs(thread)) == 1
    await here.threads.cancel(thread)
    await here.threads.result(thread, within=SOON)
    assert (await here.answer("delete", thread)).code == 0


async def test_a_run_that_waits_and_has_no_workflow_any_more_goes(
    here: Served, thread: str
) -> None:
    await here.threads.start(thread, {**WITHIN_LIMIT, "input": {"items": {"value": [150]}}})
    await here.threads.wait(thread, within=SOON)
    await here.client.get_workflow_handle(f"thread/{thread}").terminate()

    erased = (await here.answer("delete", thread, "--json")).document

    assert (erased["executions"], erased["log"]["rows"]["tickets"]) == (1, 1)


async def test_what_failed_half_way_is_finished_by_the_next_call(here: Served, thread: str) -> None:
    """The server's part is done, the log's is not: as a process that died in between leaves it."""
    run_id = await _ended(here.threads, thread)
    assert await delete_executions(here.client, thread, [run_id], within=SOON) == 1

    erased = (await here.answer("delete", thread, "--json")).document

    assert erased["log"]["rows"]["runs"] == 1


async def test_what_only_temporal_still_has_is_deleted_as_well(here: Served, thread: str) -> None:
    await _ended(here.threads, thread)
    assert (await here.answer("delete", thread, "--log-only")).code == 0

    erased = (await here.answer("delete", thread, "--json")).document

    assert (erased["executions"], erased["log"]) == (1, None)


async def test_an_id_that_needs_quoting_is_found_by_the_server(here: Served, thread: str) -> None:
    name = f"it's \\ \"{thread}\" OR WorkflowId = '{thread}'"
    kept = await _ended(here.threads, thread)
    await _ended(here.threads, name)

    assert (await here.answer("delete", name, "--json")).document["executions"] == 1

    handle = here.client.get_workflow_handle(f"thread/{thread}", run_id=kept)
    assert (await handle.describe()).run_id == kept


class TestWithoutAServer:
    def test_it_is_refused_and_the_log_keeps_the_thread(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()

        assert fermata("delete", "alice").refusal.startswith("ServerUnreachable: ")
        assert len(fermata("runs", "alice", "--json").document) == 1

    def test_log_only_leaves_temporal_alone(self, fermata: Command, alice: WrittenThread) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()

        erased = fermata("delete", "alice", "--log-only", "--json").document

        assert (erased["executions"], erased["log"]["overwritten"]) == (None, True)
        assert fermata("threads", "--json").document == []

    def test_log_only_does_not_guess_that_an_open_run_is_gone(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()

        refusal = fermata("delete", "alice", "--log-only").refusal

        assert refusal.startswith("ThreadBusy: run R of thread 'alice' has not ended; ")

    def test_an_unknown_thread_is_refused(self, fermata: Command, alice: WrittenThread) -> None:
        alice.open()

        refusal = fermata("delete", "bob", "--log-only").refusal

        assert refusal == "UnknownThread: the log has no run of thread 'bob'"

    def test_a_thread_that_another_stands_on_is_refused_by_name(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()
        assert fermata("fork", "alice", "--at", "workflow_end", "--to", "bob").code == 0

        refusal = fermata("delete", "alice", "--log-only").refusal

        assert refusal.startswith("ThreadStoodOn: thread 'alice' is stood on by branch 'main' of ")
        assert fermata("delete", "bob", "--log-only").code == 0
        assert fermata("delete", "alice", "--log-only").code == 0


async def _ended(threads: Threads, thread: str) -> str:
    started = await threads.start(thread, WITHIN_LIMIT)
    await threads.result(thread, within=SOON)
    return started.run_id


async def _gone(client: Client, thread: str) -> None:
    """Wait until the server has done what it accepted: it deletes in the background."""
    for _ in range(400):
        try:
            await client.get_workflow_handle(f"thread/{thread}").describe()
        except RPCError as error:
            assert error.status == RPCStatusCode.NOT_FOUND, error
            return
        await asyncio.sleep(0.1)
    pytest.fail(f"the server still has thread {thread}")
