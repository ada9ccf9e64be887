"""Reading single fields of a document, with messages that say where they stand."""

import re
from collections.abc import Sequence
from typing import cast

from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject

MAX_NAME = 200
"""The longest id, type or port name, in characters."""

_SHOWN = 20
_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "a boolean"),
    (str, "a text"),
    (list, "a list"),
    (dict, "an object"),
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def kind_of(value: Json) -> str:
    """Return what a JSON value is, in words, for a message."""
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return name
    return "null" if value is None else "a number"


def as_object(value: Json, where: str) -> JsonObject:
    """Return ``value`` if it is an object.

    Raises:
        InvalidGraph: It is not.
    """
    if not isinstance(value, dict):
        raise InvalidGraph(f"{where} is {kind_of(value)}; it must be an object")
    return cast(JsonObject, value)


def as_list(value: Json, where: str) -> list[Json]:
    """Return ``value`` if it is a list, and an empty one for null.

    Raises:
        InvalidGraph: It is neither.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidGraph(f"{where} is {kind_of(value)}; it must be a list")
    return cast(list[Json], value)


def as_name(value: Json, where: str, *, forbidden: str = "") -> str:
    """Return ``value`` if it can be an id, a type or a port.

    Such a name has 1 to 200 characters, no control characters, no blank at either end, and
    none of the ``forbidden`` characters, which other names use as separators.

    Raises:
        InvalidGraph: It cannot.
    """
    if not isinstance(value, str):
        raise InvalidGraph(f"{where} is {kind_of(value)}; it must be a text")
    if not value:
        raise InvalidGraph(f"{where} is empty")
    if len(value) > MAX_NAME:
        raise InvalidGraph(f"{where} has {len(value)} characters, at most {MAX_NAME} are taken")
    if _CONTROL.search(value):
        raise InvalidGraph(f"{where} holds a control character: {value!r}")
    if value != value.strip():
        raise InvalidGraph(f"{where} begins or ends with a blank: {value!r}")
    for character in forbidden:
        if character in value:
            raise InvalidGraph(f"{where} holds {character!r}, which separates names: {value!r}")
    return value


def refuse_unknown(given: JsonObject, known: tuple[str, ...], where: str) -> None:
    """Refuse fields that are not among ``known``.

    Raises:
        InvalidGraph: There are some; they are named, and so are the known ones.
    """
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InvalidGraph(
            f"{where} has unknown fields: {', '.join(repr(name) for name in unknown)}; "
            f"known are {', '.join(known)}"
        )


def listing(names: Sequence[str]) -> str:
    """Return names for a message, at most 20 of them."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    left = len(names) - _SHOWN
    return f"{shown} and {left} more" if left > 0 else shown or "none"
