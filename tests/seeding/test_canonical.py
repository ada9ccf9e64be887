"""Canonical JSON, the text every hash is made of."""

import math
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seeding_strategies import JSON, OBJECTS

from seeding.canonical import SCHEME, canonical_hash, canonical_text
from seeding.errors import InvalidCommit


def test_the_scheme_has_its_name_for_good() -> None:
    assert SCHEME == "fermata-canonical-1"


def test_keys_are_sorted_and_white_space_is_left_out() -> None:
    assert canonical_text({"b": [1, "x"], "a": {"d": None, "c": True}}) == (
        '{"a":{"c":true,"d":null},"b":[1,"x"]}'
    )


def test_a_hash_once_given_never_changes() -> None:
    assert canonical_hash({"a": 1}) == (
        "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    )


def test_an_integer_and_a_float_of_one_value_are_kept_apart() -> None:
    assert canonical_text([1, 1.0]) == "[1,1.0]"
    assert canonical_hash(1) != canonical_hash(1.0)


def test_texts_equal_in_nfc_hash_alike() -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert composed != decomposed
    assert canonical_hash({"k": composed}) == canonical_hash({"k": decomposed})
    assert canonical_hash({composed: 1}) == canonical_hash({decomposed: 1})


def test_two_keys_that_are_one_text_in_nfc_are_refused() -> None:
    with pytest.raises(InvalidCommit, match="same text in NFC"):
        canonical_text({"caf\u00e9": 1, "cafe\u0301": 2})


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused_by_path(number: float) -> None:
    with pytest.raises(InvalidCommit, match=r"at a\.1: number that is not finite"):
        canonical_text({"a": [0, number]})


@pytest.mark.parametrize("sign", [1, -1])
def test_integers_beyond_two_to_the_53_are_refused(sign: int) -> None:
    assert canonical_text(sign * 2**53) == str(sign * 9007199254740992)
    with pytest.raises(InvalidCommit, match=r"at k: integer beyond 2\^53"):
        canonical_text({"k": sign * (2**53 + 1)})


def test_long_digits_inside_a_text_are_no_integer() -> None:
    assert canonical_text("99999999999999999999") == '"99999999999999999999"'


def test_what_is_no_json_is_refused_by_path() -> None:
    with pytest.raises(InvalidCommit, match=r"at a\.b: set"):
        canonical_text({"a": {"b": {1}}})


def test_a_lone_surrogate_has_no_hash() -> None:
    with pytest.raises(InvalidCommit, match="lone surrogate"):
        canonical_hash("\ud800")


@given(OBJECTS, st.randoms())
def test_the_order_of_keys_makes_no_difference(value: dict[str, Any], random: Any) -> None:
    names = list(value)
    random.shuffle(names)
    assert canonical_text({name: value[name] for name in names}) == canonical_text(value)


@given(JSON)
def test_the_text_is_in_nfc_and_stable(value: Any) -> None:
    text = canonical_text(value)
    assert unicodedata.is_normalized("NFC", text)
    assert canonical_text(value) == text
