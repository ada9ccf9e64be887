"""A few runs whose workers die at random; ``make soak`` does the same for many seeds."""

from pathlib import Path

import pytest
from temporalio.client import Client

import tests.engine.paying_nodes as paying_nodes
from tests.engine.random_crashes import crash_at_random

assert paying_nodes.__name__  # Imported for the node types it declares.


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_run_whose_workers_die_at_random_ends_as_if_they_had_lived(
    client: Client, tmp_path: Path, seed: int
) -> None:
    await crash_at_random(client, tmp_path, seed)


async def test_the_same_on_postgresql(client: Client, tmp_path: Path, postgresql_url: str) -> None:
    await crash_at_random(client, tmp_path, 4, postgresql_url)
