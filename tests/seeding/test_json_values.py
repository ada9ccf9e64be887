"""ERR-6: what counts as a JSON value, and its size."""

from typing import Any

import pytest
from hypothesis import given
from seeding_strategies import JSON

from seeding.json_values import MAX_DEPTH, NotJson, find_not_json, size_in_bytes


def nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"a": [1, {2}]}, NotJson("a.1", "set")),
        ({"a": (1,)}, NotJson("a", "tuple")),
        ({"a": {1: 2}}, NotJson("a", "object key of type int")),
        (b"x", NotJson("", "bytes")),
        ([float("nan")], NotJson("0", "number that is not finite")),
        ({"n": 2**53 + 1}, NotJson("n", "integer beyond 2^53")),
        ({"n": "\ud800"}, NotJson("n", "text with a lone surrogate")),
        ({"o": {"\ud800": 1}}, NotJson("o", "object key with a lone surrogate")),
        ({"o": {"a\0": 1}}, NotJson("o", "object key with U+0000")),
        (
            {"o": {"e\u0301": 1, "\u00e9": 2}},
            NotJson("o", "object with two keys that are the same text in NFC ('\u00e9')"),
        ),
    ],
)
def test_the_first_leaf_that_is_no_json_is_named(value: Any, found: NotJson) -> None:
    assert find_not_json(value) == found


def test_nesting_has_a_limit_with_a_name() -> None:
    assert find_not_json(nested(MAX_DEPTH)) is None
    found = find_not_json(nested(MAX_DEPTH + 1))
    assert found is not None
    assert found.kind == "value nested deeper than 100"


def test_nesting_beyond_any_stack_is_found_as_well() -> None:
    found = find_not_json(nested(100_000))
    assert found is not None
    assert found.kind == "value nested deeper than 100"


@given(JSON)
def test_json_values_pass(value: Any) -> None:
    assert find_not_json(value) is None


def test_sizes_are_bytes_of_compact_json() -> None:
    assert size_in_bytes({"a": [1, "é"]}) == len('{"a":[1,"é"]}'.encode()) == 14
