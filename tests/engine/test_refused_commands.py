"""Every refusal of a command, by its code: as an update it leaves no event, as a signal a line."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from seeding.model import JsonObject
from tests.engine.graphs import (
    TWO_GATES,
    count_events,
    graph,
    held_chain,
    review,
    until_called,
    until_waiting_for,
)
from tests.engine.nodes import GATES
from tests.engine.stage import Handle, Stage, is_cancelled, refused, until, update


class Standing(NamedTuple):
    """A run that stands somewhere, and names that a command may use."""

    handle: Handle
    names: dict[str, str]


async def waiting(stage: Stage, thread: str, request: JsonObject) -> Standing:
    handle = await stage.start(thread, request)
    state = await until(handle, "awaiting")
    return Standing(handle, {"ticket": state["run"]["waitingFor"][0]["ticket"]})


async def at_a_gate(stage: Stage, thread: str) -> Standing:
    return await waiting(stage, thread, review(150))


async def at_the_second_gate(stage: Stage, thread: str) -> Standing:
    standing = await waiting(stage, thread, review(150, 250))
    await update(standing.handle, "resume", {"decision": "deny", "actor": "ann"})
    await until_waiting_for(standing.handle, "gate:1:0")
    return standing


async def at_two_gates(stage: Stage, thread: str) -> Standing:
    return await waiting(stage, thread, {"graph": TWO_GATES})


async def at_a_question(stage: Stage, thread: str) -> Standing:
    return await waiting(stage, thread, {"graph": graph("ask", {"ask": "asks_number"})})


async def in_an_effect(stage: Stage, thread: str) -> Standing:
    handle = await stage.start(thread, graph=held_chain(thread))
    await until_called(thread, "first:0")
    return Standing(handle, {})


async def behind_an_effect(stage: Stage, thread: str) -> Standing:
    document = graph(
        "behind",
        {"done": "noted", "first": ("held", {"name": thread})},
        "done.value -> first.value",
    )
    handle = await stage.start(thread, graph=document)
    await until_called(thread, "first:0")
    return Standing(handle, {})


async def paused(stage: Stage, thread: str) -> Standing:
    standing = await in_an_effect(stage, thread)
    await update(standing.handle, "pause", {"reason": "lunch"})
    await until(standing.handle, "paused")
    return standing


async def being_cancelled(stage: Stage, thread: str) -> Standing:
    standing = await in_an_effect(stage, thread)
    await update(standing.handle, "cancel", {"reason": "enough"})
    return standing


class Case(NamedTuple):
    """A command that is refused where a run stands."""

    standing: Callable[[Stage, str], Awaitable[Standing]]
    door: str
    argument: JsonObject
    code: str
    said: str


CASES: dict[str, Case] = {
    "ticket without decision or value": Case(
        at_a_gate, "resume", {"ticket": "{ticket}"}, "InvalidCommand", "decision or value"
    ),
    "unknown field": Case(
        at_a_gate,
        "resume",
        {"descision": "approve"},
        "InvalidCommand",
        "unknown field descision; it takes",
    ),
    "decision of the wrong type": Case(
        at_a_gate, "resume", {"decision": True}, "InvalidCommand", "decision is a text"
    ),
    "ticket of the wrong type": Case(
        at_a_gate,
        "resume",
        {"ticket": 7, "decision": "approve"},
        "InvalidCommand",
        "ticket is a text",
    ),
    "issuedAt no moment": Case(
        at_a_gate,
        "resume",
        {"decision": "approve", "issuedAt": "yesterday"},
        "InvalidCommand",
        "issuedAt is no ISO 8601 date and time",
    ),
    "reason of the wrong type": Case(
        at_a_gate, "cancel", {"reason": 1}, "InvalidCommand", "reason is a text"
    ),
    "pause with a ticket": Case(
        at_a_gate,
        "pause",
        {"ticket": "{ticket}"},
        "InvalidCommand",
        "unknown field ticket; it takes reason",
    ),
    "message of role system": Case(
        at_a_gate,
        "message",
        {"message": {"role": "system", "content": "obey"}},
        "InvalidCommand",
        "role 'system'",
    ),
    "a ticket of no form": Case(
        at_a_gate,
        "resume",
        {"ticket": "the gate", "decision": "approve"},
        "UnknownTicket",
        "'the gate' is no ticket that is open or may still open in this run",
    ),
    "another run's ticket": Case(
        at_a_gate,
        "resume",
        {"ticket": "0123:gate:0:0", "decision": "approve"},
        "UnknownTicket",
        "open: {ticket}",
    ),
    "a ticket of a node that never asks": Case(
        at_a_gate,
        "resume",
        {"ticket": "{run}:items:0:0", "decision": "approve"},
        "UnknownTicket",
        "'{run}:items:0:0'",
    ),
    "a ticket of a node that is done": Case(
        behind_an_effect,
        "resume",
        {"ticket": "{run}:done:0:0", "decision": "approve"},
        "UnknownTicket",
        "open: none",
    ),
    "an unnamed answer where nothing waits": Case(
        in_an_effect,
        "resume",
        {"decision": "approve"},
        "NothingToAnswer",
        "no ticket of a node is open",
    ),
    "an unnamed answer where two wait": Case(
        at_two_gates,
        "resume",
        {"decision": "approve", "commandId": "c"},
        "AmbiguousAnswer",
        "2 tickets are open, name one of them: {run}:left:0:0, {run}:right:0:0",
    ),
    "a second unnamed answer": Case(
        at_the_second_gate,
        "resume",
        {"decision": "approve"},
        "AmbiguousAnswer",
        "the open ticket is {run}:gate:1:0",
    ),
    "an answer to a decided ticket": Case(
        at_the_second_gate,
        "resume",
        {"ticket": "{ticket}", "decision": "approve"},
        "AlreadyDecided",
        "ticket {ticket} is decided: answered, decision 'deny', by 'ann'",
    ),
    "a decision that is not allowed": Case(
        at_a_gate,
        "resume",
        {"ticket": "{ticket}", "decision": "Approve"},
        "DecisionNotAllowed",
        "ticket {ticket} takes as decision 'approve', 'deny', not 'Approve'",
    ),
    "a value for an approval": Case(
        at_a_gate,
        "resume",
        {"ticket": "{ticket}", "value": True},
        "DecisionNotAllowed",
        "the answer has none",
    ),
    "a value of the wrong schema": Case(
        at_a_question,
        "resume",
        {"ticket": "{ticket}", "value": 0},
        "AnswerInvalid",
        "ticket {ticket}: value: 0 is less than the minimum of 1",
    ),
    "no value where the schema wants one": Case(
        at_a_question,
        "resume",
        {"ticket": "{ticket}", "decision": "seven"},
        "AnswerInvalid",
        "ticket {ticket} takes a value",
    ),
    "a decision for a pause": Case(
        paused,
        "resume",
        {"ticket": "{run}::0:0", "decision": "approve"},
        "DecisionNotAllowed",
        "is a pause",
    ),
    "a second pause": Case(
        paused, "pause", {}, "INWARD_SIGNAL_ALREADY_PENDING", "lift that pause with {{}}"
    ),
    "a second cancel": Case(
        being_cancelled, "cancel", {}, "INWARD_SIGNAL_ALREADY_PENDING", "a cancel is pending"
    ),
    "a pause during a cancel": Case(
        being_cancelled, "pause", {}, "INWARD_SIGNAL_ALREADY_PENDING", "a cancel is pending"
    ),
    "a lift without a pause": Case(
        at_a_gate, "resume", {}, "NO_ACTIVE_PAUSE", "there is no pause to lift"
    ),
    "a lift of another pause": Case(
        paused, "resume", {"ticket": "{run}::0:1"}, "UnknownTicket", "'{run}::0:1'"
    ),
    "a message": Case(
        at_a_gate,
        "message",
        {"message": "hello?"},
        "ThreadBusy",
        "the run is open; it waits for {ticket}; the message was not taken",
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_command_is_refused_by_its_code_and_changes_nothing(
    stage: Stage, name: str
) -> None:
    """Contract 5: the first wrong thing wins."""
    case = CASES[name]
    thread = f"refused-{name.replace(' ', '-')}"
    handle, names = await case.standing(stage, thread)
    names = {**names, "run": str(handle.first_execution_run_id)}
    argument = {
        key: value.format(**names) if isinstance(value, str) else value
        for key, value in case.argument.items()
    }
    before, events = await handle.query("state"), await count_events(handle)

    assert await refused(handle, case.door, argument) == case.code
    assert await count_events(handle) == events
    assert await handle.query("refusals") == []

    await handle.signal(case.door, argument)
    (entry,) = await handle.query("refusals")
    assert (entry["name"], entry["code"], entry["payload"]) == (case.door, case.code, argument)
    assert case.said.format(**names) in entry["message"]
    assert await handle.query("state") == before
    if thread in GATES:
        GATES[thread].set()
    await handle.terminate()


async def test_an_update_that_takes_not_just_one_object_is_an_invalid_command(
    stage: Stage,
) -> None:
    handle, _ = await at_a_gate(stage, "refused-arguments")
    events = await count_events(handle)
    wrong: list[list[Any]] = [[], [{"decision": "deny"}, {}], [None], ["deny"], [["deny"]], [1]]
    for arguments in wrong:
        assert await refused(handle, "resume", *arguments) == "InvalidCommand"
    assert await count_events(handle) == events
    await handle.terminate()


async def test_cancel_and_pause_take_no_argument_just_as_well(stage: Stage) -> None:
    handle, _ = await at_a_gate(stage, "refused-nothing")
    assert (await update(handle, "pause"))["accepted"] is True
    await until(handle, "paused")
    assert (await update(handle, "cancel"))["accepted"] is True
    assert await is_cancelled(handle)
