"""Advice about graphs that can run and will hardly do what was meant: each kind, and its limits."""

import pytest

from tests.scheduler.generated import shuffled
from tests.scheduler.graphs import EXPENSE_REVIEW, edge, graph, plan_of
from workflows.graph.model import Graph
from workflows.linting import Advice, lint

BOTH = {"branches": [{"name": "yes", "value": True}, {"name": "no", "value": False}]}


def advice(built: Graph) -> list[Advice]:
    return list(lint(plan_of(built)))


def codes(built: Graph) -> list[tuple[str, str | None]]:
    return [(found.code, found.node) for found in advice(built)]


def test_a_sound_graph_gets_no_advice() -> None:
    assert advice(EXPENSE_REVIEW) == []


# --- nodes that can never run ---------------------------------------------------------------


def test_a_join_of_two_arms_of_one_branch_can_never_run() -> None:
    built = graph(
        "in.value -> ask.data",
        "ask.yes -> left.in",
        "ask.no -> right.in",
        "left.out -> join.a",
        "right.out -> join.b",
        "join.merged -> after.in",
        types={"in": "value", "ask": "branch", "join": "merge"},
        config={"ask": BOTH},
    )
    assert [(found.code, found.node, found.message) for found in advice(built)] == [
        (
            "unreachable_node",
            "join",
            "node 'join' can never run: it needs 'no' and 'yes' of 'ask', which follows one of "
            "them at a time; let both arms enter one port, or its trigger",
        ),
        (
            "unreachable_node",
            "after",
            "node 'after' can never run: its port 'in' is fed by 'join' alone, which never runs",
        ),
    ]


def test_arms_that_meet_at_one_port_or_a_trigger_are_alternatives() -> None:
    built = graph(
        "in.value -> ask.data",
        "ask.yes -> left.in",
        "ask.no -> right.in",
        "left.out -> join.a",
        "right.out -> join.a",
        "left.out -> last.trigger",
        "right.out -> last.trigger",
        types={"in": "value", "ask": "branch", "join": "merge"},
        config={"ask": BOTH},
    )
    assert advice(built) == []


def test_several_branches_of_an_effect_may_be_active_at_once() -> None:
    built = graph(
        "route.yes -> left.in",
        "route.no -> right.in",
        "left.out -> join.a",
        "right.out -> join.b",
        types={"route": "router", "join": "merge"},
    )
    assert advice(built) == []


def test_a_round_and_the_closing_of_one_for_each_never_meet() -> None:
    built = graph(
        "in.value -> each.items",
        "each.current_item -> both.item",
        "each.collected_results -> both.results",
        "each.current_item -> step.in",
        "step.out -> each.loop_back",
        types={"in": "value", "each": "for_each", "both": "reply"},
    )
    assert codes(built) == [("unreachable_node", "both")]


def test_a_choice_of_another_round_may_have_delivered_as_well() -> None:
    built = graph(
        "head.out -> ask.data",
        "ask.yes -> left.in",
        "ask.no -> right.in",
        "left.out -> head.loop_back",
        "right.out -> head.loop_back",
        "left.out -> after.a",
        "right.out -> after.b",
        types={"ask": "branch", "after": "merge"},
        config={"ask": BOTH, "head": {"maxRounds": 2}},
    )
    assert advice(built) == []


def test_an_error_of_a_node_that_has_none_is_waited_for_in_vain() -> None:
    built = graph("in.value -> work.in", "in.error -> handler.in", types={"in": "value"})
    assert codes(built) == [("unreachable_node", "handler"), ("error_edge_never_followed", "in")]


def test_an_error_of_an_effect_is_a_way() -> None:
    assert advice(graph("work.out -> next.in", "work.error -> handler.in")) == []


# --- ports ----------------------------------------------------------------------------------


def test_a_for_each_without_items_needs_them_from_the_request() -> None:
    built = graph(
        "each.current_item -> step.in", "step.out -> each.loop_back", types={"each": "for_each"}
    )
    assert [(found.code, found.message) for found in advice(built)] == [
        (
            "port_not_fed",
            "node 'each' (for_each) needs port 'items', which nothing feeds: it fails in every "
            "run whose request does not give input.each.items",
        )
    ]


def test_a_url_may_stand_in_the_config() -> None:
    built = graph(
        alone=("one", "two"),
        types={"one": "http_request", "two": "http_request"},
        config={"one": {"url": "https://example.org"}},
    )
    assert codes(built) == [("port_not_fed", "two")]


def test_a_text_that_names_a_port_which_nothing_feeds() -> None:
    built = graph(
        "work.out -> gate.amount",
        "gate.approve -> pay.in",
        types={"gate": "gate"},
        config={"gate": {"message": "Pay {amount} to {name}?"}},
    )
    assert [found.message for found in advice(built)] == [
        "node 'gate': message names {name}, and nothing feeds that port: it stays in the text as "
        "it stands, where the request does not give input.gate.name"
    ]


def test_a_port_fed_by_two_that_both_run() -> None:  # DATA-2
    built = graph("a.out -> both.in", "b.out -> both.in")
    assert [found.message for found in advice(built)] == [
        "port 'in' of node 'both' is fed by 'a', 'b': the node runs at the first of them, and the "
        "newest value is taken (DATA-2); give each a port of its own, or join them in a merge"
    ]


