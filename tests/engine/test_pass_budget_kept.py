"""ORC-10 over what happens to a run meanwhile: takeovers, resets, new executions, delays."""

from temporalio.client import Client

from seeding.model import JsonObject
from tests.engine.gone import terminated
from tests.engine.graphs import graph, until_called, until_completed
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, staged
from tests.engine.test_effect_ledger import reset_to_before, scheduled
from tests.engine.test_pass_budget import CHAIN, lift, paused_by_budget, within


def beside(name: str) -> JsonObject:
    """A node that is held, and beside it a chain of two."""
    return graph(
        "beside",
        {"slow": ("held", {"name": name}), "quick": "noted", "next": "noted"},
        "quick.value -> next.value",
    )


def kinds(stage: Stage, thread: str) -> list[tuple[str | None, str]]:
    return [(row.node_id, row.kind) for row in stage.log.checkpoints(thread)]


async def test_a_run_recovered_before_its_pause_ends_what_was_called_within_the_budget(
    stage: Stage,
) -> None:
    thread = "kept-recovered"
    handle = await stage.start(thread, within(1, beside(thread)))
    await until_called(thread, "slow:0")
    await until_completed(handle, "quick")
    await terminated(handle)
    GATES[thread].set()
    taken = await stage.start(thread, graph=beside(thread), recover=True)
    await paused_by_budget(taken)
    assert kinds(stage, thread) == [("quick", "node"), ("slow", "node"), (None, "pause")]
    assert "next:0" not in CALLS[thread]
    await lift(taken)
    assert sorted((await taken.result())["results"]) == ["next", "quick", "slow"]


async def test_a_run_that_is_reset_goes_on_from_the_pause_that_the_log_holds(stage: Stage) -> None:
    thread = "kept-reset"
    started = await stage.start(thread, within(2, CHAIN))
    pause = await paused_by_budget(started)
    commits = stage.log.commits(thread)
    handle = await reset_to_before(stage.client, started, scheduled("run_node"))
    again = await paused_by_budget(handle)
    assert again == pause
    assert stage.log.commits(thread) == commits
    await lift(handle)
    await paused_by_budget(handle, 1)
    assert CALLS[thread] == ["a:0", "b:0", "c:0", "d:0"]
    await lift(handle)
    assert (await handle.result())["status"] == "completed"
    assert CALLS[thread] == [f"{node}:0" for node in "abcde"]


async def test_an_execution_that_continues_while_paused_holds_the_pause_and_what_is_left(
    client: Client, log_url: str
) -> None:
    """What makes it continue is a history grown long by commands that are refused."""
    thread = "kept-continued"
    async with staged(client, log_url, continue_after=20) as stage:
        first = await stage.start(thread, within(2, CHAIN))
        pause = await paused_by_budget(first)
        latest: Handle = client.get_workflow_handle(first.id)
        for _ in range(100):
            await latest.signal("resume", {"ticket": "nothing", "decision": "approve"})
            if (await latest.describe()).run_id != first.first_execution_run_id:
                break
        assert (await latest.describe()).run_id != first.first_execution_run_id
        assert await paused_by_budget(latest) == pause
        assert CALLS[thread] == ["a:0", "b:0"]
        await lift(latest)
        await paused_by_budget(latest, 1)
        assert CALLS[thread] == ["a:0", "b:0", "c:0", "d:0"]
        await lift(latest)
        assert (await latest.result())["status"] == "completed"


async def test_a_delay_is_a_pass_like_a_call(stage: Stage) -> None:
    document = graph(
        "delayed",
        {"a": "noted", "wait": ("delay", {"duration": "50ms"}), "b": "noted"},
        "a.value -> wait.item",
        "wait.item -> b.item",
    )
    handle = await stage.start("kept-delay", within(2, document))
    await paused_by_budget(handle)
    assert (await handle.query("progress"))["wait"] == {"status": "completed", "executions": 1}
    assert CALLS["kept-delay"] == ["a:0"]
    await lift(handle)
    assert (await handle.result())["status"] == "completed"


async def test_a_delay_that_is_running_holds_no_pause_up_and_ends_while_the_run_is_paused(
    stage: Stage,
) -> None:
    thread = "kept-delay-beside"
    document = graph(
        "delay-beside",
        {
            "wait": ("delay", {"duration": "1s"}),
            "after": "noted",
            "start": ("value", {"value": 1}),
            "a": "noted",
            "b": "noted",
        },
        "start.value -> wait.item",
        "wait.item -> after.item",
        "a.value -> b.value",
    )
    handle = await stage.start(thread, within(2, document))
    await paused_by_budget(handle)
    called = list(CALLS[thread])
    await until_completed(handle, "wait")
    assert (await handle.query("state"))["run"]["pausedReason"] == "max_passes"
    assert CALLS[thread] == called
    await lift(handle)
    assert (await handle.result())["status"] == "completed"
    assert sorted(CALLS[thread]) == ["a:0", "after:0", "b:0"]
