"""Node types of the sample graphs and of the tests.

They show the ways a node may be written: a branch, a retryable failure, a crash, a state
update, a plain function.
"""

import asyncio
from pathlib import Path
from typing import cast

from activities import NodeCall, NodeError, node
from seeding.model import Json, JsonObject


@node("expense_policy", branches=("within", "over"), declares=("__messages__",), max_retries=2)
async def expense_policy(call: NodeCall) -> JsonObject:
    """Follow ``over`` with an amount above the configured limit, else ``within``."""
    port = "over" if call.inputs["item"] > call.config["limit"] else "within"
    return {port: call.inputs["item"], "active_branches": [port]}


@node("process_item")
async def process_item(call: NodeCall) -> JsonObject:
    """Change the strings inside ``input`` as config ``operation`` says; the rest stays.

    Raises:
        NodeError: The operation is not uppercase, lowercase or passthrough.
    """
    operation = call.config.get("operation", "passthrough")
    if operation not in ("uppercase", "lowercase", "passthrough"):
        raise NodeError(
            f"operation {operation!r} is none of uppercase, lowercase, passthrough",
            code="unknown_operation",
        )
    return {"output": _changed(call.inputs.get("input"), operation)}


def _changed(value: Json, operation: str) -> Json:
    if isinstance(value, str):
        changes = {"uppercase": value.upper(), "lowercase": value.lower()}
        return changes.get(operation, value)
    if isinstance(value, list):
        return [_changed(item, operation) for item in cast(list[Json], value)]
    if isinstance(value, dict):
        return {key: _changed(item, operation) for key, item in cast(JsonObject, value).items()}
    return value


@node("noop")
async def noop(call: NodeCall) -> JsonObject:
    """Return the inputs as ``value``."""
    return {"value": call.inputs}


@node("slow")
async def slow(call: NodeCall) -> JsonObject:
    """Wait config ``seconds`` (1 by default), then return input ``value``."""
    await asyncio.sleep(call.config.get("seconds", 1))
    return {"value": call.inputs.get("value")}


@node("fail", max_retries=2)
async def fail(call: NodeCall) -> JsonObject:
    """Fail with config ``message``: as the node's own error, or with ``fatal`` as a crash.

    Raises:
        NodeError: By default; ``retryable`` and ``code`` come from the config.
        RuntimeError: With config ``fatal``.
    """
    message = str(call.config.get("message", "this node always fails"))
    if call.config.get("fatal"):
        raise RuntimeError(message)
    raise NodeError(
        message,
        code=call.config.get("code", "sample_failure"),
        retryable=call.config.get("retryable", False),
    )


@node("count_call")
def count_call(call: NodeCall) -> JsonObject:
    """Append the effect key to the file of config ``file``; return how often it was run.

    The file is what the outside world saw: whether an effect was repeated, and under which key.
    """
    path = Path(call.config["file"])
    with path.open("a", encoding="utf-8") as seen:
        seen.write(f"{call.effect_key}\n")
    return {"value": len(path.read_text(encoding="utf-8").splitlines())}


@node("set_state")
async def set_state(call: NodeCall) -> JsonObject:
    """Return config ``state_update`` as the control output of that name (SG-3)."""
    return {"state_update": call.config["state_update"]}


@node("sync_double")
def sync_double(call: NodeCall) -> JsonObject:
    """Return twice the input ``value``; a plain function, run in a thread."""
    return {"value": call.inputs["value"] * 2}