def test_a_port_fed_by_a_result_or_else_by_its_error_is_no_fault() -> None:
    built = graph(
        "work.out -> good.in", "work.error -> bad.in", "good.out -> last.in", "bad.out -> last.in"
    )
    assert advice(built) == []


def test_a_result_and_the_error_of_one_node_never_meet() -> None:
    built = graph(
        "work.out -> good.in",
        "work.error -> bad.in",
        "good.out -> join.a",
        "bad.out -> join.b",
        types={"join": "merge"},
    )
    assert codes(built) == [("unreachable_node", "join")]


# --- gates ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config",
    [{"who": []}, {"allowed": []}, {"options": []}, {"schema": False}, {"schema": {"enum": []}}],
)
def test_a_gate_that_nobody_can_answer(config: dict[str, object]) -> None:
    built = graph(
        "work.out -> gate.in",
        "gate.answer -> next.in",
        types={"gate": "gate"},
        config={"gate": config},
    )
    assert codes(built) == [("gate_nobody_can_answer", "gate")]


def test_a_deadline_that_nothing_follows() -> None:
    built = graph(
        "work.out -> gate.in",
        "gate.approve -> pay.in",
        types={"gate": "gate"},
        config={"gate": {"deadline": "2d"}},
    )
    assert [(found.code, found.message) for found in advice(built)] == [
        (
            "deadline_leads_nowhere",
            "gate 'gate': once its deadline has passed it follows 'expired', and no edge leaves "
            "that port; wire gate.expired",
        )
    ]


@pytest.mark.parametrize("port", ["answer", "expired", "trigger", "decision"])
def test_a_port_that_is_followed_whatever_happens_goes_on_after_the_deadline(port: str) -> None:
    built = graph(
        "work.out -> gate.in",
        "gate.approve -> pay.in",
        f"gate.{port} -> note.{'trigger' if port == 'trigger' else 'in'}",
        types={"gate": "gate"},
        config={"gate": {"deadline": "2d"}},
    )
    assert advice(built) == []


@pytest.mark.parametrize("never", [None, 0, "0"])
def test_no_deadline_leads_nowhere(never: object) -> None:
    built = graph(
        "work.out -> gate.in",
        "gate.approve -> pay.in",
        types={"gate": "gate"},
        config={"gate": {"deadline": never}},
    )
    assert advice(built) == []


def test_an_answer_that_nothing_follows() -> None:
    built = graph("work.out -> gate.in", types={"gate": "gate"})
    assert codes(built) == [("answer_leads_nowhere", "gate")]


# --- branches and edges ---------------------------------------------------------------------


def test_a_switch_without_a_default_fails_where_nothing_matches() -> None:
    branches = [{"name": "big", "condition": "amount > `100`"}]
    built = graph(
        "in.out -> pick.amount",
        "pick.big -> pay.in",
        types={"pick": "switch"},
        config={"pick": {"branches": branches}},
    )
    assert codes(built) == [("no_default_branch", "pick")]


def test_a_default_an_error_edge_or_both_truth_values_cover_everything() -> None:
    branches = [{"name": "big", "condition": "amount > `100`"}]
    routed = graph(
        "in.out -> pick.amount",
        "pick.big -> pay.in",
        "pick.error -> other.in",
        types={"pick": "switch"},
        config={"pick": {"branches": branches}},
    )
    whole = graph(
        "in.out -> ask.data", "ask.yes -> pay.in", types={"ask": "branch"}, config={"ask": BOTH}
    )
    assert [advice(routed), advice(whole)] == [[], []]


def test_a_port_spelt_almost_like_a_branch() -> None:
    built = graph("route.withn -> pay.in", "route.over -> no.in", types={"route": "router"})
    assert [(found.code, found.message) for found in advice(built)] == [
        (
            "misspelt_branch",
            "edge 'route.withn -> pay.in' leaves port 'withn', which is no branch of type "
            "'router', so nothing gates it; is 'within' meant?",
        )
    ]


def test_a_condition_on_an_edge_never_gates() -> None:  # SG-9
    built = graph(edge("a.out -> b.in", condition="false"))
    assert codes(built) == [("edge_condition", None)]


@pytest.mark.parametrize("port", ["state_update", "active_branches", "error_retryable"])
def test_a_wire_from_what_a_node_tells_the_engine(port: str) -> None:
    built = graph(f"a.{port} -> b.in")
    assert codes(built) == [("control_output_wired", "a")]


def test_a_text_of_a_node_that_nothing_feeds() -> None:
    built = graph("a.out -> b.trigger", types={"b": "reply"}, config={"b": {"message": "{who}"}})
    assert codes(built) == [("text_names_unfed_port", "b")]


def test_a_node_that_hangs_on_tool_edges_runs_at_once() -> None:
    built = graph("tool.out -> agent.tools !tool", "in.out -> agent.in")
    assert codes(built) == [("tool_runs_at_once", "tool")]


def test_the_order_of_the_document_changes_nothing() -> None:
    built = graph(
        "a.out -> both.in",
        "b.out -> both.in",
        "both.out -> head.in",
        "head.out -> tail.in",
        "tail.out -> head.loop_back",
        "head.out -> gate.x",
        types={"gate": "gate"},
    )
    expected = advice(built)
    assert len(expected) == 3
    for order in ([3, 1, 4, 1, 5, 9, 2, 6], [0], [7, 6, 5, 4]):
        assert advice(shuffled(built, order)) == expected
