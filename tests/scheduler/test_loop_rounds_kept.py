"""SG-10, SG-16 to SG-19 in a run: how rounds are counted, stamped, merged, and read back."""

import pytest

from seeding.model import JsonObject
from workflows.scheduler import NodeFailureReport, due

from .graphs import graph
from .runs import Node, Run
from .test_rounds import NESTED, saying


def test_two_tails_of_one_head_count_one_round_each_time() -> None:  # FD-18
    """A conditional arm is a member of the rounds it does not run in."""
    built = graph(
        "head.out -> gateway.in",
        "gateway.yes -> tail_a.in",
        "gateway.no -> tail_b.in",
        "tail_a.out -> head.loop_back",
        "tail_b.out -> head.loop_back",
        types={"gateway": "router"},
        config={"head": {"maxRounds": 4}},
    )
    run = Run(built, {"gateway": saying("yes", "no", "no", "yes")}).go()
    assert run.trace[2::3] == ["tail_a", "tail_b", "tail_b:1", "tail_a:1"]
    assert run.position.rounds == {"head": 3}
    assert run.position.nodes["tail_b"].stamp == {"head": 2}


def test_stamps_name_each_loop_outermost_first_with_an_explicit_0() -> None:  # SG-17
    run = Run(
        graph(
            "seed.out -> outer.in",
            "outer.out -> inner.in",
            "inner.out -> step.in",
            "step.yes -> inner.loop_back",
            "step.no -> end.in",
            "end.yes -> outer.loop_back",
            "end.no -> after.in",
            types={"step": "router", "end": "router"},
        ),
        {"step": saying("no"), "end": saying("no")},
    ).go()
    stamps = {node: list(record.stamp.items()) for node, record in run.position.nodes.items()}
    assert stamps == {
        "seed": [],
        "outer": [("outer", 0)],
        "inner": [("outer", 0), ("inner", 0)],
        "step": [("outer", 0), ("inner", 0)],
        "end": [("outer", 0)],
        "after": [],
    }


def test_rounds_read_from_the_log_are_the_newest_in_whatever_order_cells_come() -> None:  # FD-13
    """Past the tenth execution, whose numbers as texts sort otherwise; the last is unstamped."""
    built = graph(
        "reason.out -> act.in",
        "act.yes -> reason.loop_back",
        "act.no -> tool.in",
        "tool.out -> reason.loop_back",
        "late.out -> apart.in",
        types={"act": "router"},
        priority={"late": 9},
        config={"reason": {"maxRounds": 4}},
    )
    run = Run(built, {"act": saying("no", "no", "yes", "no")})
    while others := [found for found in due(run.position) if found.node_id != "late"]:
        run.finish(others[0])
    run.finish_node("late")
    assert run.position.executions["apart"].order == 13
    assert run.position.nodes["apart"].stamp == {}
    assert run.position.rounds == {"reason": 3}
    for order in (sorted(run.cells), sorted(run.cells, reverse=True)):
        run.cells = {key: run.cells[key] for key in order}
        assert run.restored() == run.position


def test_rounds_read_from_the_log_are_not_the_highest_there_were() -> None:  # FD-14
    step = saying(*["yes"] * 5, "no", "yes", "no")
    run = Run(NESTED, {"step": step, "end": saying("yes", "no")})
    seen: list[dict[str, int]] = []
    while run.advance():
        restored = run.restored()
        assert restored.rounds == run.position.rounds
        seen.append({key: restored.rounds.get(key, 0) for key in ("outer", "inner")})
    assert {"outer": 0, "inner": 5} in seen
    assert seen[-1] == {"outer": 1, "inner": 1}


MERGED = graph(
    "a.out -> b.in",
    "b.out -> c.in",
    "c.yes -> d.in",
    "d.out -> e.in",
    "c.no -> b.loop_back",
    "e.yes -> c.loop_back",
    "elsewhere.out -> alone.loop_back",
    types={"c": "router", "e": "router"},
    config={"alone": {"maxRounds": 1}},
)


def test_overlapping_loops_count_one_series_of_rounds_whichever_head_is_entered() -> None:  # SG-18
    run = Run(MERGED, {"c": saying("no", "yes"), "e": saying("yes", "no")}).go()
    assert [key for key in run.trace if key[0] in "bcde" and key != "elsewhere"] == [
        "b", "c", "b:1", "c:1", "d", "e", "c:2", "d:1", "e:1",
    ]  # fmt: skip
    assert run.position.rounds == {"c": 2}
    assert run.position.nodes["b"].stamp == {"c": 1}
    assert run.position.nodes["e"].stamp == {"c": 2}


