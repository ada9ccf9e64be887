"""Gates of every kind: what they ask, who may answer what, and where the answer leads."""

import asyncio
from typing import Any

import pytest

from seeding.model import Json, JsonObject
from tests.engine.stage import Handle, Stage, refused, until, update

AMOUNT: JsonObject = {
    "type": "object",
    "properties": {"amount": {"type": "integer", "minimum": 1}},
    "required": ["amount"],
}


def gated(**config: Any) -> JsonObject:
    return {
        "id": "gated",
        "nodes": [
            {"id": "gate", "type": "gate", "config": {"message": "Well?", **config}},
            *({"id": name, "type": "noted"} for name in ("yes", "no", "then", "late")),
        ],
        "edges": [
            "gate.approve -> yes.in",
            "gate.deny -> no.in",
            "gate.answered -> then.in",
            "gate.expired -> late.in",
        ],
    }


async def asked(stage: Stage, thread: str, **config: Any) -> tuple[Handle, JsonObject]:
    """Start a run on one gate and return it with its first ticket."""
    handle = await stage.start(thread, graph=gated(**config))
    (ticket,) = (await until(handle, "awaiting"))["run"]["waitingFor"]
    return handle, ticket


async def answered(handle: Handle, ticket: JsonObject, **given: Json) -> JsonObject:
    return await update(handle, "resume", {"ticket": ticket["ticket"], **given})


@pytest.mark.parametrize(
    ("config", "shown", "wrong", "right", "output"),
    [
        (
            {"kind": "choice", "options": ["red", "blue"]},
            {"allowed": ["red", "blue"], "schema": None},
            [({"decision": "green"}, "DecisionNotAllowed"), ({"value": 1}, "DecisionNotAllowed")],
            {"decision": "blue"},
            {"answer": "blue", "decision": "blue"},
        ),
        (
            {"kind": "choice", "options": ["red", "blue"]},
            {"allowed": ["red", "blue"], "schema": None},
            [],
            {"value": "red"},
            {"answer": "red", "decision": None},
        ),
        (
            {"kind": "text"},
            {"allowed": None, "schema": {"type": "string"}},
            [({"decision": "approve"}, "AnswerInvalid"), ({"value": 5}, "AnswerInvalid")],
            {"value": "because"},
            {"answer": "because", "decision": None},
        ),
        (
            {"kind": "form", "schema": AMOUNT},
            {"allowed": None, "schema": AMOUNT},
            [({"value": {"amount": 0}}, "AnswerInvalid"), ({"value": None}, "AnswerInvalid")],
            {"value": {"amount": 3}},
            {"answer": {"amount": 3}, "decision": None},
        ),
        (
            {"kind": "review"},
            {"allowed": ["approve", "reject"], "schema": None},
            [({"value": "text"}, "DecisionNotAllowed")],
            {"decision": "reject", "value": "too long"},
            {"answer": "too long", "decision": "reject"},
        ),
        (
            {"kind": "external"},
            {"allowed": None, "schema": {}},
            [({"decision": "done"}, "AnswerInvalid")],
            {"value": None},
            {"answer": None, "decision": None},
        ),
    ],
    ids=["choice", "choice-value", "text", "form", "review", "external"],
)
async def test_each_kind_takes_its_own_answer_and_follows_answered(
    stage: Stage,
    config: JsonObject,
    shown: JsonObject,
    wrong: list[tuple[JsonObject, str]],
    right: JsonObject,
    output: JsonObject,
    request: pytest.FixtureRequest,
) -> None:
    thread = f"gate-{request.node.callspec.id}"
    handle, ticket = await asked(stage, thread, **config)
    assert (ticket["kind"], ticket["message"]) == (config["kind"], "Well?")
    assert {key: ticket[key] for key in shown} == shown
    for given, code in wrong:
        named = {"ticket": ticket["ticket"], **given}
        assert await refused(handle, "resume", named) == code
    assert (await answered(handle, ticket, **right))["accepted"]
    results = (await handle.result())["results"]
    assert results["gate"] == {**output, "actor": None, "expired": False}
    assert [key for key in results if key != "gate"] == ["then"]


async def test_an_approval_may_leave_a_decision_out(stage: Stage) -> None:
    handle, ticket = await asked(stage, "gate-only-approve", allowed=["approve"])
    named = {"ticket": ticket["ticket"], "decision": "deny"}
    assert await refused(handle, "resume", named) == "DecisionNotAllowed"
    await answered(handle, ticket, decision="approve")
    assert sorted((await handle.result())["results"]) == ["gate", "yes"]


