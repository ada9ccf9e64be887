"""A few runs that are answered at random; ``make soak`` does the same for many seeds."""

from pathlib import Path

import pytest
from temporalio.client import Client

import tests.engine.paying_nodes as paying_nodes
from tests.engine.judged_answers import judge
from tests.engine.random_answers import answer_at_random

assert paying_nodes.__name__  # Imported for the node types it declares.


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
async def test_whatever_arrives_when_each_ticket_has_one_outcome_and_each_charge_is_made_once(
    client: Client, tmp_path: Path, seed: int
) -> None:
    await answer_at_random(client, tmp_path, seed, judge)
