"""What people send through the doors of a run, read strictly (contract, section 5).

A payload is taken as the list of decoded JSON arguments, or as the mark that it could not be
decoded. Everything that is not of the documented shape is ``InvalidCommand`` naming the field;
what the run makes of a well-shaped command is not this module's business.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from seeding.errors import InvalidCommand, InvalidRequest
from seeding.identity import parse_ticket_id
from seeding.json_values import MAX_VALUE_BYTES, find_not_json, size_in_bytes
from seeding.model import Json, JsonObject, Model, as_object
from seeding.request import check_message
from workflows.instants import read_moment

COMMANDS = ("resume", "cancel", "pause", "message")
"""The names of the doors."""

MAX_NAME = 255
MAX_TICKET = 1_000
MAX_REASON = 2_000


class Undecodable(Model):
    """A payload that is no JSON; ``text`` says what is known of it."""

    text: str


Arguments = Sequence[Json] | Undecodable
"""The arguments of a signal or update as the door hands them over."""


class Answer(Model):
    """An answer to a ticket. ``value`` counts as given by presence, null included."""

    ticket: str | None = None
    decision: str | None = None
    value: Json = None
    value_given: bool = False
    actor: str | None = None
    command_id: str | None = None
    issued_at: str | None = None

    def payload(self) -> JsonObject:
        """Return the command as its sender may have written it."""
        shown = _without_absent(self)
        if self.value_given:
            shown["value"] = self.value
        return shown


class Lift(Model):
    """Lifts a pause: the one that is open, or the one that ``ticket`` names."""

    ticket: str | None = None
    actor: str | None = None
    command_id: str | None = None
    issued_at: str | None = None

    def payload(self) -> JsonObject:
        """Return the command as its sender may have written it."""
        return _without_absent(self)


class Pause(Model):
    """Asks the run to pause at the next boundary between nodes (INT-5)."""

    reason: str | None = None


class Cancel(Model):
    """Asks the run to end as cancelled at the next boundary between nodes (INT-5)."""

    reason: str | None = None


class Message(Model):
    """A message for the thread while the run is open."""

    message: str | JsonObject
    graph: str | JsonObject | None = None
    on_busy: Literal["reject", "queue", "supersede"] | None = None
    idempotency_key: str | None = None


Command = Answer | Lift | Pause | Cancel | Message


def parse_command(name: str, arguments: Arguments) -> Command:
    """Return the command that ``arguments`` are, for the door ``name``.

    Raises:
        InvalidCommand: The name is unknown or the payload is not of the documented shape.
    """
    parse = _PARSERS.get(name)
    if parse is None:
        raise InvalidCommand(
            f"{name[:MAX_NAME]!r} is no command of a run; the commands are {', '.join(COMMANDS)}"
        )
    given = _one_object(name, arguments, optional=name in ("cancel", "pause"))
    _check_values(name, given)
    return parse(given)


def _parse_resume(given: JsonObject) -> Command:
    _refuse_unknown(
        "resume", given, ("ticket", "decision", "value", "actor", "commandId", "issuedAt")
    )
    ticket = _text("resume", given, "ticket", MAX_TICKET)
    decision = _text("resume", given, "decision", MAX_NAME)
    actor = _text("resume", given, "actor", MAX_NAME)
    command = _text("resume", given, "commandId", MAX_NAME)
    issued = _moment("resume", given, "issuedAt")
    if decision is None and "value" not in given:
        _check_lift(given, ticket)
        return Lift(ticket=ticket, actor=actor, command_id=command, issued_at=issued)
    return Answer(
        ticket=ticket,
        decision=decision,
        value=given.get("value"),
        value_given="value" in given,
        actor=actor,
        command_id=command,
        issued_at=issued,
    )


def _check_lift(given: JsonObject, ticket: str | None) -> None:
    name = parse_ticket_id(ticket) if ticket is not None else None
    if given and (name is None or name.node_id):
        raise InvalidCommand(
            "resume: decision or value is missing; give one of them to answer a ticket, "
            "or {} to lift a pause"
        )


def _parse_pause(given: JsonObject) -> Command:
    _refuse_unknown("pause", given, ("reason",))
    return Pause(reason=_text("pause", given, "reason", MAX_REASON, shortest=0))


def _parse_cancel(given: JsonObject) -> Command:
    _refuse_unknown("cancel", given, ("reason",))
    return Cancel(reason=_text("cancel", given, "reason", MAX_REASON, shortest=0))


def _parse_message(given: JsonObject) -> Command:
    _refuse_unknown("message", given, ("message", "graph", "onBusy", "idempotencyKey"))
    message: Json = given.get("message")
    if not isinstance(message, str) and as_object(message) is None:
        raise InvalidCommand(
            f"message: message is {_kind(message)}; give a text or an object with role and content"
        )
    if not isinstance(message, str):
        try:
            check_message(message)
        except InvalidRequest as error:
            raise InvalidCommand(f"message: message: {error.message}") from error
    graph: Json = given.get("graph")
    if graph is not None and not isinstance(graph, str) and as_object(graph) is None:
        raise InvalidCommand(f"message: graph is {_kind(graph)}; give an id or a graph document")
    on_busy = given.get("onBusy")
    if on_busy not in (None, "reject", "queue", "supersede"):
        raise InvalidCommand("message: onBusy is reject, queue or supersede")
    return Message(
        message=message,
        graph=graph,
        on_busy=on_busy,
        idempotency_key=_text("message", given, "idempotencyKey", MAX_NAME),
    )


_PARSERS: Mapping[str, Callable[[JsonObject], Command]] = {
    "resume": _parse_resume,
    "cancel": _parse_cancel,
    "pause": _parse_pause,
    "message": _parse_message,
}


def _one_object(name: str, arguments: Arguments, *, optional: bool) -> JsonObject:
    if isinstance(arguments, Undecodable):
        raise InvalidCommand(
            f"{name}: the payload cannot be decoded ({arguments.text[:MAX_NAME]}); send plain JSON"
        )
    if len(arguments) > 1:
        raise InvalidCommand(f"{name} takes one argument, a JSON object, not {len(arguments)}")
    given: Json = arguments[0] if arguments else None
    if given is None and optional:
        return {}
    if not arguments:
        raise InvalidCommand(f"{name} takes one argument, a JSON object; there is none")
    result = as_object(given)
    if result is None:
        raise InvalidCommand(f"{name} takes a JSON object as its argument, this is {_kind(given)}")
    return result


def _check_values(name: str, given: JsonObject) -> None:
    found = find_not_json(given)
    if found is not None:
        where = f"{found.path[:MAX_NAME]}: " if found.path else ""
        raise InvalidCommand(f"{name}: {where}{found.kind} is no JSON value")
    for field, value in given.items():
        size = size_in_bytes({field: value})
        if size > MAX_VALUE_BYTES:
            raise InvalidCommand(
                f"{name}: {field[:MAX_NAME]} is {size} bytes of JSON; "
                f"a single value may have {MAX_VALUE_BYTES}"
            )


def _refuse_unknown(name: str, given: JsonObject, known: tuple[str, ...]) -> None:
    unknown = [field[:MAX_NAME] for field in given if field not in known]
    if unknown:
        raise InvalidCommand(
            f"{name}: unknown field {', '.join(unknown[:10])}; it takes {', '.join(known)}"
        )


def _text(
    name: str, given: JsonObject, field: str, longest: int, *, shortest: int = 1
) -> str | None:
    value = given.get(field)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidCommand(f"{name}: {field} is a text, this is {_kind(value)}")
    if not shortest <= len(value) <= longest:
        raise InvalidCommand(
            f"{name}: {field} has {shortest} to {longest} characters, this one has {len(value)}"
        )
    return value


def _moment(name: str, given: JsonObject, field: str) -> str | None:
    value = _text(name, given, field, MAX_NAME)
    if value is None:
        return None
    try:
        read_moment(value)
    except ValueError as error:
        raise InvalidCommand(
            f"{name}: {field} is no ISO 8601 date and time such as 2026-03-01T12:00:00Z"
        ) from error
    return value


def _without_absent(command: Model) -> JsonObject:
    shown = command.model_dump(mode="json", by_alias=True, exclude_none=True)
    shown.pop("valueGiven", None)
    return shown


def _kind(value: object) -> str:
    names: dict[type, str] = {
        type(None): "null",
        bool: "a boolean",
        bytes: "binary data",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "a number")
