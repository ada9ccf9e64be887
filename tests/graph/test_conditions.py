"""Conditions of a ``switch``: what may be written, and when it holds."""

import time

import pytest

from seeding.model import Json, JsonObject
from workflows.graph.conditions import FUNCTIONS, ConditionFailed, condition_problem, holds


@pytest.mark.parametrize(
    ("condition", "values", "held"),
    [
        ("amount > `100`", {"amount": 150}, True),
        ("amount > `100`", {"amount": 100}, False),
        ("amount > `100`", {"amount": None}, False),
        ("amount > `100`", {}, False),
        (
            "amount > `100` && user.role == 'admin'",
            {"amount": 101, "user": {"role": "admin"}},
            True,
        ),
        (
            "amount > `100` && user.role == 'admin'",
            {"amount": 101, "user": {"role": "guest"}},
            False,
        ),
        ("!done || tags[0] == 'now'", {"done": True, "tags": ["now"]}, True),
        ("contains(tags, 'red')", {"tags": ["red", "blue"]}, True),
        ("starts_with(name, 'An')", {"name": "Ann"}, True),
        ("length(items[?price > `5`]) > `1`", {"items": [{"price": 6}, {"price": 7}]}, True),
        ("flag == `true`", {"flag": 1}, False),
        ("count == `1`", {"count": True}, False),
        ('"odd.port"', {"odd.port": "x"}, True),
    ],
)
def test_a_condition_over_values_by_port(condition: str, values: JsonObject, held: bool):
    assert condition_problem(condition) is None
    assert holds(condition, values) is held


@pytest.mark.parametrize(
    ("value", "held"),
    [(None, False), (False, False), ("", False), ([], False), ({}, False), (0, True), ("0", True)],
)
def test_what_counts_as_true(value: Json, held: bool):
    assert holds("it", {"it": value}) is held


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("amount >", "Invalid jmespath expression: Incomplete expression:"),
        ("", "Invalid JMESPath expression: cannot be empty."),
        ("a" * 1001, "it has 1001 characters, at most 1000 are taken"),
        ("(" * 900 + "a" + ")" * 90, "it is nested deeper than 50"),
        ("!" * 60 + "a", "it is nested deeper than 50"),
        ("|".join(["[@, @][]"] * 40), "it copies its data 1099511627776 times, at most 16"),
        ("{a: a, b: b, c: {d: d, e: e}} | [@, @] | [@, @]", "it copies its data 24 times"),
        ("join(', ', names)", f"'join' is none of its functions: {', '.join(FUNCTIONS)}"),
        ("eval('1')", f"'eval' is none of its functions: {', '.join(FUNCTIONS)}"),
    ],
)
def test_a_condition_that_may_not_be_evaluated(condition: str, problem: str):
    assert str(condition_problem(condition)).startswith(problem)


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("length(amount) > `1`", {"amount": 5}),
        ("amount > `100`", {"amount": "150"}),
        ("contains(@)", {}),
        ("sum(names)", {"names": ["a"]}),
    ],
)
def test_a_condition_that_fails_on_its_values(condition: str, values: JsonObject):
    assert condition_problem(condition) is None
    with pytest.raises(ConditionFailed):
        holds(condition, values)


def test_the_heaviest_condition_on_the_largest_values_comes_to_an_end_soon():
    condition = "length([@, @, @, @][].items[?contains(to_string(@), 'x')][] | [@, @][][]) > `0`"
    assert condition_problem(condition) is None
    began = time.process_time()
    holds(condition, {"items": [{"n": n} for n in range(7000)]})
    assert time.process_time() - began < 1.0
