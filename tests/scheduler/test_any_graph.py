"""What holds for every graph, whatever its shape: generated graphs, many runs."""

from collections.abc import Callable

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from workflows.graph.model import Graph
from workflows.scheduler import due, is_finished, waiting

from .generated import (
    BUDGETS,
    Program,
    Stuck,
    behaviours,
    nested_graphs,
    programs,
    shuffled,
    tangled_graphs,
)
from .runs import Run

GRAPHS = st.one_of(nested_graphs(), tangled_graphs())
few = settings(max_examples=60, deadline=None)


def start(graph: Graph, budget: int = 1000) -> Run:
    return Run(graph, behaviours(graph), max_iterations=budget)


def decide_next(run: Run) -> None:
    run.decide(waiting(run.position)[0].node_id)


def to_the_end(run: Run, after_each: Callable[[Run], None] = lambda run: None) -> Run:
    """Advance in dispatch order, answering whatever is asked once nothing else is due."""
    for _ in range(3000):
        after_each(run)
        if run.finished:
            return run
        if not run.advance():
            decide_next(run)
    raise AssertionError("the run does not end")


@few
@given(GRAPHS, BUDGETS)
def test_every_run_ends_or_waits(graph: Graph, budget: int) -> None:
    run = to_the_end(start(graph, budget))
    assert run.ending is not None or is_finished(run.position)


@few
@given(GRAPHS, BUDGETS, st.permutations(range(16)))
def test_the_order_of_nodes_and_edges_in_a_document_changes_nothing(
    graph: Graph, budget: int, order: list[int]
) -> None:
    one, other = to_the_end(start(graph, budget)), to_the_end(start(shuffled(graph, order), budget))
    assert one.trace == other.trace
    assert one.ending == other.ending
    assert [step.head for step in one.steps] == [step.head for step in other.steps]
    assert [step.state for step in one.steps] == [step.state for step in other.steps]
    assert [step.rows for step in one.steps] == [step.rows for step in other.steps]


@few
@given(GRAPHS, BUDGETS)
def test_what_a_log_keeps_gives_back_an_equal_position_after_each_step(
    graph: Graph, budget: int
) -> None:
    def compare(run: Run) -> None:
        assert run.restored() == run.position

    to_the_end(start(graph, budget), compare)


@few
@given(GRAPHS, BUDGETS)
def test_a_run_restored_after_each_step_goes_the_same_way(graph: Graph, budget: int) -> None:
    def restart(run: Run) -> None:
        run.position = run.restored()

    unpaused = to_the_end(start(graph, budget))
    paused = to_the_end(start(graph, budget), restart)
    assert paused.trace == unpaused.trace
    assert paused.results == unpaused.results
    assert paused.head == unpaused.head
    assert paused.cells == unpaused.cells
    assert paused.data == unpaused.data


@few
@given(GRAPHS, st.lists(st.integers(0, 5), max_size=60))
def test_effects_may_complete_in_any_order(graph: Graph, picks: list[int]) -> None:
    run = start(graph)
    seen: dict[tuple[str, str], str] = {}
    for pick in [*picks, *([0] * 3000)]:
        for execution in run.position.executions.values():
            stamp = str(sorted(execution.stamp.items()))
            key = f"{execution.occurrence}"
            once = seen.setdefault((execution.node_id, stamp), key)
            assert once == key, "a node runs at most once in a round"
        assert run.restored() == run.position
        if run.finished:
            break
        ready = due(run.position)
        if ready:
            run.finish(ready[pick % len(ready)])
        else:
            decide_next(run)
    assert run.finished


@few
@given(nested_graphs())
def test_a_position_is_never_changed_by_the_next_step(graph: Graph) -> None:
    run = start(graph)
    before: list[tuple[object, str]] = []

    def remember(run: Run) -> None:
        for position, text in before[-1:]:
            assert repr(position) == text
        before.append((run.position, repr(run.position)))

    to_the_end(run, remember)


@few
@given(GRAPHS, BUDGETS)
def test_only_needed_outputs_are_kept_in_memory(graph: Graph, budget: int) -> None:
    def count(run: Run) -> None:
        position = run.position
        referred = [
            (source.node_id, source.occurrence)
            for execution in position.executions.values()
            for source in execution.sources.values()
        ]
        newest = [
            (node, record.occurrence)
            for node, record in position.nodes.items()
            if record.status in ("completed", "routed")
        ]
        assert sorted(position.outputs) == sorted({*newest, *referred})

    to_the_end(start(graph, budget), count)


@given(programs())
@settings(max_examples=150, deadline=None)
def test_a_graph_nested_like_a_program_does_what_the_program_does(program: Program) -> None:
    expected: dict[str, int] = {}
    try:
        program.perform(expected)
    except Stuck:
        reject()
    run = to_the_end(start(program.graph))
    assert {node: record.executions for node, record in run.position.nodes.items()} == expected
