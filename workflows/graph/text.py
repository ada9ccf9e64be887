"""From text to a plain JSON value: JSON first, then the JSON part of YAML.

YAML is read by the core schema of YAML 1.2, which means what JSON means: only ``true`` and
``false`` are booleans (``NO``, ``yes`` and ``on`` are texts), ``010`` is ten, ``12:30`` is a
text. What has no JSON meaning is refused and never converted: dates without quotes, tags,
binary data, keys that are no text. A document is at most 1 MB, nests as deep as a value may, and
uses no alias, so a small text cannot grow into a large value.

The YAML library is used for its events only; a value is built here, because its own
constructors keep the last of two equal keys and turn ``NO`` into false.
"""

import json
import re
from collections.abc import Iterator
from typing import NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from seeding.errors import InvalidGraph
from seeding.json_values import MAX_DEPTH
from seeding.model import Json, JsonObject
from workflows.graph.json_checks import check_json

MAX_DOCUMENT_BYTES = 1_000_000
"""The largest graph document, in bytes of UTF-8."""

_YAML_PREFIX = "tag:yaml.org,2002:"
_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_BOOLEAN = re.compile(r"^(?:(?P<true>true|True|TRUE)|false|False|FALSE)$")
_INTEGER = re.compile(r"^(?:[-+]?[0-9]+|0o(?P<octal>[0-7]+)|0x(?P<hex>[0-9a-fA-F]+))$")
_NUMBER = re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$")
_NOT_FINITE = re.compile(r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$")
_DATE = re.compile(r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?$")


class _NotJsonText(Exception):
    """The text is no JSON at all, so YAML may be tried."""


def parse_document(text: str, name: str) -> Json:
    """Return the JSON value that a JSON or YAML text is.

    Args:
        text: The whole text.
        name: What the text is called in messages, such as its file name. Where it ends in
            ``.json``, YAML is not tried.

    Raises:
        InvalidGraph: It is neither, is too large or too deep, repeats a key of one object,
            uses an alias, or holds what JSON cannot say; the message names the place.
    """
    text = text.removeprefix("\ufeff")
    size = len(text.encode(errors="surrogatepass"))
    if size > MAX_DOCUMENT_BYTES:
        raise InvalidGraph(
            f"{name} has {size} bytes; a graph document has at most {MAX_DOCUMENT_BYTES}"
        )
    try:
        return _parse_json(text, name)
    except _NotJsonText as error:
        if name.endswith(".json"):
            raise InvalidGraph(f"{name} is no JSON: {error}") from error
    return _YamlReader(text, name).document()


def parse_json_text(text: str, where: str) -> Json:
    """Return the value of a text that must be JSON.

    Raises:
        InvalidGraph: It is not, repeats a key of one object, nests too deep, or holds a
            number that JSON readers would not agree on.
    """
    try:
        value = _parse_json(text, where)
    except _NotJsonText as error:
        raise InvalidGraph(f"{where} is no JSON: {error}") from error
    check_json(value, where)
    return value


def _parse_json(text: str, where: str) -> Json:
    def unique(pairs: list[tuple[str, Json]]) -> JsonObject:
        result: JsonObject = {}
        for key, value in pairs:
            if key in result:
                raise InvalidGraph(f"{where}: the key {key!r} stands twice in one object")
            result[key] = value
        return result

    def refuse(constant: str) -> NoReturn:
        raise InvalidGraph(f"{where}: {constant} is no JSON number")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except RecursionError as error:
        raise InvalidGraph(f"{where} nests deeper than {MAX_DEPTH} levels") from error
    except json.JSONDecodeError as error:
        raise _NotJsonText(str(error)) from error
    except ValueError as error:
        raise InvalidGraph(f"{where}: a number has too many digits") from error


class _YamlReader:
    """Builds one value from the events of one YAML document."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._events = _yaml_events(text, name)

    def document(self) -> Json:
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                value = self._value(next(self._events), 0)
                if any(isinstance(later, DocumentStartEvent) for later in self._events):
                    raise InvalidGraph(f"{self._name} holds more than one YAML document")
                return value
        raise InvalidGraph(f"{self._name} is empty")

    def _value(self, event: Event, depth: int) -> Json:
        if depth > MAX_DEPTH:
            self._refuse(event, f"it nests deeper than {MAX_DEPTH} levels")
        if isinstance(event, AliasEvent):
            self._refuse(event, f"the alias *{event.anchor}: write the value out instead")
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        if isinstance(event, SequenceStartEvent):
            self._check_tag(event, event.tag, "seq")
            return self._list(depth)
        if isinstance(event, MappingStartEvent):
            self._check_tag(event, event.tag, "map")
            return self._object(depth)
        return self._refuse(event, "this cannot be read")

    def _list(self, depth: int) -> list[Json]:
        result: list[Json] = []
        for event in self._events:
            if isinstance(event, SequenceEndEvent):
                break
            result.append(self._value(event, depth + 1))
        return result

    def _object(self, depth: int) -> JsonObject:
        result: JsonObject = {}
        for event in self._events:
            if isinstance(event, MappingEndEvent):
                break
            key = self._value(event, depth + 1)
            if not isinstance(key, str):
                self._refuse(event, f"the key {key!r} is no text: write it in quotes")
            if key in result:
                self._refuse(event, f"the key {key!r} stands twice in one object")
            result[key] = self._value(next(self._events), depth + 1)
        return result

    def _scalar(self, event: ScalarEvent) -> Json:
        text = event.value
        plain = event.implicit[0]
        if not plain:
            self._check_tag(event, event.tag, "str")
            return text
        if _NULL.match(text):
            return None
        if boolean := _BOOLEAN.match(text):
            return boolean["true"] is not None
        if integer := _INTEGER.match(text):
            return self._integer(event, text, integer)
        if _NUMBER.match(text):
            return float(text)
        if _NOT_FINITE.match(text):
            self._refuse(event, f"{text} is no JSON number")
        if _DATE.match(text):
            self._refuse(event, f"{text} is a date, which JSON has not: write it in quotes")
        return text

    def _integer(self, event: Event, text: str, match: re.Match[str]) -> int:
        try:
            if match["octal"]:
                return int(match["octal"], 8)
            return int(match["hex"], 16) if match["hex"] else int(text)
        except ValueError:
            return self._refuse(event, "a number has too many digits")

    def _check_tag(self, event: Event, tag: str | None, expected: str) -> None:
        if tag not in (None, "!", _YAML_PREFIX + expected):
            self._refuse(event, f"the tag {tag} has no meaning in a graph document")

    def _refuse(self, event: Event, why: str) -> NoReturn:
        mark = event.start_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InvalidGraph(f"{self._name}{place}: {why}")


def _yaml_events(text: str, name: str) -> Iterator[Event]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise InvalidGraph(f"{name} is neither JSON nor YAML: {said}") from error
