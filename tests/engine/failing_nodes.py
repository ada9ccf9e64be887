"""Node types that fail in ways no node should, and one that blocks its event loop."""

import threading
from typing import Any

from temporalio import activity

from activities import NodeCall, NodeError, node
from tests.engine.nodes import CALLS, GATES

SIZE = 5_000_000

ENORMOUS = {
    "text": "RuntimeError: eeee",
    "cause": "RuntimeError: outer",
    "context": "RuntimeError: outer",
    "note": "RuntimeError: outer\nnnnn",
    "name": "NNNN",
    "unread": "Unread: (Unread that has no text)",
}
"""The kinds of ``is_enormous``, each with how its failure's message begins."""


class GivesUp(BaseException):
    """Not even an ``Exception``."""


class Unread(Exception):
    """An exception whose text cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError("e" * SIZE)


@node("is_enormous")
async def is_enormous(call: NodeCall) -> dict[str, Any]:
    """Raise an exception with 5 MB in the configured part of it."""
    kind = call.config["kind"]
    if kind == "text":
        raise RuntimeError("e" * SIZE)
    if kind == "cause":
        raise RuntimeError("outer") from RuntimeError("e" * SIZE)
    if kind == "context":
        try:
            raise RuntimeError("e" * SIZE)
        except RuntimeError:
            raise RuntimeError("outer")  # noqa: B904 - the context is what is tested
    if kind == "note":
        error = RuntimeError("outer")
        error.add_note("n" * SIZE)
        raise error
    if kind == "name":
        raise type("N" * 1_000_000, (Exception,), {})("short")
    raise Unread


@node("is_an_enormous_node_error")
async def is_an_enormous_node_error(call: NodeCall) -> dict[str, Any]:
    """Raise a node error with 5 MB in each of its parts."""
    raise NodeError("m" * SIZE, code="c" * SIZE, details="d" * SIZE)


@node("raises_a_type_error")
async def raises_a_type_error(call: NodeCall) -> dict[str, Any]:
    """Raise an exception of a common type."""
    raise TypeError("no number")


@node("says_nothing")
async def says_nothing(call: NodeCall) -> dict[str, Any]:
    """Raise an exception without a text."""
    raise ValueError


@node("is_interrupted")
async def is_interrupted(call: NodeCall) -> dict[str, Any]:
    """Raise what Ctrl-C raises."""
    raise KeyboardInterrupt("enough")


@node("is_interrupted_plainly")
def is_interrupted_plainly(call: NodeCall) -> dict[str, Any]:
    """Raise what Ctrl-C raises, from a thread."""
    raise KeyboardInterrupt("enough")


@node("gives_up")
async def gives_up(call: NodeCall) -> dict[str, Any]:
    """Raise what is not even an ``Exception``."""
    raise GivesUp("for good")


@node("blocks_its_loop", timeout=30)
async def blocks_its_loop(call: NodeCall) -> dict[str, Any]:
    """Block the event loop it runs on until the named event is set."""
    CALLS.setdefault(call.thread_id, []).append(f"{call.node_id}:{call.occurrence}")
    GATES.setdefault(call.config["name"], threading.Event()).wait(20)
    return {"released": GATES[call.config["name"]].is_set()}


@node("knows_its_activity")
async def knows_its_activity(call: NodeCall) -> dict[str, Any]:
    """Return what Temporal says of the activity, and heartbeat."""
    activity.heartbeat("on its way")
    return {"type": activity.info().activity_type, "workflow": activity.info().workflow_id}


@node("knows_its_activity_plainly")
def knows_its_activity_plainly(call: NodeCall) -> dict[str, Any]:
    """Return what Temporal says of the activity, from a thread."""
    return {"type": activity.info().activity_type, "workflow": activity.info().workflow_id}
