"""The events of a thread as people read them."""

from collections.abc import Sequence

from client.command.output import print_table
from seeding.model import JsonObject, as_list, as_object


def print_events(events: Sequence[JsonObject]) -> None:
    """Print a table of events; its first column is the cursor to go on after."""
    columns = ("version", "at", "run", "event", "what")
    rows = [
        (item["version"], item["at"], item["runId"], item["kind"], _what(item)) for item in events
    ]
    print_table(columns, rows, empty="no events")


def _what(event: JsonObject) -> str:
    body = as_object(event["body"]) or {}
    if event["kind"] == "stateChanged":
        return ", ".join(f"{cell}.{key}" for cell, keys in body.items() for key in _listed(keys))
    if event["kind"] == "audit":
        return str(body.get("kind"))
    words = [body.get(name) for name in ("state", "cause", "ticket", "outcome", "decision")]
    return " ".join(str(word) for word in words if word is not None)


def _listed(keys: object) -> list[str]:
    return [str(key) for key in as_list(keys) or []]
