"""When a node runs: DATA-4, DATA-5, SG-6, BR-1 to BR-3, BR-6, ORC-9."""

import pytest

from seeding.model import JsonObject
from workflows.readiness import read_active_branches

from .graphs import edge, graph
from .runs import Node, Run


def test_nodes_without_dependencies_are_ready_at_the_start_in_order_of_priority_and_id() -> None:
    run = Run(graph(alone=["c", "b", "a"], priority={"a": 10, "b": 1, "c": 1}))
    assert run.due_ids() == ["b", "c", "a"]
    assert [found.order for found in run.position.executions.values()] == [1, 2, 3]


def test_a_loop_back_edge_creates_no_dependency() -> None:
    run = Run(graph("a.out -> b.in", "b.out -> fed.loop_back", config={"fed": {"maxRounds": 1}}))
    assert run.due_ids() == ["a", "fed"]


def test_a_tool_edge_creates_no_dependency() -> None:
    assert Run(graph("a.out -> agent.tools !tool")).due_ids() == ["a", "agent"]


def test_all_fed_ports_are_waited_for() -> None:
    run = Run(graph("a.out -> c.left", "b.out -> c.right"))
    run.finish_node("a")
    assert run.due_ids() == ["b"]
    run.finish_node("b")
    assert run.due_ids() == ["c"]


def test_one_source_of_a_port_suffices() -> None:
    run = Run(graph("a.out -> c.in", "b.out -> c.in"))
    run.finish_node("a")
    assert run.due_ids() == ["b", "c"]


def test_a_trigger_fed_node_runs_with_an_empty_data_port() -> None:
    run = Run(graph("a.trigger -> c.trigger", "b.out -> c.in"))
    run.finish_node("a")
    assert run.due_ids() == ["b", "c"]
    assert run.position.executions["c"].sources == {}


def test_data_alone_does_not_start_a_trigger_fed_node() -> None:
    run = Run(graph("a.trigger -> c.trigger", "b.out -> c.in"))
    run.finish_node("b")
    assert run.due_ids() == ["a"]


def test_any_of_several_triggers_starts_a_node_once() -> None:
    run = Run(graph("a.trigger -> c.trigger", "b.trigger -> c.trigger"))
    run.go()
    assert run.trace == ["a", "b", "c"]


def test_three_followed_edges_are_one_dispatch() -> None:
    run = Run(graph("a.x -> b.x", "a.y -> b.y", "a.trigger -> b.trigger"))
    run.go()
    assert run.trace == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("a,b", ("a,b",)),
        ([1, " Yes ", None], ("yes",)),
        ([], ()),
        ([None, 3, " "], ()),
        (None, ()),
        ({"yes": True}, ()),
        (["no", "No "], ("no",)),
    ],
)
def test_active_branches_are_compared_trimmed_and_lower_case(  # FD-34
    given: object, names: tuple[str, ...]
) -> None:
    assert read_active_branches(given) == names


def branching(active: object) -> Node:
    def behave(inputs: JsonObject, occurrence: int) -> JsonObject:
        return {"active_branches": active}

    return behave


ROUTES = graph(
    "r.YES -> yes.in", "r.no -> no.in", "r.log -> log.in", types={"r": "router"}, alone=["r"]
)


@pytest.mark.parametrize(
    ("active", "executed"),
    [
        ([1, " Yes ", None], ["log", "yes"]),
        ("no", ["log", "no"]),
        ("yes,no", ["log"]),
        (["unknown"], ["log"]),
        ([], ["log", "no", "yes"]),
        ([1, None], ["log", "no", "yes"]),
        (None, ["log", "no", "yes"]),
    ],
)
def test_only_declared_branch_ports_of_a_non_empty_list_are_gated(  # FD-34
    active: object, executed: list[str]
) -> None:
    # A port carries its input where it has no output, so the router gets one from the request.
    run = Run(ROUTES, {"r": branching(active)}, inputs={"r": {"x": 1}})
    run.go()
    assert sorted(run.trace[1:]) == executed


def test_a_source_that_declares_no_branches_gates_nothing() -> None:  # FD-34
    run = Run(graph("a.x -> b.in", "a.y -> c.in"), {"a": branching(["x"])})
    run.go()
    assert run.trace == ["a", "b", "c"]


def test_a_trigger_edge_from_an_inactive_branch_is_not_followed() -> None:
    run = Run(
        graph("r.yes -> a.trigger", "r.no -> b.trigger", types={"r": "router"}),
        {"r": branching(["yes"])},
    )
    run.go()
    assert run.trace == ["r", "a"]


def test_a_condition_never_gates_and_warns_at_each_completion_of_its_source() -> None:  # SG-9
    built = graph(
        "items.value -> each.items",
        "each.current_item -> a.in",
        edge("a.out -> b.message", condition="false"),
        "a.out -> each.loop_back",
        types={"items": "value", "each": "for_each"},
        config={"items": {"value": [1, 2, 3]}},
    )
    run = Run(built).go()
    assert [warning["code"] for warning in run.warnings] == ["edge_condition"] * 3
    assert "b" in run.results


def test_a_condition_on_a_loopback_edge_does_not_gate_it() -> None:  # SG-9
    built = graph(
        "head.out -> tail.in",
        edge("tail.out -> head.loop_back", condition="false"),
        config={"head": {"maxRounds": 3}},
    )
    run = Run(built).go()
    assert run.trace == ["head", "tail", "head:1", "tail:1", "head:2", "tail:2"]
    assert [warning["code"] for warning in run.warnings] == ["edge_condition"] * 3


@pytest.mark.parametrize(("chosen", "executed"), [(["yes", "no"], []), (["no", "yes"], ["after"])])
def test_what_an_older_execution_of_a_source_chose_satisfies_nothing(  # BR-6
    chosen: list[str], executed: list[str]
) -> None:
    """The consumer is outside of the loop, so that no source is a round behind it."""
    built = graph(
        "r.yes -> after.choice",
        "slow.out -> after.rest",
        "r.out -> r.loop_back",
        types={"r": "router"},
        config={"r": {"maxRounds": 2}},
    )
    run = Run(built, {"r": lambda inputs, n: {"active_branches": [chosen[n]], "yes": n}})
    for node in ("r", "r", "slow"):
        run.finish_node(node)
    assert run.due_ids() == executed


def test_a_source_that_runs_again_satisfies_nothing_meanwhile() -> None:  # BR-6
    built = graph(
        "r.yes -> after.choice",
        "slow.out -> after.rest",
        "r.out -> r.loop_back",
        types={"r": "router"},
        config={"r": {"maxRounds": 2}},
    )
    run = Run(built, {"r": lambda inputs, n: {"active_branches": ["yes"], "yes": n}})
    run.finish_node("r")
    run.finish_node("slow")
    assert run.due_ids() == ["r"]
    run.finish_node("r")
    run.finish_node("after")
    assert run.results["after"]["choice"] == 1
