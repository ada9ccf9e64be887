"""Many runs whose workers die at random, each beside the same run whose worker lived.

``make soak ARGS='--runs 200 --first-seed 0 --together 4'``; a run that failed is made again
with its seed as the first and ``--runs 1``. ``--database postgresql`` keeps the logs there.
"""

import asyncio
import time
from pathlib import Path

import pytest
from temporalio.client import Client

import tests.engine.paying_nodes as paying_nodes
from tests.engine.random_crashes import crash_at_random
from tests.postgresql_server import PostgresqlServer

assert paying_nodes.__name__  # Imported for the node types it declares.


async def test_runs_whose_workers_die_at_random_end_as_if_they_had_lived(
    client: Client,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, count, together = (
        int(str(pytestconfig.getoption(name))) for name in ("--first-seed", "--runs", "--together")
    )
    server: PostgresqlServer | None = None
    if pytestconfig.getoption("--database") == "postgresql":
        server = request.getfixturevalue("postgresql")
    places = asyncio.Semaphore(together)
    failed: list[str] = []
    started = time.monotonic()

    async def one(seed: int) -> None:
        async with places:
            folder = tmp_path / str(seed)
            folder.mkdir()
            try:
                url = None if server is None else server.new_url()
                await crash_at_random(client, folder, seed, url)
            except AssertionError as error:
                failed.append(f"seed {seed}: {error}")

    await asyncio.gather(*(one(seed) for seed in range(first, first + count)))
    with capsys.disabled():
        print(f"\n{count} runs in {time.monotonic() - started:.0f} s, {len(failed)} of them failed")
        print(*failed, sep="\n")
    assert failed == []
