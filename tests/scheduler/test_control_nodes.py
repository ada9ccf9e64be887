"""Control nodes: values, replies and message templates."""

from typing import Any

import pytest

from seeding.model import Json, JsonObject
from workflows.control.templates import fill_template

from .graphs import graph
from .runs import Run


def outputs_of(
    kind: str, config: JsonObject, given: JsonObject | None = None
) -> tuple[JsonObject, Run]:
    run = Run(
        graph(alone=["n"], types={"n": kind}, config={"n": config}), inputs={"n": given or {}}
    ).go()
    return run.results.get("n", {}), run


@pytest.mark.parametrize(
    ("kind", "config", "outputs"),
    [
        ("value", {"value": 7}, {"value": 7}),
        ("value", {"value": None}, {"value": None}),
        ("value", {}, {}),
        ("json_loader", {"jsonData": '["a", {"b": null}]'}, {"data": ["a", {"b": None}]}),
        ("json_loader", {"jsonData": [1]}, {"data": [1]}),
        ("json_loader", {}, {}),
        ("text_input", {"defaultValue": "", "value": "later"}, {"text": ""}),
        ("text_input", {"value": "hi"}, {"text": "hi"}),
    ],
)
def test_a_value_comes_from_the_config(kind: str, config: JsonObject, outputs: JsonObject) -> None:
    assert outputs_of(kind, config)[0] == outputs


@pytest.mark.parametrize(
    ("kind", "config", "port"),
    [
        ("value", {"value": 7}, "value"),
        ("json_loader", {"jsonData": "not read"}, "data"),
        ("text_input", {"defaultValue": "x"}, "text"),
    ],
)
@pytest.mark.parametrize("value", ["given", None])
def test_an_input_for_its_port_replaces_the_config(
    kind: str, config: JsonObject, port: str, value: Json
) -> None:
    assert outputs_of(kind, config, {port: value})[0] == {port: value}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1,", "Expecting value: line 1 column 4 (char 3)"),
        ('{"a": NaN}', "a: number that is not finite"),
        ("9007199254740993", "(root): integer beyond 2^53"),
    ],
)
def test_json_data_that_is_no_json_fails_the_node(text: str, problem: str) -> None:
    _, run = outputs_of("json_loader", {"jsonData": text})
    assert run.cause is not None
    assert run.cause.message == f"node 'n': config jsonData is no JSON: {problem}"


@pytest.mark.parametrize("kind", ["reply", "chat_output", "text_output"])
@pytest.mark.parametrize(
    ("config", "given", "text"),
    [
        ({"message": "Dear {name}"}, {"name": "Ann", "message": "no"}, "Dear Ann"),
        ({}, {"message": "first", "text": "second"}, "first"),
        ({"format": "markdown"}, {"text": "second"}, "second"),
        ({}, {"message": None}, "null"),
        ({}, {"message": ["ä", 1]}, '["ä",1]'),
        ({}, {"b": 1, "a": 2}, '{"a":2,"b":1}'),
        ({}, {}, "{}"),
    ],
)
def test_a_reply_is_said_on_the_thread(
    kind: str, config: JsonObject, given: JsonObject, text: str
) -> None:
    outputs, run = outputs_of(kind, config, given)
    assert outputs == {"message": text}
    assert run.messages == [{"role": "assistant", "content": text}]


@pytest.mark.parametrize(
    ("template", "inputs", "text"),
    [
        ("{a} and {b}", {"a": "x", "b": 1.5}, "x and 1.5"),
        ("{a}", {"a": None}, "null"),
        ("{a}", {"a": {"k": [True]}}, '{"k":[true]}'),
        ("{missing}", {"a": 1}, "{missing}"),
        ("{__class__} {a.__class__} {a[0]} {a!r} {a:>9}", {"a": "x"}, None),
        ("{{a}}", {"a": 1}, "{1}"),
        ("{a}", {"a": "{b}", "b": "never"}, "{b}"),
        ("{}{ }{", {"a": 1}, "{}{ }{"),
        ("{current item}", {"current item": 3}, "3"),
    ],
)
def test_a_template_shows_ports_and_reaches_nothing_else(
    template: str, inputs: dict[str, Any], text: str | None
) -> None:
    assert fill_template(template, inputs) == (template if text is None else text)