def test_merged_loops_and_loopbacks_without_a_cycle_are_no_warnings_of_a_run() -> None:  # SG-18
    run = Run(MERGED, {"c": saying("yes"), "e": saying("no")}).go()
    assert run.plan.loops.diagnostics == (
        "loopback elsewhere.out -> alone.loop_back closes no cycle: 'elsewhere' is not below "
        "'alone'",
        "loops of b, c overlap and count as one, 'c'",
    )
    assert run.warnings == []


@pytest.mark.parametrize("active", [[], ["no"], ["yes", "no"], None])
def test_no_active_list_gates_a_loopback_that_leaves_the_trigger_port(  # SG-10
    active: list[str] | None,
) -> None:
    built = graph(
        "head.out -> tail.in",
        "tail.trigger -> head.loop_back",
        types={"tail": "router"},
        config={"head": {"maxRounds": 2}},
    )
    nodes: dict[str, Node] = {"tail": lambda inputs, n: {"active_branches": active}}
    run = Run(built, nodes).go()
    assert run.trace == ["head", "tail", "head:1", "tail:1"]
    assert run.position.nodes["head"].active == ()


@pytest.mark.parametrize("edge", ["risky.error -> alarm.in", "risky.out -> alarm.trigger"])
def test_an_error_or_trigger_edge_that_is_a_round_behind_starts_nothing(edge: str) -> None:
    """SG-19, ERR-10: it only waits; another edge into the node has it looked at in round 1."""
    built = graph(
        "head.yes -> risky.in",
        "head.out -> calm.in",
        edge,
        "risky.out -> alarm.never",
        "calm.out -> alarm.more",
        "calm.yes -> head.loop_back",
        "alarm.error -> head.loop_back",
        types={"head": "router", "calm": "router"},
        priority={"calm": 1},
    )
    fails = edge.startswith("risky.error")
    nodes: dict[str, Node] = {
        "head": saying("yes", "no"),
        "calm": saying("yes", "no"),
        "risky": lambda inputs, n: NodeFailureReport(message="once") if fails else {"out": 1},
    }
    run = Run(built, nodes, inputs={"head": {"x": 1}}).go()
    assert run.trace == ["head", "risky", "calm", "alarm", "head:1", "calm:1"]
    assert run.position.nodes["alarm"].stamp == {"head": 0}
    assert run.cause is None


def test_results_are_numbered_by_executions_not_by_rounds() -> None:  # SG-8
    """An arm that rounds 0 and 2 took has two results; a stop's are numbered like all others."""
    built = graph(
        "loop_node.yes -> arm.in",
        "loop_node.no -> tail.in",
        "arm.out -> tail.in",
        "tail.yes -> loop_node.loop_back",
        "tail.no -> halt.in",
        types={"loop_node": "router", "tail": "router", "halt": "stop"},
    )
    nodes = {"loop_node": saying("yes", "no", "yes"), "tail": saying("yes", "yes", "no")}
    run = Run(built, nodes, inputs={"loop_node": {"x": 1}})
    while "arm:1" not in run.results:
        run.advance()
    assert list(run.results) == [
        "loop_node", "arm", "tail", "loop_node:1", "tail:1", "loop_node:2", "arm:1",
    ]  # fmt: skip
    run.go()
    assert list(run.results)[-2:] == ["tail:2", "halt"]
    assert run.position.nodes["arm"].stamp == {"loop_node": 2}


def test_questions_and_failures_number_results_like_any_execution() -> None:  # SG-8
    built = graph(
        "head.out -> risky.in",
        "risky.out -> ask.in",
        "risky.error -> ask.in",
        "ask.answer -> head.loop_back",
        types={"ask": "gate"},
        config={"head": {"maxRounds": 3}},
    )

    def risky(inputs: JsonObject, n: int) -> JsonObject | NodeFailureReport:
        return NodeFailureReport(message="no") if n == 1 else {"out": n}

    run = Run(built, {"risky": risky}).go()
    for _ in range(3):
        run.decide("ask", value="go").go()
    assert list(run.results) == [
        "head", "risky", "ask", "head:1", "risky:1", "ask:1", "head:2", "risky:2", "ask:2",
    ]  # fmt: skip
    assert list(run.results["risky:1"]) == ["error"]
