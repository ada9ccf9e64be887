"""Values of options, read strictly: what cannot be read is a usage error naming the option."""

import json
from pathlib import Path

import typer

from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject, as_object
from workflows.graph.text import MAX_DOCUMENT_BYTES, parse_document

DOCUMENT_SUFFIXES = (".json", ".yaml", ".yml")


def json_object(option: str, text: str | None) -> JsonObject:
    """Return the JSON object that an option gives, as text or as the path of a file.

    Raises:
        BadParameter: It is neither; the option is named.
    """
    if text is None:
        return {}
    if text.lstrip().startswith("{"):
        return _object_of(option, text, "the value")
    path = Path(text)
    if not path.is_file():
        raise _wrong(
            option, f"{text!r} is neither a JSON object such as '{{\"key\": 1}}' nor a file"
        )
    return _object_of(option, read_text(option, path), str(path))


def node_inputs(option: str, texts: list[str]) -> dict[str, JsonObject]:
    """Return values by node and port; a repeated option adds to those before it.

    Each text is ``node.port=JSON``, a JSON object ``{"node": {"port": value}}``, or the path
    of a file with one.

    Raises:
        BadParameter: One of them is none of these; the option is named.
    """
    inputs: dict[str, JsonObject] = {}
    for text in texts:
        for node, ports in _one_input(option, text).items():
            inputs[node] = {**inputs.get(node, {}), **ports}
    return inputs


def _one_input(option: str, text: str) -> dict[str, JsonObject]:
    address, equals, value = text.partition("=")
    is_port = equals and not address.lstrip().startswith("{") and not Path(text).is_file()
    if is_port:
        node, dot, port = address.rpartition(".")
        if not (node and dot and port):
            raise _wrong(option, f"{address!r} is no <node>.<port>")
        return {node: {port: _value_of(option, value, f"the value of {address}")}}
    given: dict[str, JsonObject] = {}
    for node, ports in json_object(option, text).items():
        by_port = as_object(ports)
        if by_port is None:
            raise _wrong(
                option, f'{node!r} is no object of values by port, such as {{"value": [1, 2]}}'
            )
        given[node] = by_port
    return given


def answer_value(text: str) -> Json:
    """Return what an answer's value says: JSON where it is some, else the text itself."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return text


def snapshot(option: str, path: Path | None) -> JsonObject | None:
    """Return the state in a file, None where no file was given.

    Raises:
        BadParameter: The file cannot be read or holds no JSON object.
    """
    return None if path is None else _object_of(option, read_text(option, path), str(path))


def graph(argument: str) -> str | JsonObject:
    """Return what GRAPH means: an id as it is, or the document in the file it names.

    It names a file where it ends in .json, .yaml or .yml, or holds a slash.

    Raises:
        BadParameter: The file cannot be read.
        InvalidGraph: The file holds no JSON or YAML object.
    """
    if not (argument.endswith(DOCUMENT_SUFFIXES) or "/" in argument):
        return argument
    return graph_document(Path(argument))


def graph_document(path: Path) -> JsonObject:
    """Return the graph document in a file.

    Raises:
        BadParameter: The file cannot be read.
        InvalidGraph: It holds no JSON or YAML object.
    """
    document = as_object(parse_document(read_text("GRAPH", path), path.name))
    if document is None:
        raise InvalidGraph(f"{path} holds no graph document; that is an object with id and nodes")
    return document


def read_text(option: str, path: Path) -> str:
    """Return the text of a file that an option or argument names.

    Raises:
        BadParameter: It cannot be read, is no text, or is larger than any request may be.
    """
    try:
        size = path.stat().st_size
        if size > MAX_DOCUMENT_BYTES:
            raise _wrong(option, f"{path} has {size} bytes, at most {MAX_DOCUMENT_BYTES} are read")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise _wrong(option, f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _wrong(option, f"{path} is no UTF-8 text") from error


def _object_of(option: str, text: str, where: str) -> JsonObject:
    given = as_object(_value_of(option, text, where))
    if given is None:
        raise _wrong(option, f"{where} is JSON, but no object")
    return given


def _value_of(option: str, text: str, where: str) -> Json:
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise _wrong(option, f"{where} is no JSON: {error}") from error


def _without_repeats(pairs: list[tuple[str, Json]]) -> JsonObject:
    read = dict(pairs)
    if len(read) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} is given twice")
    return read


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON value")


def _wrong(option: str, message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint=option)
