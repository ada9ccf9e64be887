"""What the decorator refuses: a type declared so would fail later, or be ignored."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from activities import node
from activities.nodes import REGISTRY
from seeding.errors import InvalidGraph


def takes_the_call(call: Any) -> dict[str, Any]:
    return {}


def takes_more(call: Any, more: int = 1, *, detail: str = "") -> dict[str, Any]:
    return {}


def takes_nothing() -> dict[str, Any]:
    return {}


def takes_two(call: Any, other: Any) -> dict[str, Any]:
    return {}


def takes_a_keyword(call: Any, *, other: Any) -> dict[str, Any]:
    return {}


def yields(call: Any) -> Any:
    yield {}


class OfAClass:
    """No function."""


def refusal(name: Any, function: Any = takes_the_call, **declared: Any) -> str:
    """Return how the declaration is refused; nothing is registered."""
    before = REGISTRY.types()
    with pytest.raises(InvalidGraph) as refused:
        node(name, **declared)(function)
    assert REGISTRY.types() == before
    return refused.value.message


@pytest.mark.parametrize(
    "name", ["gate", "for_each", "json_loader", "delay", "notes", "flow", "template", "chat"]
)
def test_the_engines_own_names_are_not_to_be_had(name: str) -> None:
    assert refusal(name) == (
        f"node type {name!r} is the engine's own, and a function of that name would never be "
        "called; give yours another name"
    )


@pytest.mark.parametrize(
    ("name", "given"), [("", "''"), (" ", "' '"), (7, "int"), (takes_the_call, "function")]
)
def test_a_name_is_a_text(name: Any, given: str) -> None:
    """The last is ``@node`` without parentheses."""
    assert refusal(name) == (
        f'a node type\'s name is {given}; it is a text that is not empty, such as @node("price_of")'
    )


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"branches": "over"}, "branches is the text 'over'; it is a sequence of names, such as"),
        ({"declares": "__messages__"}, "declares is the text '__messages__'; it is a sequence"),
        ({"branches": [1]}, "branches is [1]; it is a sequence of names"),
        ({"branches": 7}, "branches is 7; it is a sequence of names"),
        ({"max_retries": -1}, "max_retries is -1; it is a whole number from 0 up"),
        ({"max_retries": "2"}, "max_retries is '2'; it is a whole number from 0 up"),
    ],
)
def test_an_argument_of_another_shape_is_refused(declared: dict[str, Any], said: str) -> None:
    assert refusal("shaped", **declared).startswith(f"node type 'shaped': {said}")


def test_an_unknown_reserved_input_is_refused_with_those_there_are() -> None:
    said = refusal("asking", declares=["__secrets__"])
    assert said.startswith("node type 'asking' declares '__secrets__'; the reserved inputs are ")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (takes_nothing, f"{__name__}.takes_nothing() -> dict[str, typing.Any] "),
        (takes_two, f"{__name__}.takes_two(call: Any, other: Any) -> "),
        (takes_a_keyword, f"{__name__}.takes_a_keyword(call: Any, *, other: Any) "),
        (yields, f"{__name__}.yields yields, and a node returns its outputs once"),
        (OfAClass, f"<class '{__name__}.OfAClass'> is no function"),
        (7, "7 is no function"),
        (partial(takes_the_call), "functools.partial("),
    ],
)
def test_a_function_that_is_not_called_with_just_the_call_is_refused(
    function: Any, said: str
) -> None:
    message = refusal("called", function)
    assert message.startswith(
        f"node type 'called' is to be a function with one parameter, the call; {said}"
    )


@pytest.mark.parametrize("function", [takes_the_call, takes_more])
def test_a_function_with_one_required_parameter_is_a_node(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(REGISTRY, "_nodes", {})
    assert node("fine", branches=["a"], declares=["__data__"])(function) is function
    assert REGISTRY.types()["fine"].branches == ("a",)
