"""The log does not answer the effect ledger: no node runs without its intent on disk."""

import asyncio

from temporalio.client import Client

import tests.engine.ledger_nodes as ledger_nodes
from tests.engine.graphs import graph
from tests.engine.nodes import CALLS
from tests.engine.stage import Handle
from tests.engine.watched_ledger import watched

assert ledger_nodes.__name__  # Imported for the node types it declares.


async def waits_for(handle: Handle) -> str:
    """What the server shows that the run's node waits for, once it does."""
    for _ in range(1000):
        described = await handle.describe()
        for pending in described.raw_description.pending_activities:
            if pending.HasField("heartbeat_details"):
                return pending.heartbeat_details.payloads[0].data.decode()
        await asyncio.sleep(0.02)
    raise AssertionError("the node does not wait for anything")


async def test_a_node_is_not_called_before_its_intent_is_on_disk(
    client: Client, log_url: str
) -> None:
    thread = "ledger-away"
    async with watched(client, log_url) as (stage, log):
        log.away = "begin"
        handle = await stage.start(thread, graph=graph("one", {"a": "noted"}))
        assert await waits_for(handle) == '{"waitsFor":"the disk is full"}'
        assert thread not in CALLS
        log.away = ""
        assert list((await handle.result())["results"]) == ["a"]
    assert CALLS[thread] == ["a:0"]


async def test_an_outcome_that_cannot_be_kept_in_time_goes_on_all_the_same(
    client: Client, log_url: str
) -> None:
    thread = "ledger-lost"
    async with watched(client, log_url) as (stage, log):
        log.away = "finish"
        handle = await stage.start(thread, graph=graph("one", {"a": "short"}))
        assert (await handle.result())["results"] == {"a": {"value": 1}}
        assert [(row.status, row.attempts) for row in log.effects(thread)] == [("begun", 1)]
    assert len(CALLS[thread]) == 1
