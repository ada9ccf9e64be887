"""Node types that only tests need."""

import asyncio
import threading
from pathlib import Path
from typing import Any

from temporalio import activity

from activities import Ask, NodeCall, NodeError, node
from seeding.model import as_list

CALLS: dict[str, list[str]] = {}
"""Effect keys of the calls each thread has seen, in order."""

GATES: dict[str, threading.Event] = {}
"""Events that ``held`` nodes wait for, by name."""


@node("noted")
async def noted(call: NodeCall) -> dict[str, Any]:
    """Note the call and pass the inputs on."""
    CALLS.setdefault(call.thread_id, []).append(f"{call.node_id}:{call.occurrence}")
    return {"value": call.inputs}


@node("held")
async def held(call: NodeCall) -> dict[str, Any]:
    """Return once the named event is set."""
    CALLS.setdefault(call.thread_id, []).append(f"{call.node_id}:{call.occurrence}")
    event = GATES.setdefault(call.config["name"], threading.Event())
    while not event.is_set():
        await asyncio.sleep(0.01)
    return {"value": call.node_id}


@node("flaky", max_retries=2)
async def flaky(call: NodeCall) -> dict[str, Any]:
    """Fail, retryably, as often as configured; then return the keys of all attempts."""
    seen = CALLS.setdefault(call.thread_id, [])
    seen.append(call.effect_key)
    if len(seen) <= call.config["failures"]:
        raise NodeError("not yet", code="busy", retryable=True)
    return {"keys": list(seen)}


@node("reads_messages", declares=("__messages__", "__data__", "__current_item__"))
async def reads_messages(call: NodeCall) -> dict[str, Any]:
    """Return what the node was given of the thread."""
    return {"internal": dict(call.internal)}


@node("blind")
async def blind(call: NodeCall) -> dict[str, Any]:
    """Return what a node that declares nothing was given."""
    return {"internal": dict(call.internal)}


@node("asks")
async def asks(call: NodeCall) -> dict[str, Any]:
    """Ask until the answer is the configured one."""
    if call.answer != call.config["wanted"]:
        raise Ask("What is it?", kind="text", deadline=call.config.get("deadline"))
    return {"answers": list(call.answers), "interrupt": call.internal["__interrupt_id__"]}


@node("large")
async def large(call: NodeCall) -> dict[str, Any]:
    """Return a text of the configured size."""
    return {"value": "x" * call.config["size"]}


@node("measure")
async def measure(call: NodeCall) -> dict[str, Any]:
    """Return how long the text given is."""
    return {"length": len(call.inputs["text"])}


@node("not_json")
async def not_json(call: NodeCall) -> dict[str, Any]:
    """Return something that is no JSON."""
    return {"a": {"b": {1, 2}}}


@node("waits_for_file")
async def waits_for_file(call: NodeCall) -> dict[str, Any]:
    """Note the call in one file and return once another one exists."""
    with Path(call.config["calls"]).open("a") as calls:
        calls.write(f"{call.effect_key}\n")
    while not Path(call.config["path"]).exists():
        await asyncio.sleep(0.02)
    return {"value": call.node_id}


@node("together", timeout=20)
async def together(call: NodeCall) -> dict[str, Any]:
    """Return once as many calls as configured are under way at the same moment."""
    seen = CALLS.setdefault(call.thread_id, [])
    seen.append(f"{call.node_id}:{call.occurrence}")
    while len(seen) < call.config["count"]:
        await asyncio.sleep(0.01)
    return {"value": call.node_id}


@node("stalls", timeout=0.5)
async def stalls(call: NodeCall) -> dict[str, Any]:
    """Take longer than the type's timeout allows."""
    await asyncio.sleep(30)
    return {}


@node("blocks", timeout=20)
def blocks(call: NodeCall) -> dict[str, Any]:
    """Block its thread until the named event is set; a plain function."""
    CALLS.setdefault(call.thread_id, []).append(f"{call.node_id}:{call.occurrence}")
    GATES.setdefault(call.config["name"], threading.Event()).wait(20)
    return {"value": threading.current_thread() is threading.main_thread()}


@node("asks_number")
async def asks_number(call: NodeCall) -> dict[str, Any]:
    """Ask for a whole number from 1 up, once."""
    if call.answer is None:
        raise Ask("How many?", kind="form", schema={"type": "integer", "minimum": 1})
    return {"value": call.answer}


@node("asks_as_configured")
async def asks_as_configured(call: NodeCall) -> dict[str, Any]:
    """Ask with the fields of config ``ask``."""
    raise Ask("Is this a question?", **call.config["ask"])


@node("fails_with")
async def fails_with(call: NodeCall) -> dict[str, Any]:
    """Fail with a node error made of the whole config."""
    raise NodeError("it failed", **call.config)


