"""What counts as a JSON value, and how large it is (ERR-6).

Temporal's converters encode sets, dates, decimals and NaN without complaint, so the engine
looks for itself: a value is refused where it was made, with its dotted path, and never
converted silently.
"""

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from seeding.model import Json

MAX_VALUE_BYTES = 64 * 1024
"""The largest single value a commit or a payload may hold, in bytes of JSON."""

MAX_PAYLOAD_BYTES = 256 * 1024
"""The largest commit or payload in all, in bytes of JSON."""

MAX_SAFE_INTEGER = 2**53
"""Integers beyond this magnitude are refused: other readers of JSON would round them."""

MAX_DEPTH = 100
"""Lists and objects may be nested this deep; decoders and encoders give up a little beyond."""

WRAPPED_DEPTH = MAX_DEPTH + 8
"""How deep a value may be nested with what a commit wraps it in."""


class NotJson(NamedTuple):
    """A leaf that is no JSON value: its dotted path and what it is."""

    path: str
    kind: str


def find_not_json(value: Json, path: str = "", *, depth: int = MAX_DEPTH) -> NotJson | None:
    """Return the first leaf of ``value`` that is no JSON value, or None (ERR-6).

    Args:
        value: Any Python value.
        path: The dotted path of ``value`` itself; list items appear as their index.
        depth: How deep lists and objects may be nested.
    """
    return _find(value, path, depth)


def _find(value: Json, path: str, left: int) -> NotJson | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if _is_unicode(value) else NotJson(path, "text with a lone surrogate")
    if isinstance(value, int):
        return None if abs(value) <= MAX_SAFE_INTEGER else NotJson(path, "integer beyond 2^53")
    if isinstance(value, float):
        return None if math.isfinite(value) else NotJson(path, "number that is not finite")
    if isinstance(value, list | dict) and left <= 0:
        return NotJson(path, f"value nested deeper than {MAX_DEPTH}")
    if isinstance(value, list):
        return _find_in_list(cast(Sequence[Json], value), path, left - 1)
    if isinstance(value, dict):
        return _find_in_object(cast(Mapping[Json, Json], value), path, left - 1)
    return NotJson(path, type(value).__name__)


def _find_in_list(value: Sequence[Json], path: str, left: int) -> NotJson | None:
    for index, item in enumerate(value):
        found = _find(item, _join(path, str(index)), left)
        if found is not None:
            return found
    return None


def _find_in_object(value: Mapping[Json, Json], path: str, left: int) -> NotJson | None:
    normal: dict[str, None] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            return NotJson(path, f"object key of type {type(key).__name__}")
        if not _is_unicode(key):
            return NotJson(path, "object key with a lone surrogate")
        if "\0" in key:
            # A key of data or metadata is a name in the log, and not every database holds it.
            return NotJson(path, "object key with U+0000")
        name = key if key.isascii() else unicodedata.normalize("NFC", key)
        if name in normal:
            return NotJson(
                path, f"object with two keys that are the same text in NFC ({name[:100]!r})"
            )
        normal[name] = None
        found = _find(item, _join(path, key), left)
        if found is not None:
            return found
    return None


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _join(path: str, part: str) -> str:
    return f"{path}.{part}" if path else part


def size_in_bytes(value: Json) -> int:
    """Return the length of ``value`` as compact UTF-8 JSON, in bytes."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
