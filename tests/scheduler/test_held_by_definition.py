"""SG-20 on generated graphs, against its definition read out node by node and edge by edge."""

import zlib

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from seeding.model import JsonObject
from workflows.graph.model import Edge, Graph
from workflows.loops import is_behind
from workflows.plan import NodePlan
from workflows.readiness import is_followed, is_satisfied
from workflows.scheduler import NodeFailureReport, due

from .graphs import graph, plan_of
from .runs import Node, Run

many = settings(max_examples=300, deadline=None)


@st.composite
def joining_graphs(draw: DrawFn) -> Graph:
    """Graphs of routers and joins with one to three loops; many rounds leave a join waiting."""
    size = draw(st.integers(5, 9))
    kinds = draw(st.lists(st.sampled_from(["task", "router"]), min_size=size, max_size=size))
    types = {f"n{index}": kind for index, kind in enumerate(kinds)}
    edges: dict[str, None] = {}
    for high in range(1, size):
        for port in draw(st.sampled_from([["left"], ["left", "right"]])):
            for _ in range(draw(st.integers(1, 2))):
                low = draw(st.integers(max(0, high - 3), high - 1))
                out = draw(st.sampled_from(["yes", "no", "out"]))
                edges[f"n{low}.{out} -> n{high}.{port}"] = None
        if draw(st.booleans()):
            edges[f"n{draw(st.integers(0, high - 1))}.error -> n{high}.error_in"] = None
    edges[f"n{size - 1}.out -> n0.loop_back"] = None
    for _ in range(draw(st.integers(0, 3))):
        high = draw(st.integers(1, size - 1))
        low = draw(st.integers(0, high - 1))
        out = draw(st.sampled_from(["yes", "no", "out"]))
        edges[f"n{high}.{out} -> n{low}.loop_back"] = None
    config = {node: {"maxRounds": draw(st.integers(2, 4))} for node in types}
    return graph(*edges, types=types, config=config, alone=list(types))


def choosing(built: Graph, seed: int) -> dict[str, Node]:
    """Return routers that take one branch or both; a task fails now and then if that is routed."""
    routed = [edge.source for edge in built.edges if edge.kind == "error"]

    def behave(node_id: str) -> Node:
        def run(inputs: JsonObject, occurrence: int) -> JsonObject | NodeFailureReport:
            chance = zlib.crc32(f"{seed}/{node_id}/{occurrence}".encode()) % 6
            if chance == 0 and node_id in routed:
                return NodeFailureReport(message=f"{node_id} cannot")
            taken = (["yes"], ["no"], ["yes", "no"])[chance % 3]
            return {"out": occurrence, "active_branches": taken, "yes": 1, "no": 2}

        return run

    return {node.id: behave(node.id) for node in built.nodes}


def leads_to(built: Graph, start: str) -> frozenset[str]:
    """Return what an execution of ``start`` can reach over forward and loopback edges."""
    found = {start}
    while True:
        more = {edge.target for edge in built.edges if edge.source in found} - found
        if not more:
            return frozenset(found)
        found |= more


def stuck(run: Run) -> list[str]:
    """Return the nodes that wait for a port nothing can fill any more, by the rule's words."""
    if run.cause is not None:
        return []
    under_way = [leads_to(run.plan.resolved.graph, node) for node in run.position.executions]
    return [
        node_id
        for node_id, node in run.plan.nodes.items()
        if any(
            not any(edge.source in reached for reached in under_way for edge in edges)
            for edges in held_ports(run, node)
        )
    ]


def held_ports(run: Run, node: NodePlan) -> list[tuple[Edge, ...]]:
    """Return the edges of each port that holds a node back in its present round."""
    plan, nodes = run.plan, run.position.nodes
    stamp = {key: run.position.rounds.get(key, 0) for key in node.loops}
    record = nodes.get(node.node.id)

    def satisfied(edge: Edge) -> bool:
        return is_satisfied(plan, nodes, edge, stamp)

    def late(edge: Edge) -> bool:
        source = nodes.get(edge.source)
        return (
            source is not None
            and is_behind(source.stamp, stamp, node.loops)
            and is_followed(plan, edge, source)
        )

    def loops_of(edges: list[Edge]) -> list[str]:
        shared = [key for edge in edges for key in plan.nodes[edge.source].loops]
        return [key for key in node.loops if key in shared]

    if node.triggers or any(map(satisfied, node.errors)) or node.node.id in run.position.executions:
        return []
    if not node.loops or (record is not None and record.stamp == stamp):
        return []
    filled = [edge for _, edges in node.ports for edge in edges if satisfied(edge)]
    open_ports = [edges for _, edges in node.ports if not any(map(satisfied, edges))]
    if not all(any(map(late, edges)) for edges in open_ports):
        return []
    return [
        edges
        for edges in open_ports
        if loops_of([edge for edge in edges if late(edge)])[-1] in loops_of(filled)
    ]


@many
@given(joining_graphs(), st.integers(0, 99), st.lists(st.integers(0, 5), max_size=60))
def test_a_node_fails_in_the_very_step_in_which_its_wait_is_in_vain(
    built: Graph, seed: int, picks: list[int]
) -> None:
    run = Run(built, choosing(built, seed))
    for pick in [*picks, *([0] * 500)]:
        marked = [found.node_id for found in due(run.position) if found.unfillable]
        assert len(marked) <= 1, "one at a time"
        if not marked:
            assert stuck(run) == []
        if run.finished:
            break
        ready = due(run.position)
        run.finish(ready[pick % len(ready)])
        assert run.restored() == run.position
    assert run.finished


@many
@given(joining_graphs(), st.integers(0, 99))
def test_no_node_fails_that_could_still_wait(built: Graph, seed: int) -> None:
    run = Run(built, choosing(built, seed))
    while not run.finished:
        before = run.position
        run.advance()
        for execution in due(run.position) if run.ending is None else ():
            if execution.unfillable and execution.node_id not in before.executions:
                waiting = {
                    node: found
                    for node, found in run.position.executions.items()
                    if node != execution.node_id
                }
                assert all(execution.node_id not in leads_to(built, other) for other in waiting)


@many
@given(joining_graphs())
def test_the_nodes_of_a_loop_lead_to_each_other(built: Graph) -> None:
    for loop in plan_of(built).loops.loops:
        for node in loop.body:
            assert leads_to(built, node) >= set(loop.body)


@many
@given(joining_graphs())
def test_bits_say_what_the_edges_say(built: Graph) -> None:
    plan = plan_of(built)
    reachability = plan.reachability
    watched = [node for group in reachability.groups for node in group]
    for node in plan.nodes:
        expected = [target for target in watched if target in leads_to(built, node)]
        assert list(reachability.watched(reachability.bits[node])) == expected
