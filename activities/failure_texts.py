"""What is kept of a failure: texts that can travel and are bounded, whatever was raised.

An exception's text, its notes and what caused it may have any size, and reading them may raise.
Nothing of the exception itself goes into the history: a failure above the server's limit could
not be reported at all.
"""

import logging
import traceback

from seeding.json_values import find_not_json, size_in_bytes
from seeding.model import Json, as_list

MAX_MESSAGE = 4000
"""The most characters of a failure's message that are kept."""

MAX_CODE = 200
"""The most characters of a failure's code, or of an exception's type, that are kept."""

MAX_NOTES = 20
"""The most notes of an exception that are kept."""

MAX_DETAILS_BYTES = 16 * 1024
"""The most bytes of JSON that a failure's details may have."""

MAX_LOGGED = 16 * 1024
"""The most characters of a traceback that go into the worker's log."""

_LOG = logging.getLogger(__name__)


def printable(given: Json, most: int = MAX_MESSAGE) -> str:
    """Return what people gave as a text, as one of at most ``most`` characters that can travel."""
    try:
        text = str(given)
    except Exception:
        text = f"({type(given).__name__} that has no text)"
    return text[:most].encode(errors="backslashreplace").decode()[:most]


def type_of(error: BaseException) -> str:
    """Return the name of an exception's type."""
    return printable(type(error).__name__, MAX_CODE)


def text_of(error: BaseException) -> str:
    """Return an exception's text and its notes, without its type."""
    notes: Json = getattr(error, "__notes__", None)
    kept = (as_list(notes) or [])[:MAX_NOTES]
    lines = [printable(error), *(printable(note) for note in kept)]
    return "\n".join(line for line in lines if line)[:MAX_MESSAGE]


def bounded_details(details: Json) -> Json:
    """Return details as they are, or what says why they are left out.

    They are kept in the node's outputs and, unrouted, in the cause of the run's end.
    """
    if find_not_json(details) is not None:
        return {"omitted": "details were no JSON"}
    size = size_in_bytes(details)
    if size > MAX_DETAILS_BYTES:
        return {
            "omitted": f"details were {size} bytes of JSON, at most {MAX_DETAILS_BYTES} are kept"
        }
    return details


def log_crash(where: str, error: BaseException) -> None:
    """Write an exception with its traceback to the worker's log, the middle left out if long."""
    try:
        parts = traceback.format_exception(error)
    except Exception:
        parts = [f"{type_of(error)}: {text_of(error)}"]
    shown = "".join(_line(part) for part in parts)
    if len(shown) > MAX_LOGGED:
        shown = f"{shown[: MAX_LOGGED // 2]}\n...\n{shown[-MAX_LOGGED // 2 :]}"
    _LOG.error("%s crashed:\n%s", where, printable(shown, 2 * MAX_LOGGED).rstrip())


def _line(part: str) -> str:
    return part if len(part) <= MAX_MESSAGE else f"{part[:MAX_MESSAGE]}...\n"
