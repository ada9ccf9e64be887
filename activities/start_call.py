"""What a start sends to the server: its argument, and what the UI shows beside it."""

from collections.abc import Mapping

from seeding.model import Json, JsonObject
from seeding.queued_turns import payload_of as given_of
from seeding.request import RunRequest

SUMMARY_BYTES = 300
"""How long a summary may be; the server refuses one above 400 bytes."""


def payload_of(request: RunRequest | Mapping[str, Json]) -> JsonObject:
    """Return the argument of the start: what the caller gave, without defaults."""
    if isinstance(request, RunRequest):
        return given_of(request)
    return dict(request)


def summary_of(request: RunRequest) -> str:
    """Return the line that lists of runs show."""
    text = f"{_graph_name(request)} on {request.thread_id}"
    data = text.encode()
    return (
        text if len(data) <= SUMMARY_BYTES else data[:SUMMARY_BYTES].decode(errors="ignore") + "…"
    )


def details_of_start(request: RunRequest) -> str:
    """Return the Markdown that the UI shows of the start itself."""
    return (
        f"A turn on thread `{request.thread_id}`.\n\n"
        f"- graph: `{_graph_name(request)}`\n"
        f"- new messages: {len(request.new_messages())}\n"
        "- what it waits for, and the line that answers it, stand in the current details"
    )


def _graph_name(request: RunRequest) -> str:
    return request.graph if isinstance(request.graph, str) else str(request.graph.get("id", ""))
