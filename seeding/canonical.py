"""Canonical JSON: the one text that every hash is made of.

Keys are sorted by code point, there is no white space, text is in Unicode form NFC, 1 and 1.0
are kept apart, NaN and infinity are refused, and so are integers beyond 2^53. Once a hash is
on disk this rule can never change; ``SCHEME`` names it.
"""

import hashlib
import json
import re
import unicodedata

from seeding.errors import InvalidCommit
from seeding.json_values import find_not_json
from seeding.model import Json, as_list, as_object

SCHEME = "fermata-canonical-1"

_LONG_DIGITS = re.compile(r"\d{16,}")


def canonical_text(value: Json) -> str:
    """Return the canonical JSON text of ``value``.

    Raises:
        InvalidCommit: A leaf is no JSON value, or two keys are equal in form NFC.
    """
    try:
        text = _dump(value)
    except (TypeError, ValueError) as error:
        found = find_not_json(value)
        where = f" at {found.path or '(root)'}: {found.kind}" if found else f": {error}"
        raise InvalidCommit(f"a value cannot be written as canonical JSON{where}") from error
    if _LONG_DIGITS.search(text):
        found = find_not_json(value)
        if found is not None:
            raise InvalidCommit(
                f"a value cannot be written as canonical JSON at {found.path or '(root)'}: "
                f"{found.kind}"
            )
    if not unicodedata.is_normalized("NFC", text):
        text = _dump(_normalized(value))
    return text


def canonical_hash(value: Json) -> str:
    """Return the sha256 of the canonical text, as 64 lowercase hex digits.

    Raises:
        InvalidCommit: A leaf is no JSON value, or two keys are equal in form NFC.
    """
    try:
        encoded = canonical_text(value).encode()
    except UnicodeEncodeError as error:
        raise InvalidCommit(
            "a value cannot be written as canonical JSON: text with a lone surrogate"
        ) from error
    return hashlib.sha256(encoded).hexdigest()


def _dump(value: Json) -> str:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _normalized(value: Json) -> Json:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    items = as_list(value)
    if items is not None:
        return [_normalized(item) for item in items]
    fields = as_object(value)
    if fields is None:
        return value
    result: dict[str, Json] = {}
    for key, item in fields.items():
        name = unicodedata.normalize("NFC", key)
        if name in result:
            raise InvalidCommit(f"two keys of one object are the same text in NFC: {name!r}")
        result[name] = _normalized(item)
    return result
