"""Runs whose log is on a PostgreSQL server, with one worker and with two."""

import asyncio
from typing import Any

from temporalio.client import Client

from tests.engine.stage import Stage, staged, until

REVIEW = {
    "graph": "expense-review",
    "message": "please check these",
    "input": {"items": {"value": [50, 150]}},
}


async def test_a_pause_in_a_loop_its_resume_and_the_next_turn(
    client: Client, postgresql_url: str
) -> None:
    async with staged(client, postgresql_url, cached=0) as stage:
        first = await stage.start("on-postgresql", REVIEW, data={"budget": 500})
        state = await until(first, "awaiting")
        assert state["iterator"] == {"items": [50, 150], "index": 1, "results": [50]}
        await stage.restart()
        assert await first.query("state") == state
        await first.signal("resume", _approval(state))
        result = await first.result()
        assert result["results"]["summary"] == {"message": 'Done: [50,"approve"]'}
        rows = stage.log.checkpoints("on-postgresql")
        assert [row.ordinal for row in rows] == list(range(1, 11))

        second = await stage.start("on-postgresql", {**REVIEW, "input": {"items": {"value": [7]}}})
        assert (await second.result())["start"]["source"] == "thread"
        left = stage.log.state("on-postgresql").state
        assert left.data == {"budget": 500}
        assert [message["role"] for message in left.messages] == [
            "user", "assistant", "user", "assistant",
        ]  # fmt: skip


async def test_two_workers_with_a_log_of_their_own_each_share_the_runs(
    client: Client, postgresql_url: str
) -> None:
    """Any workflow task may be decided by either; the log is one."""
    async with staged(client, postgresql_url, cached=0) as one:
        # A connection serves a task queue once, so each worker has its own.
        connection = await Client.connect(
            client.service_client.config.target_host,
            namespace=client.namespace,
            data_converter=client.data_converter,
        )
        other = Stage(connection, postgresql_url, cached=0, task_queue=one.task_queue)
        await other.serve()
        try:
            names = [f"t{number}" for number in range(6)]
            handles = [await one.start(name, REVIEW) for name in names]
            for handle in handles:
                await handle.signal("resume", _approval(await until(handle, "awaiting")))
            results = await asyncio.gather(*(handle.result() for handle in handles))
        finally:
            await other.close()
        assert [result["results"]["summary"]["message"] for result in results] == [
            'Done: [50,"approve"]'
        ] * 6
        for name in names:
            versions = [found.thread_version for found in one.log.commits(name)]
            assert versions == list(range(1, 12))


def _approval(state: dict[str, Any]) -> dict[str, str]:
    return {"ticket": state["run"]["waitingFor"][0]["ticket"], "decision": "approve"}
