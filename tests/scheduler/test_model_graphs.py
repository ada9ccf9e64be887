"""Generated graphs on the scheduler, each beside an interpreter that knows only the rules.

``make soak ARGS='-k generated_graphs'`` goes through more of them.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seeding.model import JsonObject
from tests.model.graph_generator import generate
from tests.model.graph_interpreter import Interpreter
from tests.model.graph_interpreter_loops import find_loops, is_behind
from tests.model.graph_population import population
from workflows.graph.model import Edge
from workflows.plan import NodePlan, Plan

from .graphs import graph, plan_of
from .model_runs import agree, drawn, restart

PROJECT = Path(__file__).resolve().parents[2]
TENS = range(0, 200, 10)
"""The first of each ten cases."""


@pytest.mark.parametrize("ten", TENS)
def test_the_scheduler_does_what_the_rules_say(ten: int) -> None:
    for seed in range(ten, ten + 10):
        agree(generate(seed))


@pytest.mark.parametrize("ten", TENS)
def test_a_run_restored_at_every_point_does_what_the_rules_say(ten: int) -> None:
    for seed in range(ten, ten + 10):
        agree(generate(seed), after_each=restart)


@pytest.mark.parametrize("ten", TENS)
def test_the_order_of_a_document_makes_no_difference(ten: int) -> None:
    for seed in range(ten, ten + 10):
        case = generate(seed)
        one, other = agree(case), agree(case.shuffled())
        assert other.interpreter.trace == one.interpreter.trace
        assert other.run.entries == one.run.entries


@pytest.mark.parametrize("ten", TENS)
def test_executions_that_end_in_any_order_do_what_the_rules_say(ten: int) -> None:
    for seed in range(ten, ten + 10):
        agree(generate(seed), drawn(seed))


def test_what_runs_in_which_round_does_not_depend_on_who_is_slow() -> None:
    """Where values do not race: see ``_is_settled``."""
    compared = 0
    for seed in range(400):
        case = generate(seed)
        if not _is_settled(plan_of(case.graph)):
            continue
        one = agree(case).interpreter
        if one.ended is not None or one.standing.verdict is not None:
            continue  # An end cuts off what is still under way.
        others = [agree(case, drawn(31 * seed + order)).interpreter for order in range(4)]
        assert [_ran(other) for other in others] == [_ran(one)] * 4, seed
        compared += 1
    assert compared > 20


def _ran(run: Interpreter) -> list[JsonObject]:
    """Return which nodes ran in which rounds."""
    ran = [{"node": it.node, "stamp": it.stamp} for it in run.history.ran]
    return sorted(ran, key=str)


def _is_settled(plan: Plan) -> bool:
    """Whether no value of a graph depends on who was first.

    It does where several sources feed one port (the newest wins), where a node outside a loop
    feeds a node of its body (the round that is current takes it), and where a loopback edge
    closes no cycle (its source may come before the head or after it).
    """
    loops = plan.loops
    return not (
        any("closes no cycle" in said for said in loops.diagnostics)
        or any(len(edges) > 1 for node in plan.nodes.values() for _, edges in node.ports)
        or any(
            loop.key not in plan.nodes[edge.source].loops
            for loop in loops.loops
            for node_id in loop.body
            if node_id not in loop.heads
            for edge in _into(plan.nodes[node_id])
        )
    )


def _into(node: NodePlan) -> list[Edge]:
    return [*(edge for _, edges in node.ports for edge in edges), *node.triggers, *node.errors]


def test_a_number_names_a_case() -> None:
    cases = [generate(seed) for seed in range(200)]
    assert cases == [generate(seed) for seed in range(200)]
    sizes = [len(case.document["nodes"]) for case in cases]
    assert (min(sizes) >= 5, max(sizes) <= 25) == (True, True)


def test_what_a_run_does_does_not_depend_on_the_hash_seed() -> None:
    def digest(hash_seed: str) -> str:
        command = [sys.executable, "-m", "tests.scheduler.digest_process", "0", "20"]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        return subprocess.run(
            command, env=environment, cwd=PROJECT, check=True, capture_output=True, text=True
        ).stdout

    digests = [digest(hash_seed) for hash_seed in ("0", "1", "4711")]
    assert len(digests[0]) == 65
    assert digests == [digests[0]] * 3


def test_generated_runs_have_what_is_worth_comparing() -> None:
    found = population(agree(generate(seed)).interpreter for seed in range(200))
    dull = {kind: count for kind, count in found.items() if count < 8}
    assert dull == {}
    assert len(found) == 12, "every kind is there"


def test_the_interpreter_knows_the_body_of_a_loop() -> None:
    """SG-16: FD-16, FD-17, FD-18."""
    no_cycle = graph("a.out -> b.in", "elsewhere.out -> head.loop_back")
    (loop,) = find_loops(no_cycle)
    assert loop.body == {"head"}
    beside = graph(
        "seed.out -> head.in",
        "head.out -> x.in",
        "x.out -> tail.in",
        "head.out -> dead.in",
        "tail.out -> after.in",
        "load.out -> x.more",
        "tail.out -> head.loop_back",
    )
    (loop,) = find_loops(beside)
    assert loop.body == {"head", "x", "tail"}
    two_tails = graph(
        "head.out -> gateway.in",
        "gateway.a -> tail_a.in",
        "gateway.b -> tail_b.in",
        "tail_a.out -> head.loop_back",
        "tail_b.out -> head.loop_back",
    )
    (loop,) = find_loops(two_tails)
    assert (loop.key, loop.body) == ("head", {"gateway", "head", "tail_a", "tail_b"})


def test_the_interpreter_knows_who_is_behind() -> None:
    """SG-19: FD-20."""
    assert is_behind({"loop_a": 0}, {"loop_a": 1})
    assert not is_behind({}, {"loop_a": 3})
    assert not is_behind({"outer": 2, "inner": 0}, {"outer": 1, "inner": 5})
    assert is_behind({"outer": 1, "inner": 0}, {"outer": 1, "inner": 2})
    assert not is_behind({"outer": 1}, {"outer": 1, "inner": 2})
