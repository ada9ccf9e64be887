"""Failures that are retried in place, in bounds (ERR-2, ERR-11)."""

from typing import Any

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from seeding.model import JsonObject
from tests.engine.failed_runs import alone, calls_of, failed_run
from tests.engine.gone import terminated
from tests.engine.graphs import graph, until_waiting_for
from tests.engine.nodes import CALLS
from tests.engine.stage import Handle, Stage, failure_of, staged, update


async def test_a_retryable_failure_is_tried_again_under_the_same_key(stage: Stage) -> None:
    """ERR-11: no result key, no checkpoint and no occurrence more."""
    thread = "retry-twice"
    handle = await stage.start(thread, graph=graph("flaky", {"a": ("flaky", {"failures": 2})}))
    result = await handle.result()
    keys = CALLS[thread]
    assert len(keys) == 3
    assert [keys[0]] * 3 == keys
    assert result["results"] == {"a": {"keys": keys}}
    assert [(row.ordinal, row.node_id) for row in stage.log.checkpoints(thread)] == [
        (1, "a"),
        (2, None),
    ]
    assert await handle.query("progress") == {"a": {"status": "completed", "executions": 1}}


async def test_after_its_last_retry_a_failure_counts(stage: Stage) -> None:
    thread = "retry-thrice"
    result = await failed_run(stage, thread, graph("flaky", {"a": ("flaky", {"failures": 3})}))
    assert (result["status"], len(CALLS[thread])) == ("failed", 3)
    assert stage.log.state(thread).state.error == "not yet"


@pytest.mark.parametrize("retryable", [1, "true", False, None])
async def test_only_true_itself_is_retried(stage: Stage, retryable: Any) -> None:
    """ERR-2."""
    thread = f"retry-only-{retryable}"
    document = alone("fail", {"retryable": retryable})
    handle = await stage.start(thread, graph=document)
    await failure_of(handle)
    assert await calls_of(handle) == 1


async def test_a_type_without_retries_is_executed_once(stage: Stage) -> None:
    handle = await stage.start("retry-none", graph=alone("fails_with", {"retryable": True}))
    await failure_of(handle)
    assert await calls_of(handle) == 1


def in_rounds(failures: list[int], *, asks: bool = False) -> JsonObject:
    """A loop whose node fails as often as listed for each round, before a gate or not."""
    gated = ["a.attempts -> gate.attempts", "gate.answer -> each.loop_back"]
    return graph(
        "rounds",
        {
            "items": ("value", {"value": failures}),
            "each": "for_each",
            "a": ("flaky_rounds", {"failures": failures}),
            **({"gate": "gate"} if asks else {}),
        },
        "items.value -> each.items",
        "each.current_item -> a.item",
        *(gated if asks else ["a.attempts -> each.loop_back"]),
    )


@pytest.mark.parametrize(
    ("failures", "calls", "completes"),
    [([2, 0], ["a:0"] * 3 + ["a:1"], True), ([2, 1], ["a:0"] * 3 + ["a:1"], False)],
)
async def test_the_bound_of_retries_is_that_of_the_whole_run(
    stage: Stage, failures: list[int], calls: list[str], completes: bool
) -> None:
    """FD-32: both retries used in the first round leave none for the second."""
    thread = f"retry-bound-{failures[1]}"
    document = in_rounds(failures)
    handle = await stage.start(thread, graph=document)
    if completes:
        result = await handle.result()
        assert result["results"]["each:2"]["collected_results"] == [3, 1]
    else:
        failure: ApplicationError = await failure_of(handle)
        assert failure.message == "not yet"
    assert CALLS[thread] == calls


async def test_the_bound_holds_over_every_execution_that_continues_the_run(
    client: Client, log_url: str
) -> None:
    """FD-32: retries used in the first execution are used up in the third."""
    thread, failures = "retry-continued", [1, *[0] * 12, 1, *[0] * 12, 1]
    async with staged(client, log_url, continue_after=40) as stage:
        handle = await stage.start(thread, graph=in_rounds(failures))
        assert (await failure_of(handle)).message == "not yet"
        latest: Handle = client.get_workflow_handle(handle.id)
        assert (await latest.describe()).run_id != handle.first_execution_run_id
    tries = [CALLS[thread].count(f"a:{number}") for number in range(len(failures))]
    assert tries == [2, *[1] * 12, 2, *[1] * 12, 1]


async def test_the_bound_holds_for_an_execution_that_takes_the_run_over(stage: Stage) -> None:
    """FD-32: both were used before the gate at which the first workflow was lost."""
    thread = "retry-adopted"
    document = in_rounds([2, 1], asks=True)
    handle = await stage.start(thread, graph=document)
    (ticket,) = await until_waiting_for(handle, "gate:0:0")
    await terminated(handle)
    taken = await stage.start(thread, graph=document)
    await update(taken, "resume", {"ticket": ticket["ticket"], "decision": "approve"})
    assert (await failure_of(taken)).message == "not yet"
    assert CALLS[thread] == ["a:0", "a:0", "a:0", "a:1"]
