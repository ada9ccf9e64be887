"""Node types whose calls are counted, in a file that outlives the process."""

import asyncio
import threading
from pathlib import Path
from typing import Any

from activities import Ask, NodeCall, NodeError, node
from tests.engine.nodes import CALLS, GATES


@node("counted")
async def counted(call: NodeCall) -> dict[str, Any]:
    """Note the call's effect key in a file and come to what config ``to`` names."""
    with Path(call.config["calls"]).open("a") as calls:
        calls.write(f"{call.effect_key}\n")
    match call.config["to"]:
        case "question" if call.answer is None:
            raise Ask("Which account?", kind="text")
        case "failure":
            raise NodeError("no money", code="empty", details={"missing": 3})
        case "crash":
            raise ValueError("boom")
        case _:
            return {"value": call.answer or 7, "nothing": None}


@node("slow_at_first", timeout=30)
async def slow_at_first(call: NodeCall) -> dict[str, Any]:
    """Wait on the first call until the named event is set; return the number of the call."""
    seen = CALLS.setdefault(call.thread_id, [])
    seen.append(call.effect_key)
    number = len(seen)
    event = GATES.setdefault(call.config["name"], threading.Event())
    while number == 1 and not event.is_set():
        await asyncio.sleep(0.01)
    return {"call": number}


@node("short", timeout=2)
async def short(call: NodeCall) -> dict[str, Any]:
    """Return at once, where there is not much time."""
    CALLS.setdefault(call.thread_id, []).append(call.effect_key)
    return {"value": 1}
