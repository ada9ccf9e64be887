"""Message templates: ``{port}`` stands for the value at that port, and for nothing more.

There is no attribute access, no indexing and no format specification, so that a template can
show what its node received and cannot reach anything else.
"""

import json
import re

from seeding.model import Json, JsonObject

_PLACE = re.compile(r"\{([^{}]+)\}")


def fill_template(template: str, inputs: JsonObject) -> str:
    """Return ``template`` with each ``{port}`` replaced by its input, in one pass.

    Strings appear as they are, everything else as compact JSON; a name that is no port of
    ``inputs`` is left as it is, braces and all.
    """

    def value_at(place: re.Match[str]) -> str:
        return as_text(inputs[place[1]]) if place[1] in inputs else place[0]

    return _PLACE.sub(value_at, template)


def as_text(value: Json) -> str:
    """Return a string as it is and any other value as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def template_ports(template: str) -> tuple[str, ...]:
    """Return the names that a template has places for, each once, in order."""
    return tuple(dict.fromkeys(place[1] for place in _PLACE.finditer(template)))
