"""What a node may ask, judged where it asks: a ticket of any other shape could not be answered."""

from typing import get_args

from activities.nodes import Ask
from seeding.durations import parse_duration
from seeding.errors import InvalidRequest
from seeding.json_values import MAX_VALUE_BYTES, find_not_json, size_in_bytes
from seeding.model import Json, as_object
from seeding.tickets import TicketKind
from workflows.judging import schema_problem

KINDS = tuple(kind for kind in get_args(TicketKind) if kind != "pause")
"""The kinds of ticket a node may open; a pause is no node's."""


def question_problem(ask: Ask) -> str | None:
    """Return why a question cannot become a ticket, or None where it can."""
    message: Json = ask.message
    if not isinstance(message, str):
        return f"message is {type(message).__name__}; give a text"
    if ask.kind not in KINDS:
        return f"kind {ask.kind!r} is none of {', '.join(KINDS)}"
    schema: Json = ask.schema
    if schema is not None:
        if as_object(schema) is None or find_not_json(schema) is not None:
            return "schema is no JSON object"
        problem = schema_problem(schema)
        if problem is not None:
            return f"schema is no JSON Schema: {problem}"
    if find_not_json(message) is not None:
        return "message is no Unicode text"
    size = size_in_bytes([message, schema])
    if size > MAX_VALUE_BYTES:
        return f"message and schema are {size} bytes of JSON; they may have {MAX_VALUE_BYTES}"
    return _deadline_problem(ask)


def _deadline_problem(ask: Ask) -> str | None:
    try:
        parse_duration(ask.deadline, "deadline")
    except InvalidRequest as error:
        return error.message
    return None
