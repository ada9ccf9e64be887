"""SG-2: no wire and no request can stand in for what the engine alone gives a node."""

import pytest

from tests.graph.documents import problems, short


@pytest.mark.parametrize("port", ["__messages__", "__state__", "__anything__", "____"])
def test_a_wire_into_an_internal_port_is_a_problem(port: str) -> None:
    assert problems(short(f"a.out -> b.{port}", a="step", b="step")) == [
        f"edge 'a.out -> b.{port}' enters port '{port}': names of that form are the engine's own; "
        "a node type gets such an input by declaring it (SG-2)"
    ]


def test_a_wire_out_of_an_internal_port_is_one_too() -> None:
    assert problems(short("a.__data__ -> b.x", a="step", b="merge")) == [
        "edge 'a.__data__ -> b.x' leaves port '__data__': names of that form are the engine's "
        "own; a node type gets such an input by declaring it (SG-2)"
    ]
