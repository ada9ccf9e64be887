"""``template`` and ``prompt_template``."""

from typing import Any

import pytest

from activities import NodeError
from activities.builtin_nodes.template import prompt_template, render, template
from seeding.model import JsonObject
from tests.nodes.calls import call_of

ANN: JsonObject = {
    "user": {"name": "Ann", "address": {"city": "Ulm"}, "items": 3, "nick": None},
    "orders": [{"id": 1, "price": 1.5}, {"id": 2, "price": 20}],
}


@pytest.mark.parametrize(
    ("text", "filled", "missing"),
    [
        ("Hello {{ user.name }}", "Hello Ann", []),
        ("{{ user.address.city|upper }}\n", "ULM\n", []),
        ("{{ orders[0].price }} {{ orders[-1].id }}", "1.5 2", []),
        ("{{ user.address }} {{ orders|length }}", '{"city":"Ulm"} 2', []),
        ("{{ user.nick }} {{ true }}", "null true", []),
        ("{{ user.items }}", "3", []),
        ("{% for o in orders %}{{ loop.index }}:{{ o.id }};{% endfor %}", "1:1;2:2;", []),
        ("{% if user.name == 'Ann' %}yes{% else %}no{% endif %}", "yes", []),
        ("{% if user.age %}yes{% else %}no{% endif %}", "no", []),
        ("{{ 'a' if user.age is defined else 'b' }}", "b", []),
        ("{{ user.age|default(7) }}", "7", []),
        ("{% for k, v in user.address|items %}{{ k }}={{ v }}{% endfor %}", "city=Ulm", []),
        ("{{ orders|join(', ') }}", '{"id":1,"price":1.5}, {"id":2,"price":20}', []),
        ("{{ user.name|tojson }}", '"Ann"', []),
        ("{{ user.age }}/{{ who.is.that }}", "/", ["user.age", "who.is.that"]),
        (
            "{% for o in orders %}{{ o.name }}{% endfor %}{{ orders[7].id }}",
            "",
            ["orders[0].name", "orders[1].name", "orders[7].id"],
        ),
        ("{% for x in nobody %}{{ x }}{% endfor %}", "", ["nobody"]),
        ("{user} {{ '{{' }} $x", "{user} {{ $x", []),
    ],
)
def test_paths_loops_and_conditions(text: str, filled: str, missing: list[str]):
    assert render(text, ANN) == (filled, missing)


@pytest.mark.parametrize(
    "path",
    [
        "user.__class__",
        "user.name.__class__.__mro__",
        "user.keys",
        "''.join",
        "orders.append",
        "range",
        "who.__init__.__globals__",
    ],
)
def test_a_path_reaches_values_and_nothing_else(path: str):
    filled, missing = render(f"{{{{ {path} }}}}", ANN)
    assert filled == ""
    assert len(missing) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ user.name", "cannot be filled in: unexpected end of template"),
        ("{{ user.name() }}", "uses call"),
        ("{{ 'x' * 1000000000 }}", "uses mul"),
        ("{{ user.name ~ 'x' }}", "uses concat"),
        ("{% set x = 1 %}", "uses assign"),
        ("{% include 'x' %}", "uses include"),
        ("{% macro m() %}{% endmacro %}", "uses macro"),
        ("{{ user.name|attr('upper') }}", "cannot be filled in: No filter named 'attr'"),
        ("{{ '%99999999d'|format(1) }}", "cannot be filled in: No filter named 'format'"),
        ("{{ self }}", "cannot be filled in"),
        ("{{ user.age > 3 }}", "cannot be filled in: 'user.age' is undefined"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "is nested too deep"),
    ],
)
def test_what_is_no_template_is_refused(text: str, problem: str):
    with pytest.raises(NodeError) as refused:
        render(text, ANN)
    assert (refused.value.code, refused.value.retryable) == ("InvalidTemplate", False)
    assert refused.value.message.startswith(f"config template {problem}")


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in many %}{% for b in many %}{% endfor %}{% endfor %}",
        "{% for a in many %}{{ many|sum }}{% endfor %}",
        "{% for a in many %}{{ long }}{% endfor %}",
        "{{ many|join(long) }}",
    ],
)
def test_what_a_template_makes_and_how_long_it_takes_is_limited(text: str):
    with pytest.raises(NodeError) as refused:
        render(text, {"many": list(range(1000)), "long": "x" * 1000})
    assert refused.value.code == "OutputTooLarge"


def test_the_keys_of_data_are_variables_and_other_ports_win():
    call = call_of({"template": "{{ a }}{{ b }}{{ data.a }}"}, {"data": {"a": 1, "b": 2}, "b": 3})
    assert template(call) == {"text": "131", "missing_variables": [], "success": True}


def test_the_editors_node_has_the_editors_ports():
    call = call_of(
        {"template": "{{ a }}{{ c }}", "fallbackValue": "?"}, {"data": {"a": 1}, "b": "x"}
    )
    assert prompt_template(call) == {
        "output": "1?",
        "template": "{{ a }}{{ c }}",
        "variables": {"a": 1, "b": "x"},
        "missing_variables": ["c"],
        "success": False,
    }


def test_strict_mode_fails_the_node_that_lacks_a_variable():
    with pytest.raises(NodeError) as refused:
        template(call_of({"template": "{{ a }}{{ b.c }}", "strictMode": True}))
    assert refused.value.message == "config template needs a, b.c, which have no value"
    assert (refused.value.code, refused.value.details) == (
        "MissingVariables",
        {"missing": ["a", "b.c"]},
    )


@pytest.mark.parametrize("data", [[1], "text", None])
def test_data_that_is_no_object_is_a_variable_of_its_name(data: Any):
    call = call_of({"template": "{{ data }}"}, {"data": data})
    assert template(call)["text"] == {"text": "text"}.get(str(data), "[1]" if data else "null")


@pytest.mark.parametrize("over", ["s", "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", "s|upper", "[s][0]"])
def test_the_rounds_of_loops_over_anything_are_counted(over: str) -> None:
    depth = 6
    opened = "".join(f"{{% for v{n} in {over} %}}" for n in range(depth))
    closed = "{% endfor %}" * depth
    with pytest.raises(NodeError) as caught:
        render(f"{opened}{closed}", {"s": "a" * 5000})
    assert caught.value.code in ("OutputTooLarge", "InvalidTemplate")
