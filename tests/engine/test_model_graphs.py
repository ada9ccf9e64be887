"""Generated graphs on the real engine, each beside the interpreter that knows only the rules.

``make soak ARGS='-k generated_graphs'`` goes through more of them.
"""

import pytest
from temporalio.client import Client

from tests.engine.model_runs import agree_on_all
from tests.engine.stage import staged
from tests.model.graph_generator import generate

EVENTS = {0: 1000, 10: 30, 20: 1000, 30: 30, 40: 1000}
"""The first of each ten cases, and after how many events their runs continue as new."""


@pytest.mark.parametrize("ten", EVENTS)
async def test_the_engine_does_what_the_rules_say(client: Client, log_url: str, ten: int) -> None:
    cases = [generate(seed) for seed in range(ten, ten + 10)]
    async with staged(client, log_url, continue_after=EVENTS[ten]) as stage:
        agreed, differences = await agree_on_all(stage, cases)
    assert not differences, "\n".join(differences.values())
    assert len(agreed) == 10
