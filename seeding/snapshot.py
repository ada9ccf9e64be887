"""Reading an explicit snapshot: a state that a caller brings along (contract, section 2).

A snapshot that cannot be read is refused and never becomes a fresh start (INT-15); one of an
ended run is refused by its status (INT-14). What is readable is kept as it is, fields this
engine does not know included, except two things that belong to where it came from: the ``run``
block and the ids of its messages.
"""

from collections.abc import Iterator, Mapping
from typing import get_args

from pydantic import ValidationError

from seeding.canonical import canonical_text
from seeding.errors import InvalidCommit, TerminalSnapshot, UnreadableSnapshot
from seeding.json_values import MAX_VALUE_BYTES, find_not_json, size_in_bytes
from seeding.model import Json, JsonObject, as_list, as_object
from seeding.request import describe
from seeding.state import RunState, Status

FIELD = "initialSnapshot"
_STATUSES = get_args(Status)
_WORDS = "null, " + ", ".join(f"'{word}'" for word in _STATUSES)


def read_snapshot(value: Json) -> RunState:
    """Return the state that ``value`` is; ``{}`` is one, with every field at its default.

    Raises:
        TerminalSnapshot: It is the state of an ended run; the status is named (INT-14).
        UnreadableSnapshot: It is no state; the field is named (INT-15).
    """
    whole = as_object(value)
    if whole is None:
        raise UnreadableSnapshot(f"{FIELD} is {_kind(value)}; a state is a JSON object")
    given = {name: item for name, item in whole.items() if name != "run"}
    _check_json(given)
    _check_outcome(given)
    try:
        state = RunState.model_validate(given, strict=True)
    except ValidationError as error:
        raise UnreadableSnapshot(f"{FIELD} cannot be read: {describe(error)}") from error
    if state.iteration_count < 0:
        raise _unreadable("iterationCount", "is negative")
    if state.iterator is not None:
        _check_iterator(state.iterator)
    _check_messages(state.messages)
    _check_sizes(given)
    copied = [_without_id(message) for message in state.messages]
    return state.model_copy(update={"messages": copied})


def _check_json(given: JsonObject) -> None:
    found = find_not_json(given)
    if found is not None:
        raise _unreadable(found.path, f"is no JSON value this engine keeps: {found.kind}")
    for name, field in RunState.model_fields.items():
        if name in given and name != field.alias:
            raise _unreadable(name, f"is spelled {field.alias} in a state; rename it")
    try:
        canonical_text(given)
    except InvalidCommit as error:
        raise UnreadableSnapshot(f"{FIELD} cannot be kept: {error.message}") from error


def _check_outcome(given: Mapping[str, Json]) -> None:
    """Judge the outcome first: an ended run's state is named as such whatever else it holds."""
    status, complete = given.get("status"), given.get("isComplete", False)
    if status is not None and status not in _STATUSES:
        raise _unreadable("status", f"is {status!r}; it is one of {_WORDS}")
    if not isinstance(complete, bool):
        raise _unreadable("isComplete", f"is {_kind(complete)}; it is true or false")
    if status is not None or complete:
        said = f"status '{status}'" if status is not None else "isComplete true"
        raise TerminalSnapshot(
            f"{FIELD} is the state of an ended run ({said}); a run cannot go on from it. Start "
            "the next turn on its thread, or give a state whose status is null and whose "
            "isComplete is false"
        )


def _check_iterator(iterator: JsonObject) -> None:
    items, index = as_list(iterator.get("items")), iterator.get("index")
    if items is None:
        raise _unreadable("iterator.items", "is not the list of the loop's items")
    count = len(items)
    if not isinstance(index, int) or isinstance(index, bool):
        raise _unreadable("iterator.index", f"is {_kind(index)}; it is a zero-based index")
    if not 0 <= index < count:
        raise _unreadable("iterator.index", f"is {index}, outside the {count} items")
    if as_list(iterator.get("results", [])) is None:
        raise _unreadable("iterator.results", "is not a list of the rounds' results")


def _check_messages(messages: list[JsonObject]) -> None:
    for index, message in enumerate(messages):
        role = message.get("role")
        if not isinstance(role, str) or not role:
            raise _unreadable(f"messages.{index}.role", "is missing; it is a non-empty string")


def _check_sizes(given: Mapping[str, Json]) -> None:
    for path, value in _kept_values(given):
        size = size_in_bytes(value)
        if size > MAX_VALUE_BYTES:
            raise _unreadable(
                path, f"is {size} bytes of JSON; a single value may have {MAX_VALUE_BYTES}"
            )


def _kept_values(given: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield each value the log would keep whole, with its path."""
    for name, value in given.items():
        if name == "messages":
            yield from ((f"messages.{index}", message) for index, message in enumerate(value))
        elif name in ("data", "metadata"):
            yield from ((f"{name}.{key}", item) for key, item in value.items())
        elif name == "iterator" and value is not None:
            for part in ("items", "results"):
                yield from (
                    (f"iterator.{part}.{index}", item)
                    for index, item in enumerate(value.get(part, []))
                )
        else:
            yield name, value


def _without_id(message: JsonObject) -> JsonObject:
    return {name: value for name, value in message.items() if name != "id"}


def _unreadable(path: str, said: str) -> UnreadableSnapshot:
    return UnreadableSnapshot(f"{FIELD}.{path} {said}")


def _kind(value: object) -> str:
    names: dict[type, str] = {
        type(None): "null",
        bool: "a boolean",
        str: "a string",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "a number")
