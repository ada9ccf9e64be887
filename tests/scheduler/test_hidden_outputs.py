"""DATA-8 on control nodes and on what comes from any worker: recorded and delivered to nobody."""

from workflows.graph.model import Graph
from workflows.scheduler import resolve_inputs

from .graphs import graph
from .runs import Run


def hiding(built: Graph, node_id: str, *ports: str) -> Graph:
    nodes = [
        node.model_copy(update={"hidden": ports}) if node.id == node_id else node
        for node in built.nodes
    ]
    return built.model_copy(update={"nodes": tuple(nodes)})


def test_a_hidden_output_is_neither_recorded_nor_delivered() -> None:
    built = hiding(graph("a.out -> b.in", "a.seen -> b.seen"), "a", "out")
    run = Run(built, {"a": lambda inputs, occurrence: {"out": 1, "seen": 2}})
    run.finish_node("a")
    assert run.results["a"] == {"seen": 2}
    execution = run.position.executions["b"]
    assert resolve_inputs(run.plan, run.position, execution) == {"seen": 2}


def test_a_hidden_branch_is_followed_and_carries_nothing_not_even_the_input() -> None:
    built = hiding(
        graph(
            "in.value -> a.x", "a.yes -> b.in", "a.no -> c.in", types={"in": "value", "a": "router"}
        ),
        "a",
        "yes",
    )
    run = Run(built, {"a": lambda inputs, occurrence: {"active_branches": ["yes"]}}).go()
    assert run.trace == ["in", "a", "b"]
    assert run.results["b"] == {"out": 0}


def test_a_hidden_output_of_a_control_node() -> None:
    built = hiding(
        graph("gate.answer -> told.answer", "gate.actor -> told.actor", types={"gate": "gate"}),
        "gate",
        "actor",
    )
    run = Run(built).go()
    run.decide("gate", actor="ada")
    run.go()
    assert run.results["gate"] == {"answer": "approve", "decision": "approve", "expired": False}
    assert run.results["told"] == {"out": 0, "answer": "approve"}
