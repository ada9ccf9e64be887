"""``template`` and the editor's ``prompt_template``: fill in a text with what came in.

The editor's templates have paths, loops and conditions, so this is Jinja, the library nearest
to them that is well kept, in its sandbox and cut down to what a text needs: ``{{ path }}`` with
filters, ``{% for %}`` and ``{% if %}`` with tests and comparisons. There are no calls, no
arithmetic, no assignments, no macros and no includes; a path goes through the keys and indexes
of JSON values and never reaches a Python attribute. So a template shows what came in, and the
steps it may take and the text it may make are limited.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from jinja2 import ChainableUndefined, TemplateError, Undefined, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from activities.nodes import NodeCall, NodeError, builtin_node
from seeding.json_values import MAX_VALUE_BYTES
from seeding.model import Json, JsonObject, as_object
from workflows.control.templates import as_text

FILTERS = (
    *("abs", "capitalize", "count", "d", "default", "first", "float", "int", "last"),
    *("length", "lower", "max", "min", "round", "sum", "title", "trim", "upper"),
)
"""Jinja's filters that a template may use, beside ``items``, ``join`` and ``tojson`` of our own."""

MAX_STEPS = 100_000
"""How many rounds the loops of one template may go in all, over values of any kind."""

MAX_SECONDS = 10.0
"""How long one template may take; looked at in every round of a loop."""

_COUNTED = "counted rounds"
"""Name of a filter that no template can write: it holds a space."""

_ALLOWED: tuple[type[nodes.Node], ...] = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Name),
    *(nodes.Getattr, nodes.Getitem, nodes.Const, nodes.Filter, nodes.Test, nodes.Compare),
    *(nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr, nodes.Tuple, nodes.Keyword),
    nodes.Neg,
)


@builtin_node("template")
def template(call: NodeCall) -> JsonObject:
    """Return the filled-in config ``template`` as ``text``, and which variables it missed.

    Inputs are variables by port; the keys of an object at port ``data`` are variables too. A
    text appears as it is, any other value as compact JSON. A variable without a value appears
    as config ``fallbackValue`` (the empty text) and is listed in ``missing_variables``; under
    config ``strictMode`` it fails the node.

    Raises:
        NodeError: The template is none (``InvalidTemplate``), lacks a variable
            (``MissingVariables``), or makes too much (``OutputTooLarge``).
    """
    filled, missing = _filled(call)
    return {"text": filled, "missing_variables": missing, "success": not missing}


@builtin_node("prompt_template")
def prompt_template(call: NodeCall) -> JsonObject:
    """Do what ``template`` does, with the ports of the editor's node of this name."""
    filled, missing = _filled(call)
    return {
        "output": filled,
        "template": call.config["template"],
        "variables": _variables(call.inputs),
        "missing_variables": missing,
        "success": not missing,
    }


def render(text: str, variables: JsonObject, fallback: str = "") -> tuple[str, list[str]]:
    """Return a filled-in template and the paths that had no value, in order of use.

    Raises:
        NodeError: ``InvalidTemplate`` or ``OutputTooLarge``.
    """
    missing: dict[str, None] = {}
    environment = _environment(missing, fallback)
    try:
        parsed = environment.parse(text)
        _check(parsed)
        rendering = _Rendering()
        _count_rounds(parsed, environment, rendering)
        made = environment.from_string(parsed).generate(rendering.object_of(variables, ""))
        return _within_limit(made), list(missing)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise NodeError(
            f"config template cannot be filled in: {error}"[:500], code="InvalidTemplate"
        ) from None
    except RecursionError:
        raise NodeError("config template is nested too deep", code="InvalidTemplate") from None


def _filled(call: NodeCall) -> tuple[str, list[str]]:
    text: Json = call.config.get("template")
    if not isinstance(text, str):
        raise NodeError("config template is missing", code="InvalidTemplate")
    fallback: Json = call.config.get("fallbackValue")
    variables = {**_variables(call.inputs), **call.inputs}
    filled, missing = render(text, variables, fallback if isinstance(fallback, str) else "")
    if missing and call.config.get("strictMode") is True:
        raise NodeError(
            f"config template needs {', '.join(missing)}, which have no value"[:500],
            code="MissingVariables",
            details={"missing": list[Json](missing[:100])},
        )
    return filled, missing


def _variables(inputs: JsonObject) -> JsonObject:
    """Return the inputs by port, an object at port ``data`` by its keys."""
    data = as_object(inputs.get("data"))
    if data is None:
        return inputs
    return {**data, **{port: value for port, value in inputs.items() if port != "data"}}


class _List(list[Json]):
    """A list of a template's values that knows its path and counts the rounds over it."""

    def __init__(self, rendering: "_Rendering", path: str, items: Sequence[Json]) -> None:
        super().__init__(items)
        self.rendering, self.path = rendering, path

    def __iter__(self) -> Iterator[Json]:
        for item in super().__iter__():
            self.rendering.step()
            yield item


class _Object(dict[str, Json]):
    """An object of a template's values that knows its path."""

    def __init__(self, rendering: "_Rendering", path: str, items: JsonObject) -> None:
        super().__init__(items)
        self.rendering, self.path = rendering, path

    def __iter__(self) -> Iterator[str]:
        for key in super().__iter__():
            self.rendering.step()
            yield key


