"""A worker process that was given up for dead comes back: it changes nothing (PB-E11).

It is stopped by a signal, so that it keeps its connections, its log and the node call it was in
the middle of, and goes on exactly there when all is over.
"""

from pathlib import Path

import pytest

import tests.engine.paying_nodes as paying_nodes
from seeding.model import JsonObject
from tests.engine.charges import Charges
from tests.engine.crashing import (
    assert_charged_once,
    assert_whole,
    begin,
    died_on,
    lived_on,
    paying_chain,
    thread_of,
    whole_log,
    worker_process,
)
from tests.engine.stage import Stage

assert paying_nodes.__name__  # Imported for the node types it declares.


@pytest.mark.parametrize(
    ("point", "then", "calls"),
    [
        ("before run_node pay", ["leaving run_node pay"], 1),
        ("before charge pay:0", ["after charge pay:0", "leaving run_node pay"], 2),
        ("after run_node pay", ["leaving run_node pay"], 1),
        ("before commit pay", ["leaving commit pay"], 1),
        ("before end_run", ["leaving end_run"], 1),
    ],
)
async def test_a_worker_that_wakes_up_after_another_one_ended_its_run_changes_no_byte_of_the_log(
    idle: Stage, tmp_path: Path, point: str, then: list[str], calls: int
) -> None:
    """A late call of the service carries the key of the first, so that nothing is charged twice."""
    service = tmp_path / "service"
    request: JsonObject = {"graph": paying_chain(service)}
    async with worker_process(idle, point) as zombie:
        handle = await begin(idle, died_on(idle), request)
        await zombie.reached()
        zombie.stop()
        await idle.serve()
        assert (await handle.result())["status"] == "completed"
        before = whole_log(idle)
        zombie.go_on()
        await zombie.passed(*then)
        assert whole_log(idle) == before
    await idle.run(lived_on(idle), request)
    assert thread_of(idle, died_on(idle)) == thread_of(idle, lived_on(idle))
    assert Charges(service).calls(died_on(idle)) == {"pay:0": calls, "again:0": 1}
    assert_charged_once(service, died_on(idle), "pay:0", "again:0")
    assert_whole(idle, died_on(idle))


async def test_a_worker_that_wakes_up_beside_its_successor_does_not_finish_the_effect_for_it(
    idle: Stage, tmp_path: Path
) -> None:
    """Two attempts are under way at once; only what the newest one came to is kept."""
    service = tmp_path / "service"
    thread, point = died_on(idle), "before charge pay:0"
    async with worker_process(idle, point) as zombie:
        handle = await begin(idle, thread, {"graph": paying_chain(service)})
        await zombie.reached()
        zombie.stop()
        async with worker_process(idle, point) as successor:
            await successor.reached()
            begun = idle.log.effects(thread)
            zombie.go_on()
            await zombie.passed("after charge pay:0", "leaving run_node pay")
            assert idle.log.effects(thread) == begun
            await zombie.kill()
            successor.go_on()
            assert (await handle.result())["status"] == "completed"
    assert [effect.attempts for effect in idle.log.effects(thread)] == [2, 1]
    assert Charges(service).calls(thread) == {"pay:0": 2, "again:0": 1}
    assert_charged_once(service, thread, "pay:0", "again:0")
    assert_whole(idle, thread)
