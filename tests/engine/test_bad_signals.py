"""A signal of any name and shape neither fails nor wedges a run; what is refused is listed."""

from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import (
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.common import RawValue

from tests.engine.graphs import count_events, graph, held_chain, review, until_called
from tests.engine.nodes import GATES
from tests.engine.stage import Handle, Stage, refused, until, update


def payload(encoding: str, data: bytes) -> RawValue:
    return RawValue(Payload(metadata={"encoding": encoding.encode()}, data=data))


LONG = "long " * 600

SIGNALS: dict[str, tuple[str, list[Any], str, Any]] = {
    "no argument": ("resume", [], "resume takes one argument, a JSON object; there is none", None),
    "two arguments": (
        "resume",
        [{"decision": "approve"}, 2],
        "resume takes one argument, a JSON object, not 2",
        [{"decision": "approve"}, 2],
    ),
    "null": ("resume", [None], "resume takes a JSON object as its argument, this is null", None),
    "a text": (
        "resume",
        ["approve"],
        "resume takes a JSON object as its argument, this is a text",
        "approve",
    ),
    "a list": (
        "resume",
        [["approve"]],
        "resume takes a JSON object as its argument, this is a list",
        ["approve"],
    ),
    "a number": ("cancel", [9], "cancel takes a JSON object as its argument, this is a number", 9),
    "wrong field": (
        "cancel",
        [{"because": "enough"}],
        "cancel: unknown field because; it takes reason",
        {"because": "enough"},
    ),
    "unknown name": (
        "approve",
        [{"ticket": "x"}],
        "'approve' is no command of a run; the commands are resume, cancel, pause, message",
        {"ticket": "x"},
    ),
    "unknown name without arguments": ("stop", [], "'stop' is no command of a run; ", None),
    "unknown encoding": (
        "resume",
        [payload("weird", b"{}")],
        "resume: the payload cannot be decoded (",
        "",
    ),
    "no encoding": (
        "cancel",
        [RawValue(Payload(data=b"{}"))],
        "cancel: the payload cannot be decoded (",
        "",
    ),
    "broken JSON": (
        "resume",
        [payload("json/plain", b'{"decision": ')],
        "resume: the payload cannot be decoded (",
        "",
    ),
    "nested too deep to decode": (
        "resume",
        [payload("json/plain", b"[" * 100_000)],
        "resume: the payload cannot be decoded (",
        "",
    ),
    "binary": (
        "resume",
        [payload("binary/plain", b"\x00\xff")],
        "resume takes a JSON object as its argument, this is binary data",
        "\"b'\\\\x00\\\\xff'\"",
    ),
    "NaN": (
        "resume",
        [payload("json/plain", b'{"value": NaN}')],
        "resume: value: number that is not finite is no JSON value",
        '{"value": NaN}',
    ),
    "nested too deep to keep": (
        "resume",
        [payload("json/plain", b'{"value": ' + b"[" * 150 + b"]" * 150 + b"}")],
        "is no JSON value",
        '{"value": ' + "[" * 150 + "]" * 150 + "}",
    ),
    "two spellings of one key": (
        "resume",
        [{"decision": "approve", "value": {"e\u0301": 1, "\u00e9": 2}}],
        "resume: value: object with two keys that are the same text in NFC ('\u00e9') is no ",
        '{"decision": "approve", "value": {"e\\u0301": 1, "\\u00e9": 2}}',
    ),
    "3 KB": (
        "resume",
        [{"decison": LONG}],
        "resume: unknown field decison; it takes ticket, ",
        ('{"decison": "' + LONG)[:1024] + "…",
    ),
    "a value above 64 KB": (
        "resume",
        [{"decision": "approve", "value": "x" * 65_536}],
        "resume: value is 65548 bytes of JSON; a single value may have 65536",
        ('{"decision": "approve", "value": "' + "x" * 1024)[:1024] + "…",
    ),
}


async def finishes_well(handle: Handle, ticket: str) -> None:
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    assert (await handle.result())["status"] == "completed"


@pytest.mark.parametrize("name", SIGNALS)
async def test_a_bad_signal_is_listed_and_the_next_good_answer_works(
    stage: Stage, name: str
) -> None:
    signal, arguments, said, shown = SIGNALS[name]
    handle = await stage.start(f"bad-signal-{name.replace(' ', '-')}", review(150))
    state = await until(handle, "awaiting")
    await handle.signal(signal, args=arguments)
    (entry,) = await handle.query("refusals")
    assert (entry["name"], entry["code"]) == (signal, "InvalidCommand")
    assert said in entry["message"]
    if shown == "":
        assert isinstance(entry["payload"], str)
    else:
        assert entry["payload"] == shown
    assert await handle.query("state") == state
    await finishes_well(handle, state["run"]["waitingFor"][0]["ticket"])


async def test_all_bad_signals_before_the_first_task_leave_the_run_as_it_would_have_been(
    stage: Stage,
) -> None:
    await stage.stop()
    handle = await stage.start("bad-signals-first", review(150))
    for name, arguments, _, _ in SIGNALS.values():
        await handle.signal(name, args=arguments)
    await stage.serve()
    state = await until(handle, "awaiting")
    entries = await handle.query("refusals")
    assert [entry["name"] for entry in entries] == [name for name, *_ in SIGNALS.values()]
    assert {entry["code"] for entry in entries} == {"InvalidCommand"}
    await finishes_well(handle, state["run"]["waitingFor"][0]["ticket"])


async def test_the_last_hundred_refusals_are_listed_and_survive_a_new_worker(stage: Stage) -> None:
    handle = await stage.start("bad-signals-many", review(150))
    state = await until(handle, "awaiting")
    for number in range(105):
        await handle.signal("nonsense", number)
    entries = await handle.query("refusals")
    assert [entry["payload"] for entry in entries] == list(range(5, 105))
    await stage.restart()
    assert await handle.query("refusals") == entries
    await finishes_well(handle, state["run"]["waitingFor"][0]["ticket"])


async def test_a_bad_signal_during_an_effect_or_a_pause_changes_nothing(stage: Stage) -> None:
    thread = "bad-signal-effect"
    handle = await stage.start(thread, graph=held_chain(thread))
    await until_called(thread, "first:0")
    await handle.signal("resume", "garbage")
    await update(handle, "pause", {})
    await until(handle, "paused")
    await handle.signal("resume", {"lift": True})
    await handle.signal("pause", ["again"])
    assert [entry["code"] for entry in await handle.query("refusals")] == ["InvalidCommand"] * 3
    assert (await handle.query("state"))["run"]["phase"] == "paused"
    GATES[thread].set()
    await handle.signal("resume", {})
    assert (await handle.result())["status"] == "completed"


async def test_updates_of_an_unknown_name_or_encoding_are_refused_and_leave_no_event(
    stage: Stage,
) -> None:
    handle = await stage.start("bad-updates", review(150))
    state = await until(handle, "awaiting")
    events = await count_events(handle)
    sent: list[tuple[str, Any]] = [
        ("approve", {}),
        ("resume", payload("weird", b"{}")),
        ("resume", payload("json/plain", b"{")),
        ("cancel", payload("json/plain", b"[" * 100_000)),
    ]
    for name, argument in sent:
        with pytest.raises(WorkflowUpdateFailedError):
            await update(handle, name, argument)
    assert await refused(handle, "resume", payload("binary/plain", b"{}")) == "InvalidCommand"
    assert await count_events(handle) == events
    assert await handle.query("state") == state
    await finishes_well(handle, state["run"]["waitingFor"][0]["ticket"])


async def test_a_query_of_an_unknown_name_harms_nothing(stage: Stage) -> None:
    handle = await stage.start("bad-queries", review(150))
    state = await until(handle, "awaiting")
    with pytest.raises(WorkflowQueryFailedError, match="'stat' expected but not found"):
        await handle.query("stat")
    assert await handle.query("state") == state
    await finishes_well(handle, state["run"]["waitingFor"][0]["ticket"])


async def test_a_refused_start_takes_signals_without_harm(stage: Stage) -> None:
    handle = await stage.client.start_workflow(
        "Run",
        {"graph": graph("odd", {"odd": "teleport"})},
        id="thread/bad-both",
        task_queue=stage.task_queue,
        start_signal="resume",
        start_signal_args=["garbage"],
    )
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert (await handle.describe()).status == WorkflowExecutionStatus.FAILED
    assert [entry["code"] for entry in await handle.query("refusals")] == ["InvalidCommand"]
