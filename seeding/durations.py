"""Durations as people write them: ``30s``, ``90m``, ``2d``, ISO (``P2D``), or seconds."""

import math
import re

from pydantic import TypeAdapter

from seeding.errors import InvalidRequest
from seeding.model import Json

_SHORT = re.compile(r"^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PLAIN = re.compile(r"^\d+(?:\.\d+)?$")
MAX_SECONDS = 100 * 365 * 86400.0


def parse_duration(value: Json, where: str = "duration") -> float | None:
    """Return a duration in seconds, or None for never (``null`` and ``0``).

    Args:
        value: A string, a number of seconds, or None.
        where: The name of the field, for the message.

    Raises:
        InvalidRequest: It is not a duration, is negative, or is above a hundred years.
    """
    if value is None:
        return None
    seconds = _read(value, where)
    if not math.isfinite(seconds) or not 0 <= seconds <= MAX_SECONDS:
        raise InvalidRequest(f"{where}: {value!r} is not between 0 and a hundred years")
    return seconds or None


def _read(value: Json, where: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        text = value.strip()
        short = _SHORT.match(text)
        if short:
            return float(short[1]) * _SECONDS[short[2]]
        if _PLAIN.match(text):
            return float(text)
        if text.upper().startswith("P"):
            return _read_iso(text, where)
    raise InvalidRequest(
        f"{where}: {value!r} is not a duration; write 30s, 90m, 2d, P2D or a number of seconds"
    )


def _read_iso(text: str, where: str) -> float:
    from datetime import timedelta

    try:
        return TypeAdapter(timedelta).validate_python(text.upper()).total_seconds()
    except ValueError as error:
        raise InvalidRequest(f"{where}: {text!r} is not an ISO 8601 duration") from error