@node("fails_oddly")
async def fails_oddly(call: NodeCall) -> dict[str, Any]:
    """Fail with a node error whose details are no JSON."""
    raise NodeError("it failed", code="odd", details={"when": {1, 2}})


@node("crashes_at_length")
async def crashes_at_length(call: NodeCall) -> dict[str, Any]:
    """Raise an exception with a text of the configured size."""
    raise ValueError("x" * call.config["size"])


@node("returns")
async def returns(call: NodeCall) -> Any:
    """Return config ``outputs``, whatever it is."""
    return call.config["outputs"]


@node("sees_everything", declares=("__state__", "__messages__", "__data__", "__iterator__"))
async def sees_everything(call: NodeCall) -> dict[str, Any]:
    """Return all that the node was given of the thread."""
    return {"internal": dict(call.internal)}


@node("flaky_rounds", max_retries=2)
async def flaky_rounds(call: NodeCall) -> dict[str, Any]:
    """Fail as often as config ``failures`` says for each occurrence, then return the attempts."""
    seen = CALLS.setdefault(call.thread_id, [])
    seen.append(f"{call.node_id}:{call.occurrence}")
    attempts = seen.count(f"{call.node_id}:{call.occurrence}")
    if attempts <= call.config["failures"][call.occurrence]:
        raise NodeError("not yet", code="busy", retryable=True)
    return {"attempts": attempts}


@node("no_op")
async def no_op(call: NodeCall) -> dict[str, Any]:
    """Do nothing."""
    return {"value": 0}


@node("two_spellings")
async def two_spellings(call: NodeCall) -> dict[str, Any]:
    """Return two ports whose names are one text in Unicode form NFC."""
    return {"e\u0301": 1, "\u00e9": 2}


@node("exits")
async def exits(call: NodeCall) -> dict[str, Any]:
    """Try to end the process."""
    raise SystemExit(3)


@node("exits_plainly")
def exits_plainly(call: NodeCall) -> dict[str, Any]:
    """Try to end the process, from a thread."""
    raise SystemExit(3)


@node("cancels_itself")
async def cancels_itself(call: NodeCall) -> dict[str, Any]:
    """Raise what a cancelled task raises."""
    raise asyncio.CancelledError


@node("ends_an_iteration")
def ends_an_iteration(call: NodeCall) -> dict[str, Any]:
    """Raise the one exception that a future cannot carry."""
    raise StopIteration


@node("raises_unicode")
async def raises_unicode(call: NodeCall) -> dict[str, Any]:
    """Raise an exception whose text is no Unicode."""
    raise ValueError("a\ud800b")


@node("fails_strangely")
async def fails_strangely(call: NodeCall) -> dict[str, Any]:
    """Fail with a node error of values of the wrong types."""
    odd: Any = 7
    raise NodeError("None \ud800", code=odd)


@node("signs_in", hidden=("token",))
async def signs_in(call: NodeCall) -> dict[str, Any]:
    """Return a name, and a secret that its type hides."""
    return {"name": "ada", "token": "-".join(("tok", "8c1f5d0a"))}


@node("cells_of")
async def cells_of(call: NodeCall) -> dict[str, Any]:
    """Return the cells of a row."""
    return {"cells": call.inputs["row"]["cells"]}


@node("routes", branches=("yes", "no", "aside"))
async def routes(call: NodeCall) -> dict[str, Any]:
    """Take the branches that config ``rounds`` lists for each occurrence, the last for ever."""
    CALLS.setdefault(call.thread_id, []).append(f"{call.node_id}:{call.occurrence}")
    rounds = call.config["rounds"]
    taken = rounds[min(call.occurrence, len(rounds) - 1)]
    return {"active_branches": taken, **dict.fromkeys(taken, call.occurrence)}


@node("nests")
async def nests(call: NodeCall) -> dict[str, Any]:
    """Return a value of as many lists in one another as configured."""
    value: Any = 1
    for _ in range(call.config["levels"]):
        value = [value]
    return {"v": value}


@node("measures_depth")
async def measures_depth(call: NodeCall) -> dict[str, Any]:
    """Return in how many lists the innermost value given is."""
    listed, levels = as_list(call.inputs["v"]), 0
    while listed is not None:
        listed, levels = as_list(listed[0]), levels + 1
    return {"levels": levels}


@node("hears_cancel")
async def hears_cancel(call: NodeCall) -> dict[str, Any]:
    """Note the call, note that its worker was told of a cancel, and return when let."""
    seen = CALLS.setdefault(call.thread_id, [])
    seen.append("called")
    while not activity.is_cancelled() and not GATES[call.thread_id].is_set():
        await asyncio.sleep(0.01)
    seen.append("heard" if activity.is_cancelled() else "heard nothing")
    while not GATES[call.thread_id].is_set():
        await asyncio.sleep(0.01)
    return {"value": "done"}
