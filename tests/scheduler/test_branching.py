"""BR-1..5, FD-34, FD-35, FD-36: ``branch`` and ``switch`` choose what is followed."""

import pytest

from seeding.model import Json, JsonObject
from workflows.control.branch import matches
from workflows.report import report

from .graphs import graph
from .runs import Run

NOTHING: JsonObject = {}


def branched(kind: str, config: JsonObject, *ports: str, given: JsonObject | None = None) -> Run:
    """Return a finished run whose node ``n`` has one follower a port, named like the port."""
    built = graph(
        *(f"n.{port} -> to_{port}.x" for port in ports),
        types={"n": kind},
        config={"n": config},
        alone=["n"],
    )
    return Run(built, inputs={"n": given or {}}).go()


# --- branch --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "value", "matched"),
    [
        (True, True, True),
        (True, 1, True),
        (True, "TRUE", True),
        (True, "1", True),
        (True, "yes", False),
        (True, 2, False),
        (False, 0, True),
        (False, "false", True),
        (False, None, False),
        (False, "", False),
        (1, 1, True),
        (1, 1.0, True),
        (1, True, False),
        (1, "1", False),
        ("1", 1, False),
        ("1", "1", True),
        ("Yes", "yes", True),
        (None, None, True),
        (None, False, False),
        ([1, {"a": True}], [1, {"a": True}], True),
        ([1], [True], False),
        ({"a": 0}, {"a": False}, False),
        ({"a": 0}, {"a": 0, "b": 1}, False),
    ],
)
def test_an_outcome_matches_in_type_and_value(outcome: Json, value: Json, matched: bool):
    """BR-4, FD-35."""
    assert matches(outcome, value) is matched


def test_the_branch_whose_value_matches_is_followed_and_carries_the_input():
    """BR-1, BR-4: the port is the entry's name, not its value."""
    config = {"branches": [{"name": "Yes", "value": True}, {"name": "No", "value": False}]}
    run = branched("branch", config, "Yes", "No", given={"data": True})
    assert run.trace == ["n", "to_Yes"]
    assert run.results["to_Yes"] == {"out": 0, "x": True}
    assert run.results["n"] == {}


def test_without_a_list_the_branches_are_true_and_false():
    assert branched("if_else", {}, "True", "False", given={"data": "TRUE"}).cause is not None
    assert branched("if_else", {}, "True", "False", given={"data": False}).trace == [
        "n",
        "to_False",
    ]


def test_an_entry_without_a_value_stands_for_its_name():
    config = {"branches": [{"name": "approve"}, {"name": "deny"}]}
    run = branched("branch", config, "approve", "deny", given={"data": "DENY"})
    assert run.trace == ["n", "to_deny"]


def test_the_first_of_two_matching_entries_is_followed():
    config = {"branches": [{"name": "a", "value": 1}, {"name": "b", "value": 1}]}
    assert branched("branch", config, "a", "b", given={"data": 1}).trace == ["n", "to_a"]


def test_an_outcome_nothing_matches_goes_to_the_default():
    """BR-4."""
    config = {"branches": [{"name": "rest", "isDefault": True}, {"name": "b", "value": 1}]}
    assert branched("branch", config, "rest", "b", given={"data": 2}).trace == ["n", "to_rest"]


def test_an_outcome_nothing_matches_fails_the_node_where_there_is_no_default():
    """BR-4: a routable error; never a silent end."""
    config = {"branches": [{"name": "Yes"}, {"name": "No"}]}
    run = branched("branch", config, "Yes", "No", "error", given={"data": "perhaps"})
    assert run.trace == ["n", "to_error"]
    assert run.results["n"] == {
        "error": {
            "message": "node 'n': no branch matches outcome perhaps; the branches are 'Yes', "
            "'No', and none is the default",
            "code": "NoBranch",
            "node_id": "n",
            "retryable": False,
        }
    }


def test_a_branch_without_its_input_has_the_outcome_null():
    config = {"branches": [{"name": "none", "value": None}, {"name": "rest", "isDefault": True}]}
    assert branched("branch", config, "none", "rest").trace == ["n", "to_none"]


def test_the_editors_entries_without_a_usable_name_are_dropped():
    """BR-4."""
    config: JsonObject = {
        "branches": [{"name": " ", "value": 1}, {"value": 1}, {"name": "a", "value": 1}]
    }
    assert branched("if_else", config, "a", given={"data": 1}).trace == ["n", "to_a"]


def test_trigger_and_data_wires_of_a_branch_are_gated_alike():
    """BR-5."""
    built = graph("n.True -> yes.trigger", "n.False -> no.trigger", types={"n": "branch"})
    assert Run(built, inputs={"n": {"data": True}}).go().trace == ["n", "yes"]


