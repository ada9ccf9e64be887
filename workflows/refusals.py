"""How refused commands are remembered: bounded, and always showable as JSON."""

import json
from collections.abc import Sequence

from seeding.errors import FermataError
from seeding.json_values import find_not_json, size_in_bytes
from seeding.model import Json
from workflows.commands import Arguments, Undecodable
from workflows.inbox_model import RefusalEntry
from workflows.instants import Moment, show_moment

MAX_REFUSALS = 100
"""How many refusals a run remembers: the newest."""

MAX_SHOWN_BYTES = 1024
MAX_MESSAGE = 500
MAX_NAME = 255


def refusal_entry(
    name: str, arguments: Arguments, now: Moment, error: FermataError
) -> RefusalEntry:
    """Return the entry for a command that ``error`` refused at the moment ``now``."""
    return RefusalEntry(
        name=_clean(name, MAX_NAME),
        code=error.code,
        message=_clean(error.message, MAX_MESSAGE),
        payload=shown_payload(arguments),
        at=show_moment(now),
    )


def shown_payload(arguments: Arguments) -> Json:
    """Return what is shown of a payload: itself, or the beginning of its text.

    One argument is shown as it is, none as null, several as their list. Text takes the place
    of what is above 2 KB or no JSON.
    """
    if isinstance(arguments, Undecodable):
        return _clean(arguments.text, MAX_SHOWN_BYTES)
    value = _single(arguments)
    if find_not_json(value) is None and size_in_bytes(value) <= MAX_SHOWN_BYTES:
        return value
    try:
        text = json.dumps(value, default=repr)
    except (ValueError, TypeError, RecursionError) as error:
        text = f"(cannot be shown: {type(error).__name__})"
    return text if len(text) <= MAX_SHOWN_BYTES else text[:MAX_SHOWN_BYTES] + "…"


def _single(arguments: Sequence[Json]) -> Json:
    if not arguments:
        return None
    return arguments[0] if len(arguments) == 1 else list(arguments)


def _clean(text: str, longest: int) -> str:
    printable = text.encode("utf-8", "backslashreplace").decode()
    return printable if len(printable) <= longest else printable[:longest] + "…"
