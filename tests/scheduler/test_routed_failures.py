"""ERR-10: error edges of several failures, and failures that come too late to be handled."""

from typing import Any

from seeding.model import JsonObject
from workflows.scheduler import NodeFailureReport

from .graphs import graph
from .runs import Node, Run


def boom(message: str = "boom") -> Node:
    return lambda inputs, occurrence: NodeFailureReport(message=message)


def failed_once(inputs: JsonObject, occurrence: int) -> JsonObject | NodeFailureReport:
    return {"out": occurrence} if occurrence else NodeFailureReport(message="once")


def recording(seen: list[JsonObject]) -> Node:
    def handler(inputs: JsonObject, occurrence: int) -> JsonObject:
        seen.append(inputs)
        return {"out": occurrence}

    return handler


EITHER = graph("a.error -> handler.first", "b.error -> handler.second")


def messages(seen: list[JsonObject]) -> list[dict[str, Any]]:
    return [{port: value["message"] for port, value in inputs.items()} for inputs in seen]


def test_any_one_error_edge_suffices_and_the_handler_runs_once() -> None:
    """It gets what had failed when it was dispatched; the other failure is routed all the same."""
    seen: list[JsonObject] = []
    nodes = {"a": boom("a broke"), "b": boom("b broke"), "handler": recording(seen)}
    run = Run(EITHER, nodes).go()
    assert run.trace == ["a", "b", "handler"]
    assert messages(seen) == [{"first": "a broke"}]
    assert (run.cause, run.finished) == (None, True)
    assert list(run.results["b"]) == ["error"]


def test_an_error_edge_of_a_node_that_does_not_fail_holds_nothing_up() -> None:
    seen: list[JsonObject] = []
    run = Run(EITHER, {"b": boom("b broke"), "handler": recording(seen)}).go()
    assert run.trace == ["a", "b", "handler"]
    assert messages(seen) == [{"second": "b broke"}]


def test_error_edges_are_looked_at_before_triggers_and_data() -> None:
    """The handler's trigger comes from a branch not taken, its data port is never filled."""
    built = graph(
        "pick.no -> handler.trigger",
        "late.out -> handler.context",
        "a.error -> handler.problem",
        types={"pick": "router"},
    )
    nodes: dict[str, Node] = {
        "pick": lambda inputs, occurrence: {"active_branches": ["yes"]},
        "a": boom(),
    }
    run = Run(built, nodes)
    run.finish_node("pick")
    assert run.due_ids() == ["a", "late"]
    run.finish_node("a")
    assert run.due_ids() == ["late", "handler"]


def test_no_data_or_trigger_edge_of_a_routed_failure_is_followed() -> None:
    """Also not where another edge has the successor looked at afterwards."""
    built = graph(
        "risky.out -> after.value",
        "risky.trigger -> told.trigger",
        "calm.trigger -> told.trigger",
        "calm.out -> after.more",
        "risky.error -> handler.problem",
        priority={"calm": 1},
    )
    run = Run(built, {"risky": boom()}).go()
    assert run.trace == ["risky", "calm", "handler", "told"]
    assert (run.cause, run.finished) == (None, True)


def test_a_handler_of_two_nodes_runs_once_in_each_round_and_loses_no_round() -> None:
    """The round goes on until the slower of the two has ended as well."""
    built = graph(
        "head.out -> slow.in",
        "head.out -> quick.in",
        "slow.error -> handler.slow",
        "quick.error -> handler.quick",
        "handler.out -> head.loop_back",
        config={"head": {"maxRounds": 3}},
    )
    seen: list[JsonObject] = []
    run = Run(built, {"slow": failed_once, "quick": boom("quick"), "handler": recording(seen)})
    for node in ("head", "quick", "handler"):
        run.finish_node(node)
    assert run.due_ids() == ["slow"], "handled, but its round has not ended"
    run.finish_node("slow")
    assert run.due_ids() == ["head"]
    run.go()
    assert messages(seen) == [{"quick": "quick"}] * 3
    assert run.trace[-4:] == ["head:2", "quick:2", "slow:2", "handler:2"]
    assert run.cause is None
    assert run.restored() == run.position


def test_a_node_that_runs_again_takes_its_failure_back() -> None:
    """While the newer execution is running the older failure satisfies nothing either."""
    built = graph(
        "head.out -> risky.in",
        "head.out -> calm.in",
        "head.over -> idle.in",
        "risky.error -> handler.problem",
        "calm.out -> handler.calm",
        "idle.out -> handler.never",
        "handler.out -> head.loop_back",
        types={"head": "router"},
    )
    nodes: dict[str, Node] = {
        "head": lambda inputs, occurrence: {"active_branches": ["yes"]},
        "risky": failed_once,
    }
    run = Run(built, nodes)
    for node in ("head", "calm", "risky", "handler", "head"):
        run.finish_node(node)
    assert run.due_ids() == ["calm", "risky"]
    run.finish_node("calm")
    assert run.due_ids() == ["risky"]
    run.go()
    assert run.trace == ["head", "calm", "risky", "handler", "head:1", "calm:1", "risky:1"]
    assert run.cause is None