def test_a_wire_in_another_case_leaves_the_same_branch():
    """BR-3, FD-34."""
    built = graph("n.TRUE -> yes.x", "n.false -> no.x", types={"n": "branch"})
    run = Run(built, inputs={"n": {"data": True}}).go()
    assert run.trace == ["n", "yes"]
    assert run.results["yes"] == {"out": 0, "x": True}


def test_what_the_other_branch_leads_to_is_skipped():
    """FD-36, BR-7."""
    run = branched("branch", {}, "True", "False", given={"data": True})
    assert report(run.plan, run.position) == {
        "nodes_skipped": 1,
        "skipped_node_ids": ["to_False"],
    }


@pytest.mark.parametrize(
    ("config", "data", "port"),
    [
        ({"matchText": "Yes"}, "yes", "True"),
        ({"matchText": "Yes", "caseSensitive": True}, "yes", "False"),
        ({"matchText": "Yes", "operator": "not_equals"}, "no", "True"),
        ({"matchText": "YES", "operator": "not_equals"}, "yes", "False"),
        ({"matchText": "fund", "operator": "contains"}, "A Refund, please", "True"),
        ({"matchText": "re", "operator": "starts_with"}, "Refund", "True"),
        ({"matchText": "re", "operator": "ends_with"}, "Refund", "False"),
        ({"matchText": "5"}, 5, "True"),
        ({"matchText": '"a"', "operator": "contains"}, {"k": "a"}, "True"),
        ({"matchText": ""}, None, "True"),
        ({"matchText": "null"}, None, "False"),
        (
            {
                "matchText": "y",
                "branches": [{"name": "True", "value": False}, {"name": "False", "value": True}],
            },
            "y",
            "False",
        ),
    ],
)
def test_data_compares_to_a_text(config: JsonObject, data: Json, port: str):
    run = branched("if_else", config, "True", "False", given={"data": data})
    assert run.trace == ["n", f"to_{port}"]


# --- switch --------------------------------------------------------------------------------------

SIZES: JsonObject = {
    "branches": [
        {"name": "large", "condition": "amount > `100`"},
        {"name": "medium", "condition": "amount > `10`"},
        {"name": "small", "isDefault": True},
    ]
}


@pytest.mark.parametrize(
    ("amount", "port"), [(1000, "large"), (100, "medium"), (10, "small"), (None, "small")]
)
@pytest.mark.parametrize("kind", ["switch", "gateway"])
def test_the_first_branch_whose_condition_holds_is_followed(kind: str, amount: Json, port: str):
    run = branched(kind, SIZES, "large", "medium", "small", given={"amount": amount, "of": "x"})
    assert run.trace == ["n", f"to_{port}"]
    assert run.results[f"to_{port}"]["x"] == {"amount": amount, "of": "x"}


def test_a_condition_that_fails_on_its_values_fails_the_node():
    run = branched("switch", SIZES, "large", given={"amount": "150"})
    assert run.cause is not None
    assert run.cause.details["code"] == "ConditionFailed"
    assert str(run.cause.message).startswith(
        "node 'n': the condition of branch 'large' failed: '>' not supported between"
    )


def test_values_no_condition_holds_on_fail_the_node_where_there_is_no_default():
    config: JsonObject = {"branches": [{"name": "a", "condition": "x"}]}
    run = branched("switch", config, "a", given={"x": False})
    assert run.cause is not None
    assert run.cause.message == (
        "node 'n': no branch matches the inputs; the branches are 'a', and none is the default"
    )


@pytest.mark.parametrize("port", ["value", "data", "anything"])
def test_a_gateway_may_match_a_value_as_a_branch_does(port: str):
    config: JsonObject = {
        "branches": [{"name": "Yes", "value": True}, {"name": "No", "value": False}]
    }
    assert branched("gateway", config, "Yes", "No", given={port: False}).trace == ["n", "to_No"]


def test_a_switch_in_a_loop_decides_anew_in_each_round():
    built = graph(
        "items.value -> each.items",
        "each.current_item -> pick.amount",
        "pick.large -> big.x",
        "pick.medium -> each.loop_back",
        "pick.small -> each.loop_back",
        "big.out -> each.loop_back",
        types={"items": "value", "each": "for_each", "pick": "switch"},
        config={"items": {"value": [5, 50, 500]}, "pick": SIZES},
    )
    run = Run(built).go()
    assert [name for name in run.trace if not name.startswith("each")] == [
        "items",
        "pick",
        "pick:1",
        "pick:2",
        "big",
    ]
    assert run.results["each:3"]["collected_results"] == [5, 50, 0]
    assert run.restored() == run.position
