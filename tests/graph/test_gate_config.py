"""What the config of a gate may say, and what is wrong with it."""

from typing import Any

import pytest

from seeding.model import JsonObject
from tests.graph.documents import EFFECTS, problems, short
from workflows.graph.document import read_graph
from workflows.graph.gate_config import GateConfig, read_gate
from workflows.graph.resolution import resolve

SCHEMA: JsonObject = {"type": "object", "required": ["amount"]}


def gate(**config: Any) -> JsonObject:
    return short(n={"type": "gate", "config": config})


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"kind": "vote"}, "config kind 'vote' is no kind of gate; write one of approval, choice,"),
        ({"kind": "pause"}, "config kind 'pause' is no kind of gate"),
        ({"who": []}, "config who is a list; it is a text or a list of texts, not empty"),
        ({"who": ["ann", ""]}, "config who is a list; it is a text or a list of texts, not empty"),
        ({"who": 3}, "config who is a number; it is a text or a list of texts, not empty"),
        ({"who": ["ann", "ann"]}, "config who names something twice"),
        ({"kind": "choice"}, "config options is missing; list what can be chosen"),
        ({"kind": "choice", "options": [1]}, "config options is a list; it is a text or a list"),
        ({"options": ["a"]}, "config options belongs to kind choice, not to approval"),
        ({"kind": "text", "allowed": ["a"]}, "config allowed belongs to kind approval and review,"),
        ({"allowed": ["approve", "later"]}, "config allowed may leave out approve or deny of an"),
        ({"schema": True}, "config schema is a boolean; it must be a JSON Schema, an object"),
        ({"schema": {"type": 5}}, "config schema is no JSON Schema: 5 is not valid under any"),
        ({"approvals": 0}, "config approvals is 0; it is a whole number from 1 to 10"),
        ({"approvals": True}, "config approvals is True; it is a whole number from 1 to 10"),
        (
            {"approvals": 2, "kind": "text"},
            "config approvals belongs to kind approval, not to text",
        ),
        ({"approvals": 3, "who": ["a", "b"]}, "config approvals is 3, and who names 2 people"),
        (
            {"onDeadline": "deny"},
            "config onDeadline says what a passed deadline does, but there is",
        ),
        ({"deadline": "2d", "onDeadline": "shout"}, "config onDeadline is 'shout'; write one of"),
        (
            {"kind": "text", "deadline": "2d", "onDeadline": "deny"},
            "config onDeadline deny belongs to kind approval; give a default, or expire",
        ),
        ({"deadline": "2d", "onDeadline": "default"}, "config onDeadline default needs config def"),
        (
            {"deadline": "2d", "onDeadline": "escalate"},
            "config onDeadline escalate needs config es",
        ),
        ({"deadline": "2d", "default": 1}, "config default belongs to onDeadline default"),
        ({"deadline": "2d", "escalateTo": "x"}, "config escalateTo belongs to onDeadline escalate"),
        (
            {"deadline": "2d", "onDeadline": "default", "default": "maybe"},
            "config default is 'maybe'; it is one of approve, deny",
        ),
        (
            {
                "kind": "form",
                "schema": SCHEMA,
                "deadline": "2d",
                "onDeadline": "default",
                "default": {},
            },
            "config default does not fit the schema: value: 'amount' is a required property",
        ),
        ({"color": "red"}, "unknown config key 'color'; known are kind, message, schema"),
    ],
)
def test_what_is_wrong_is_named(config: JsonObject, problem: str) -> None:
    found = problems(gate(**config))
    assert len(found) == 1, found
    assert found[0].startswith(f"node 'n': {problem}"), found[0]


@pytest.mark.parametrize(
    ("config", "read"),
    [
        (
            {},
            GateConfig("approval", ("approve", "deny"), None, None, 1, None, None, None, ()),
        ),
        (
            {"kind": "review", "who": "ann", "deadline": "1h"},
            GateConfig(
                "review", ("approve", "reject"), None, ("ann",), 1, 3600.0, "expire", None, ()
            ),
        ),
        (
            {"kind": "choice", "options": ["red", "blue"], "onDeadline": "keep", "deadline": 60},
            GateConfig("choice", ("red", "blue"), None, None, 1, 60.0, "keep", None, ()),
        ),
        (
            {"kind": "text"},
            GateConfig("text", None, {"type": "string"}, None, 1, None, None, None, ()),
        ),
        (
            {"kind": "form", "schema": SCHEMA, "deadline": 0, "onDeadline": "cancel"},
            GateConfig("form", None, SCHEMA, None, 1, None, None, None, ()),
        ),
        (
            {"approvals": 2, "deadline": "2d", "onDeadline": "escalate", "escalateTo": ["cfo"]},
            GateConfig(
                "approval",
                ("approve", "deny"),
                None,
                None,
                2,
                172800.0,
                "escalate",
                None,
                ("cfo",),
            ),
        ),
    ],
)
def test_what_is_right_is_read(config: JsonObject, read: GateConfig) -> None:
    graph = read_graph(gate(**config))
    assert resolve(graph, EFFECTS)
    assert read_gate(graph.by_id["n"]) == read
