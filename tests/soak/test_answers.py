"""Many runs that are answered, cancelled, paused and written to at random moments.

``make soak ARGS='-k answered --schedules 500 --first-seed 0 --together 4'``; a run that failed is
made again with its seed as the first and ``--schedules 1``.
"""

import asyncio
import time
from pathlib import Path

import pytest
from temporalio.client import Client

import tests.engine.paying_nodes as paying_nodes
from tests.engine.judged_answers import judge
from tests.engine.random_answers import answer_at_random, schedule_of

assert paying_nodes.__name__  # Imported for the node types it declares.


async def test_runs_that_are_answered_at_random_have_one_outcome_a_ticket(
    client: Client,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, count, together = (
        int(str(pytestconfig.getoption(name)))
        for name in ("--first-seed", "--schedules", "--together")
    )
    places = asyncio.Semaphore(together)
    failed: list[str] = []
    started = time.monotonic()

    async def one(seed: int) -> None:
        async with places:
            folder = tmp_path / str(seed)
            folder.mkdir()
            try:
                await answer_at_random(client, folder, seed, judge)
            except AssertionError as error:
                failed.append(f"seed {seed}: {error}")

    seeds = range(first, first + count)
    await asyncio.gather(*(one(seed) for seed in seeds))
    kills = sum(len(schedule_of(seed).kills) for seed in seeds)
    sent = sum(len(schedule_of(seed).steps) for seed in seeds)
    with capsys.disabled():
        print(
            f"\n{count} schedules, {sent} things sent, {kills} workers killed, in "
            f"{time.monotonic() - started:.0f} s; {len(failed)} failed"
        )
        print(*failed, sep="\n")
    assert failed == []
