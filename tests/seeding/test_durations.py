"""Durations as people write them."""

import math

import pytest

from seeding.durations import parse_duration
from seeding.errors import InvalidRequest


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("30s", 30.0),
        ("90m", 5400.0),
        ("2d", 172800.0),
        ("1.5h", 5400.0),
        ("250ms", 0.25),
        ("1w", 604800.0),
        (" 2 d ", 172800.0),
        ("P2D", 172800.0),
        ("PT1H30M", 5400.0),
        ("pt5s", 5.0),
        ("45", 45.0),
        (45, 45.0),
        (0.5, 0.5),
    ],
)
def test_every_documented_form_is_seconds(written: object, seconds: float) -> None:
    assert parse_duration(written) == seconds


@pytest.mark.parametrize("written", [None, 0, 0.0, "0", "0s", "PT0S"])
def test_null_and_zero_are_never(written: object) -> None:
    assert parse_duration(written) is None


@pytest.mark.parametrize(
    "written",
    ["soon", "", "-5s", "5 parsecs", -1, True, [], {}, "P", "PXD", math.nan, math.inf, "101000w"],
)
def test_anything_else_is_refused_naming_the_field(written: object) -> None:
    with pytest.raises(InvalidRequest, match=r"^deadline: "):
        parse_duration(written, "deadline")
