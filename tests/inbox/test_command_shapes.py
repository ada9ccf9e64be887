"""Contract 5: everything that is not of the documented shape is InvalidCommand, by field."""

import math
from typing import Any

import pytest

from seeding.errors import InvalidCommand
from workflows.commands import (
    Answer,
    Cancel,
    Lift,
    Message,
    Pause,
    Undecodable,
    parse_command,
)


def said(name: str, *arguments: Any) -> str:
    with pytest.raises(InvalidCommand) as caught:
        parse_command(name, list(arguments))
    return caught.value.message


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_an_answer_with_every_field():
    given = {
        "ticket": "R:gate:0:0",
        "decision": "approve",
        "value": {"note": "fine"},
        "actor": "anna",
        "commandId": "c1",
        "issuedAt": "2026-03-01T12:00:00Z",
    }
    assert parse_command("resume", [given]) == Answer(
        ticket="R:gate:0:0",
        decision="approve",
        value={"note": "fine"},
        value_given=True,
        actor="anna",
        command_id="c1",
        issued_at="2026-03-01T12:00:00Z",
    )


def test_a_value_of_null_counts_as_given():
    assert parse_command("resume", [{"value": None}]) == Answer(value=None, value_given=True)


def test_other_fields_of_null_count_as_absent():
    given = {"ticket": None, "decision": "deny", "actor": None, "commandId": None}
    assert parse_command("resume", [given]) == Answer(decision="deny")


def test_an_empty_object_lifts_a_pause():
    assert parse_command("resume", [{}]) == Lift()


def test_the_ticket_of_a_pause_alone_lifts_it():
    assert parse_command("resume", [{"ticket": "R::0:2"}]) == Lift(ticket="R::0:2")


@pytest.mark.parametrize(
    "given",
    [{"ticket": "R:gate:0:0"}, {"ticket": "nonsense"}, {"actor": "anna"}, {"decision": None}],
)
def test_anything_else_without_decision_and_value_is_refused(given: dict[str, Any]):
    assert "decision or value is missing" in said("resume", given)


@pytest.mark.parametrize("name", ["cancel", "pause"])
@pytest.mark.parametrize("arguments", [[], [None], [{}], [{"reason": None}]])
def test_a_reason_may_be_left_out(name: str, arguments: list[Any]):
    assert parse_command(name, arguments) in (Cancel(), Pause())


def test_a_reason_is_kept():
    assert parse_command("pause", [{"reason": "lunch"}]) == Pause(reason="lunch")
    assert parse_command("cancel", [{"reason": ""}]) == Cancel(reason="")


def test_a_message_is_text_or_an_object():
    assert parse_command("message", [{"message": "hello"}]) == Message(message="hello")
    given = {"message": {"role": "user", "content": "hi"}, "onBusy": "queue", "graph": "g"}
    assert parse_command("message", [given]) == Message(
        message={"role": "user", "content": "hi"}, on_busy="queue", graph="g"
    )


WRONG: list[tuple[str, Any, str]] = [
    ("resume", {"decision": "approve", "tiket": "x"}, "unknown field tiket"),
    ("resume", {"decision": True}, "decision is a text, this is a boolean"),
    ("resume", {"decision": ""}, "decision has 1 to 255 characters"),
    ("resume", {"decision": "x" * 256}, "decision has 1 to 255 characters"),
    ("resume", {"decision": "a", "ticket": 5}, "ticket is a text, this is a number"),
    ("resume", {"decision": "a", "actor": ["x"]}, "actor is a text, this is a list"),
    ("resume", {"decision": "a", "commandId": ""}, "commandId has 1 to 255 characters"),
    ("resume", {"decision": "a", "commandId": "c" * 256}, "commandId has 1 to 255"),
    ("resume", {"decision": "a", "issuedAt": "noon"}, "issuedAt is no ISO 8601"),
    ("resume", {"decision": "a", "issuedAt": "2026-03-01"}, "issuedAt is no ISO 8601"),
    ("resume", {"decision": "a", "issuedAt": "0001-01-01T00:00:00+14:00"}, "issuedAt is no"),
    ("resume", {"value": math.nan}, "value: number that is not finite"),
    ("resume", {"value": {"deep": [2**60]}}, "value.deep.0: integer beyond 2^53"),
    ("resume", {"value": "x" * 65536}, "value is 65548 bytes of JSON"),
    ("resume", {"value": "\ud800"}, "value: text with a lone surrogate"),
    ("resume", {"value": nested(300)}, "nested deeper than"),
    ("resume", {"value": nested(50_000)}, "nested deeper than"),
    ("resume", {"\ud800": 1}, "resume: object key with a lone surrogate"),
    ("resume", None, "takes a JSON object as its argument, this is null"),
    ("resume", "approve", "takes a JSON object as its argument, this is a text"),
    ("resume", [{}], "takes a JSON object as its argument, this is a list"),
    ("cancel", "because", "takes a JSON object as its argument, this is a text"),
    ("cancel", {"why": "x"}, "cancel: unknown field why"),
    ("pause", {"reason": 3}, "reason is a text, this is a number"),
    ("pause", {"reason": "x" * 2001}, "reason has 0 to 2000 characters"),
    ("message", {}, "message is null"),
    ("message", {"message": 3}, "message is a number"),
    ("message", {"message": {"role": "system", "content": ""}}, "the role 'system'"),
    ("message", {"message": "x", "onBusy": "wait"}, "onBusy is reject, queue or supersede"),
    ("message", {"message": "x", "graph": 1}, "graph is a number"),
    ("message", {"message": "x", "idempotencyKey": ""}, "idempotencyKey has 1 to 255"),
    ("approve", {}, "the commands are resume, cancel, pause, message"),
]


@pytest.mark.parametrize(("name", "given", "expected"), WRONG)
def test_a_wrong_shape_is_refused_by_field(name: str, given: Any, expected: str):
    assert expected in said(name, given)


@pytest.mark.parametrize("name", ["resume", "message"])
def test_an_argument_is_needed(name: str):
    assert "takes one argument, a JSON object; there is none" in said(name)


@pytest.mark.parametrize("name", ["resume", "cancel", "pause", "message"])
def test_two_arguments_are_refused(name: str):
    assert "takes one argument, a JSON object, not 2" in said(name, {}, {})


def test_an_undecodable_payload_is_refused():
    with pytest.raises(InvalidCommand, match="cannot be decoded"):
        parse_command("cancel", Undecodable(text="unknown encoding binary/x"))