async def test_only_who_is_named_may_answer(stage: Stage) -> None:
    handle, ticket = await asked(stage, "gate-who", who=["ann", "bob"])
    assert ticket["who"] == ["ann", "bob"]
    for actor in ({}, {"actor": "eve"}):
        named = {"ticket": ticket["ticket"], "decision": "approve", **actor}
        assert await refused(handle, "resume", named) == "ActorNotAllowed"
    await answered(handle, ticket, decision="approve", actor="bob")
    assert (await handle.result())["results"]["gate"]["actor"] == "bob"


# --- several approvals ----------------------------------------------------------------------


async def second_ticket(handle: Handle, first: JsonObject) -> JsonObject:
    """Return the ticket that follows ``first`` at the same gate, once it is open."""
    for _ in range(400):
        waiting = await handle.query("tickets")
        if waiting and waiting[0]["ticket"] != first["ticket"]:
            return waiting[0]
        await asyncio.sleep(0.01)
    raise AssertionError(f"no second ticket was opened: {await handle.query('state')}")


async def test_two_approvals_are_two_tickets_for_two_people(stage: Stage) -> None:
    handle, first = await asked(stage, "gate-two", approvals=2)
    run = handle.first_execution_run_id
    assert (first["ticket"], first["approvedBy"]) == (f"{run}:gate:0:0", [])
    nobody = {"ticket": first["ticket"], "decision": "approve"}
    assert await refused(handle, "resume", nobody) == "ActorNotAllowed"
    await answered(handle, first, decision="approve", actor="ann")
    second = await second_ticket(handle, first)
    assert (second["ticket"], second["approvedBy"]) == (f"{run}:gate:0:1", ["ann"])
    again = {"ticket": second["ticket"], "decision": "approve", "actor": "ann"}
    assert await refused(handle, "resume", again) == "ActorNotAllowed"
    late = {"ticket": first["ticket"], "decision": "deny", "actor": "bob"}
    assert await refused(handle, "resume", late) == "AlreadyDecided"
    await answered(handle, second, decision="approve", actor="bob")
    results = (await handle.result())["results"]
    assert sorted(results) == ["gate", "yes"]
    assert (results["gate"]["actor"], results["gate"]["decision"]) == ("bob", "approve")
    closed = stage.log.closed_tickets(run or "", 10)
    assert sorted((item.ticket, item.outcome, item.actor) for item in closed) == [
        (first["ticket"], "answered", "ann"),
        (second["ticket"], "answered", "bob"),
    ]


async def test_one_denial_denies_whoever_has_approved_before(stage: Stage) -> None:
    handle, first = await asked(stage, "gate-denied", approvals=3, who=["ann", "bob", "cy"])
    await answered(handle, first, decision="approve", actor="ann")
    second = await second_ticket(handle, first)
    assert (second["who"], second["approvedBy"]) == (["bob", "cy"], ["ann"])
    await answered(handle, second, decision="deny", actor="cy")
    assert sorted((await handle.result())["results"]) == ["gate", "no"]


async def test_the_second_approval_outlives_its_worker_and_a_takeover(stage: Stage) -> None:
    handle, first = await asked(stage, "gate-kept", approvals=2)
    await answered(handle, first, decision="approve", actor="ann")
    second = await second_ticket(handle, first)
    await stage.restart()
    assert await handle.query("tickets") == [second]
    await handle.terminate(reason="lost")
    taken = await stage.start("gate-kept", graph=gated(approvals=2))
    assert (await until(taken, "awaiting"))["run"]["waitingFor"] == [second]
    await answered(taken, second, decision="approve", actor="bob")
    assert sorted((await taken.result())["results"]) == ["gate", "yes"]


async def test_an_answer_for_the_second_ticket_may_come_before_it_is_open(stage: Stage) -> None:
    handle, first = await asked(stage, "gate-early", approvals=2)
    early = f"{handle.first_execution_run_id}:gate:0:1"
    given = {"ticket": early, "decision": "approve", "actor": "bob"}
    assert (await update(handle, "resume", given))["pending"] is True
    await answered(handle, first, decision="approve", actor="ann")
    assert sorted((await handle.result())["results"]) == ["gate", "yes"]
