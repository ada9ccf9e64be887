"""Conditions of a ``switch``, in JMESPath.

JMESPath was chosen among the small expression languages on PyPI because it is pure Python
without dependencies, has a written specification, is kept by the people who ship it with the
AWS tools, and has neither side effects nor clocks, random numbers, loops or regular
expressions. An embedded Python evaluator is none of that for certain, and the CEL packages bring
a compiled runtime whose maps have no fixed order, which a replayed decision must not depend on.

A condition sees the node's inputs as one object by port: ``amount > `100` && user.role ==
'admin'``. It holds where its result is true as JMESPath says it: not null, false, or an empty
text, list or object. Comparing the order of a text and a number fails; comparing null gives null.

What a language without loops can still do is copy its data again and again, so the size, the
depth and the copying of an expression are limited before it is ever evaluated: its work is then
at most in proportion to the data.
"""

from typing import cast

import jmespath
from jmespath.exceptions import JMESPathError

from seeding.model import Json, JsonObject

MAX_LENGTH = 1000
"""The longest condition, in characters."""

MAX_DEPTH = 50
"""How deep the parts of a condition may be nested."""

MAX_COPIES = 16
"""How many copies of its data a condition's ``[a, b]`` and ``{a: b}`` may make in all."""

FUNCTIONS = (
    *("abs", "avg", "ceil", "contains", "ends_with", "floor", "keys", "length", "map", "max"),
    *("max_by", "min", "min_by", "not_null", "reverse", "sort", "sort_by", "starts_with", "sum"),
    *("to_array", "to_number", "to_string", "type", "values"),
)
"""The functions a condition may use. ``join`` and ``merge`` build values and decide nothing."""


class ConditionFailed(Exception):
    """A condition could not be evaluated on the values it got; the text says why."""


def condition_problem(text: str) -> str | None:
    """Return why ``text`` is no condition that may be evaluated, or None where it is one."""
    if len(text) > MAX_LENGTH:
        return f"it has {len(text)} characters, at most {MAX_LENGTH} are taken"
    try:
        parsed = cast(JsonObject, jmespath.compile(text).parsed)
    except RecursionError:
        return f"it is nested deeper than {MAX_DEPTH}"
    except (JMESPathError, ValueError) as error:
        return " ".join(str(error).split())[:300]
    return _limit_problem(parsed)


def holds(text: str, values: JsonObject) -> bool:
    """Return whether a condition holds on values by port.

    Args:
        text: A condition without a :func:`condition_problem`.
        values: What it sees.

    Raises:
        ConditionFailed: A function or comparison got a type it does not take.
    """
    try:
        found: Json = jmespath.search(text, values)
    except (JMESPathError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise ConditionFailed(" ".join(str(error).split())[:300]) from error
    return _is_true(found)


def _is_true(value: Json) -> bool:
    # Zero is true in JMESPath.
    return not (value is None or value is False or value in ("", [], {}))


def _limit_problem(parsed: JsonObject) -> str | None:
    """Return which limit a parsed condition is past; walks without recursion."""
    copies, open_parts = 1, [(parsed, 1)]
    while open_parts:
        part, depth = open_parts.pop()
        if depth > MAX_DEPTH:
            return f"it is nested deeper than {MAX_DEPTH}"
        children: list[JsonObject] = [
            child for child in part.get("children", ()) if isinstance(child, dict)
        ]
        if part["type"] in ("multi_select_list", "multi_select_dict"):
            copies *= max(1, len(children))
        if part["type"] == "function_expression" and part["value"] not in FUNCTIONS:
            return f"{part['value']!r} is none of its functions: {', '.join(FUNCTIONS)}"
        open_parts.extend((child, depth + 1) for child in children)
    if copies > MAX_COPIES:
        return f"it copies its data {copies} times, at most {MAX_COPIES} times is allowed"
    return None