class _Rendering:
    """The values of one rendering, and the steps its loops have taken."""

    def __init__(self) -> None:
        self._steps = 0
        self._until = time.monotonic() + MAX_SECONDS

    def step(self) -> None:
        """Count one round of a loop."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise NodeError(
                f"the loops of config template go more than {MAX_STEPS} rounds",
                code="OutputTooLarge",
            )
        if time.monotonic() > self._until:
            raise NodeError(
                f"config template took more than {MAX_SECONDS:g} s", code="OutputTooLarge"
            )

    def counted(self, value: Any) -> Any:
        """Return what a loop goes over, so that each of its rounds is counted."""
        return value if isinstance(value, _List | _Object) else self._rounds(value)

    def _rounds(self, value: Iterable[Any]) -> Iterator[Any]:
        for item in value:
            self.step()
            yield item

    def object_of(self, given: JsonObject, path: str) -> _Object:
        """Return an object whose values know their paths."""
        dot = f"{path}." if path else ""
        items = {key: self.value_of(value, f"{dot}{key}") for key, value in given.items()}
        return _Object(self, path, items)

    def value_of(self, given: Json, path: str) -> Json:
        """Return a value that knows its path, if it can."""
        if isinstance(given, dict):
            return self.object_of(cast(JsonObject, given), path)
        if isinstance(given, list):
            listed = cast(list[Json], given)
            items = [self.value_of(item, f"{path}[{n}]") for n, item in enumerate(listed)]
            return _List(self, path, items)
        return given


class _Environment(ImmutableSandboxedEnvironment):
    """Paths through JSON values: keys and indexes, never attributes."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if obj is None or isinstance(obj, dict | list | str | int | float | Undefined):
            return self.getitem(obj, attribute)
        return super().getattr(obj, attribute)  # the state of a loop, such as loop.index

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, dict) and isinstance(argument, str) and argument in obj:
            return cast(JsonObject, obj)[argument]
        if isinstance(obj, list | str) and type(argument) is int:
            found = cast(Sequence[Any], obj)
            if -len(found) <= argument < len(found):
                return found[argument]
        return self.undefined(name=_path(obj, argument))


def _path(obj: Any, argument: Any) -> str:
    at = f"[{argument}]" if type(argument) is int else str(argument)
    before = getattr(obj, "path", "")
    if isinstance(obj, Undefined):
        # Where this value is missing, so is everything below it.
        before = str(getattr(obj, "_undefined_name", None) or "")
    return at if not before else f"{before}{at}" if at.startswith("[") else f"{before}.{at}"


def _environment(missing: dict[str, None], fallback: str) -> _Environment:
    class Missing(ChainableUndefined):
        """A path without a value: it appears as the fallback and is noted."""

        def __str__(self) -> str:
            missing[str(self._undefined_name)] = None
            return fallback

        def __iter__(self) -> Iterator[Any]:
            missing[str(self._undefined_name)] = None
            return iter(())

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(name)

    environment = _Environment(undefined=Missing, finalize=_shown, keep_trailing_newline=True)
    environment.globals.clear()
    for name in [name for name in environment.filters if name not in FILTERS]:
        del environment.filters[name]
    ours: dict[str, Any] = {"items": _items, "join": _join, "tojson": _as_json}
    environment.filters.update(ours)
    return environment


def _shown(value: Any) -> Any:
    return value if isinstance(value, str | Undefined) else as_text(value)


def _as_json(value: Any) -> str:
    return as_text([value])[1:-1]


def _items(value: Any) -> list[Any]:
    if not isinstance(value, _Object):
        return []
    return _List(value.rendering, "", list(value.items()))


def _join(value: Any, separator: str = "") -> str:
    texts = [str(_shown(item)) for item in value]
    if sum(map(len, texts)) + len(texts) * len(separator) > MAX_VALUE_BYTES:
        raise _too_large()
    return separator.join(texts)


def _check(parsed: nodes.Template) -> None:
    for part in parsed.find_all(nodes.Node):
        if not isinstance(part, _ALLOWED):
            raise NodeError(
                f"config template uses {type(part).__name__.lower()}, which a template has not; "
                "it has paths with filters, for, if, tests and comparisons",
                code="InvalidTemplate",
            )


def _count_rounds(parsed: nodes.Template, environment: _Environment, rendering: _Rendering) -> None:
    """Make every loop of a template count its rounds; a text and a tuple do not by themselves."""
    environment.filters[_COUNTED] = rendering.counted
    for loop in list(parsed.find_all(nodes.For)):
        loop.iter = nodes.Filter(loop.iter, _COUNTED, [], [], None, None)


def _within_limit(made: Iterator[str]) -> str:
    parts: list[str] = []
    size = 0
    for part in made:
        size += len(part)
        if size > MAX_VALUE_BYTES:
            raise _too_large()
        parts.append(part)
    return "".join(parts)


def _too_large() -> NodeError:
    return NodeError(
        f"the filled-in template is larger than {MAX_VALUE_BYTES} bytes",
        code="OutputTooLarge",
        details={"limit": MAX_VALUE_BYTES},
    )
