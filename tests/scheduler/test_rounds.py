"""SG-7, SG-17, SG-18: re-entries, rounds of nested loops, and pauses in the middle."""

from .graphs import graph
from .runs import Node, Run


def saying(*branches: str) -> Node:
    """Return a router that takes these branches, one per execution, the last one for ever."""
    return lambda inputs, n: {"active_branches": [branches[min(n, len(branches) - 1)]]}


COUNTED = graph(
    "head.out -> arm.in",
    "head.out -> tail.in",
    "tail.yes -> head.loop_back",
    types={"tail": "router"},
    config={"head": {"maxRounds": 3}},
)


def test_a_maximum_of_n_is_n_rounds_in_all() -> None:
    run = Run(COUNTED, {"tail": saying("yes")}).go()
    assert [key for key in run.trace if key.startswith("head")] == ["head", "head:1", "head:2"]
    assert run.finished


def test_rounds_are_counted_not_executions_of_a_conditional_arm() -> None:
    built = graph(
        "head.yes -> arm.in",
        "head.no -> tail.in",
        "arm.out -> head.loop_back",
        "tail.out -> head.loop_back",
        types={"head": "router"},
        config={"head": {"maxRounds": 3}},
    )
    run = Run(built, {"head": saying("no", "yes", "no")}, inputs={"head": {"x": 1}}).go()
    assert run.trace == ["head", "tail", "head:1", "arm", "head:2", "tail:1"]


def test_no_maximum_is_no_limit() -> None:
    built = graph("a.out -> b.in", "b.yes -> a.loop_back", types={"b": "router"})
    run = Run(built, {"b": saying(*["yes"] * 50, "no")}).go()
    assert run.trace[-1] == "b:50"


def test_a_pause_in_the_middle_changes_no_total() -> None:
    unpaused, paused = (Run(COUNTED, {"tail": saying("yes")}) for _ in range(2))
    unpaused.go()
    for _ in range(4):
        paused.advance()
    paused.position = paused.restored()
    assert paused.go().trace == unpaused.trace
    assert paused.head == unpaused.head


NESTED = graph(
    "outer.out -> inner.in",
    "inner.out -> step.in",
    "step.yes -> inner.loop_back",
    "step.no -> end.in",
    "end.yes -> outer.loop_back",
    types={"step": "router", "end": "router"},
)


def test_an_outer_round_starts_the_inner_loop_over() -> None:  # FD-14
    step = saying(*["yes"] * 5, "no", "yes", "no")
    run = Run(NESTED, {"step": step, "end": saying("yes", "no")})
    stamps: list[dict[str, int]] = []
    while run.advance():
        stamps.append(dict(run.position.nodes[run.trace[-1].partition(":")[0]].stamp))
    inner = [stamp for stamp in stamps if "inner" in stamp]
    assert inner[::2] == [
        {"outer": 0, "inner": 0},
        {"outer": 0, "inner": 1},
        {"outer": 0, "inner": 2},
        {"outer": 0, "inner": 3},
        {"outer": 0, "inner": 4},
        {"outer": 0, "inner": 5},
        {"outer": 1, "inner": 0},
        {"outer": 1, "inner": 1},
    ]
    assert run.position.rounds == {"outer": 1, "inner": 1}


def test_the_maximum_of_an_inner_loop_is_renewed_by_an_outer_round() -> None:
    built = NESTED.model_copy(
        update={
            "nodes": tuple(
                node.model_copy(update={"config": {"maxRounds": 2}}) if node.id == "inner" else node
                for node in NESTED.nodes
            )
        }
    )
    run = Run(built, {"step": saying("yes", "no"), "end": saying("yes", "no")}).go()
    assert [key for key in run.trace if key.startswith("inner")] == ["inner", "inner:1", "inner:2"]


def test_a_reentry_before_the_head_ever_completed_is_not_followed() -> None:
    built = graph("wait.out -> head.in", "early.out -> head.loop_back")
    run = Run(built)
    run.finish_node("early")
    assert run.due_ids() == ["wait"]
    run.finish_node("wait")
    assert run.due_ids() == ["head"]


def test_a_loopback_that_leaves_the_trigger_port_is_attributed_to_no_branch() -> None:  # SG-10
    built = graph(
        "head.out -> tail.in",
        "tail.trigger -> head.loop_back",
        types={"tail": "router"},
        config={"head": {"maxRounds": 2}},
    )
    assert Run(built, {"tail": saying("no")}).go().trace == ["head", "tail", "head:1", "tail:1"]


def test_a_node_outside_the_loop_runs_once() -> None:
    built = graph(
        "head.out -> tail.in",
        "tail.out -> after.in",
        "tail.out -> head.loop_back",
        config={"head": {"maxRounds": 3}},
    )
    run = Run(built).go()
    assert [key for key in run.trace if key.startswith("after")] == ["after"]


def test_a_source_that_is_a_round_behind_satisfies_nothing_in_the_loop() -> None:
    """Round 0 fills ``join.left`` alone, round 1 ``join.right``: it does not mix two rounds."""
    built = graph(
        "head.yes -> left.in",
        "head.no -> right.in",
        "left.out -> join.left",
        "right.out -> join.right",
        "left.out -> head.loop_back",
        "right.out -> head.loop_back",
        "join.out -> head.loop_back",
        types={"head": "router"},
        config={"head": {"maxRounds": 2}},
    )
    run = Run(built, {"head": saying("yes", "no")}).go()
    assert run.trace == ["head", "left", "head:1", "right", "join"]
    assert run.cause is not None
    assert run.cause.details["code"] == "unfillable_port"
