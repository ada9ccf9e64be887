"""A start on a thread whose log is damaged is refused by name, and frees the thread's name."""

import sqlite3
from contextlib import closing

import pytest

from tests.engine.graphs import graph
from tests.engine.stage import Stage, failure_of

TURN = graph("turn", {"keep": ("set", {"state_update": {"data": {"k": "v"}}})})


def damage(stage: Stage, statement: str) -> None:
    path = stage.log_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert other.execute(statement).rowcount == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("altered", """'"other"'"""), ("no-text", "cast(x'7b22ff' as text)")],
)
async def test_the_next_turn_of_a_damaged_thread_is_refused_and_the_others_go_on(
    stage: Stage, name: str, value: str
) -> None:
    thread = f"damaged-{name}"
    assert (await stage.run(thread, {"graph": TURN}))["status"] == "completed"
    damage(stage, f"UPDATE cells SET value = {value} WHERE thread_id = '{thread}' AND key = 'k'")

    refused = await failure_of(await stage.start(thread, graph=TURN))

    assert refused.type == "CorruptLog"
    assert refused.non_retryable
    again = await failure_of(await stage.start(thread, graph=TURN))
    assert again.type == "CorruptLog"
    assert (await stage.run(f"{thread}-other", {"graph": TURN}))["status"] == "completed"
