"""``watch`` and ``send`` against a real server and a real worker."""

import json

from live_stage import REVIEW, SOON, WITHIN_LIMIT, Served

from seeding.model import JsonObject

ANY_TURN: JsonObject = {
    "graph": {
        "id": "any-turn",
        "nodes": [
            {"id": "items", "type": "value", "config": {"value": "all"}},
            {"id": "tell", "type": "reply", "config": {"message": "got {items}"}},
        ],
        "edges": ["items.value -> tell.items"],
    }
}
SLOW: JsonObject = {
    "graph": {"id": "slow", "nodes": [{"id": "rest", "type": "slow", "config": {"seconds": 2}}]}
}


class TestWatch:
    async def test_it_ends_where_the_run_waits_with_the_line_that_answers(
        self, here: Served, thread: str
    ) -> None:
        started = await here.threads.start(thread, REVIEW)

        answer = await here.answer("watch", thread)

        assert answer.code == 0
        assert answer.out.splitlines()[0].startswith("waits for: approval at gate, since ")
        assert answer.out.splitlines()[1:] == [
            "  Over the limit. Pay 150?",
            *(line for line in answer.out.splitlines() if line.startswith("  until ")),
            f"  fermata resume {thread} --ticket {started.run_id}:gate:0:0 --decision approve",
            "  or, as decision: deny",
        ]

    async def test_nodes_and_rounds_are_told_on_stderr(self, here: Served, thread: str) -> None:
        await here.threads.start(thread, REVIEW)
        await here.threads.wait(thread, within=SOON)

        told = (await here.answer("watch", thread)).err.splitlines()

        assert told[0].endswith(": awaiting")
        assert told[1] == "loop round 2, item 2 of 2"
        assert sorted(told[2:]) == [
            "node check: completed, 2 executions",
            "node each: completed, 2 executions",
            "node gate: interrupted",
            "node items: completed",
        ]

    async def test_with_json_stdout_has_the_standing_alone(self, here: Served, thread: str) -> None:
        started = await here.threads.start(thread, WITHIN_LIMIT)

        answer = await here.answer("watch", thread, "--json")
        standing = json.loads(answer.out)

        assert (answer.code, standing["phase"], standing["runId"]) == (0, "ended", started.run_id)
        assert standing["result"]["status"] == "completed"
        assert "node summary: completed" in answer.err.splitlines()

    async def test_it_follows_no_later_run(self, here: Served, thread: str) -> None:
        first = await here.threads.start(thread, WITHIN_LIMIT)
        await here.threads.result(thread, within=SOON)
        await here.threads.start(thread, REVIEW)

        standing = await here.threads.wait(thread, first.run_id, within=SOON)

        assert (standing.run_id, standing.phase) == (first.run_id, "ended")

    async def test_a_run_that_goes_on_beyond_the_timeout_exits_1(
        self, here: Served, thread: str
    ) -> None:
        started = await here.threads.start(thread, SLOW)

        answer = await here.answer("watch", thread, "--timeout", "0.5")

        assert (answer.code, answer.out) == (1, "")
        assert answer.err.splitlines()[-1] == (
            f"StillOpen: run {started.run_id} of thread '{thread}' neither waits nor ended "
            "within 0.5 s; it goes on"
        )


class TestSend:
    async def test_on_an_idle_thread_it_starts_a_turn_on_the_pinned_graph(
        self, here: Served, thread: str
    ) -> None:
        await here.threads.start(thread, ANY_TURN)
        await here.threads.result(thread, within=SOON)

        sent = await here.answer("send", thread, "and again", "--watch", "--json")
        first, second = (await here.answer("runs", thread, "--json")).document
        messages = (await here.answer("messages", thread, "--json")).document

        assert json.loads(sent.out)["standing"]["result"]["status"] == "completed"
        assert second["graph"] == first["graph"]
        assert second["runEpoch"] == 2
        assert [item["content"] for item in messages] == ["got all", "and again", "got all"]

    async def test_an_open_run_may_refuse_it(self, here: Served, thread: str) -> None:
        await here.threads.start(thread, REVIEW)
        await here.threads.wait(thread, within=SOON)

        refusal = (await here.answer("send", thread, "and these")).refusal

        assert refusal.startswith("ThreadBusy: ")

    async def test_a_thread_without_a_run_is_told_how_its_first_is_started(
        self, here: Served, thread: str
    ) -> None:
        refusal = (await here.answer("send", thread, "good day", "--json")).refusal

        assert refusal == (
            f"UnknownThread: the log has no run of thread '{thread}'; its first needs a graph: "
            f"fermata start {thread} GRAPH --message 'good day'"
        )
