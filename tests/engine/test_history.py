"""What a node costs in history, whatever the length of the conversation."""

from typing import Any

import pytest

from tests.engine.stage import Stage

LOOP: dict[str, Any] = {
    "id": "no-op-loop",
    "nodes": [
        {"id": "items", "type": "value"},
        {"id": "each", "type": "for_each"},
        {"id": "work", "type": "no_op"},
    ],
    "edges": [
        "items.value -> each.items",
        "each.current_index -> work.index",
        "work.value -> each.loop_back",
    ],
}


async def cost(stage: Stage, thread: str, rounds: int) -> tuple[int, int]:
    """Events and bytes of the history of a run with as many no-op effects."""
    items = {"items": {"value": [0] * rounds}}
    handle = await stage.start(thread, graph=LOOP, input=items)
    await handle.result()
    info = (await handle.describe()).raw_description.workflow_execution_info
    return info.history_length, info.history_size_bytes


@pytest.mark.parametrize("messages", [0, 2000])
async def test_a_no_op_effect_adds_at_most_7_events_and_1500_bytes(
    stage: Stage, messages: int
) -> None:
    thread = f"history-{messages}"
    for first in range(0, messages, 500):
        said = [{"role": "user", "content": f"m{first + number}"} for number in range(500)]
        await stage.run(
            thread, {"graph": LOOP, "messages": said, "input": {"items": {"value": []}}}
        )
    short = await cost(stage, thread, 10)
    long = await cost(stage, thread, 30)
    assert (long[0] - short[0]) / 20 <= 7
    assert (long[1] - short[1]) / 20 <= 1500
