"""The sample nodes, called as the functions they are."""

from pathlib import Path

import pytest

import sample_nodes
from activities import NodeCall, NodeError
from activities.nodes import REGISTRY
from seeding.model import Json, JsonObject


def call(inputs: JsonObject | None = None, **config: Json) -> NodeCall:
    return NodeCall(
        inputs=inputs or {},
        config=config,
        effect_key="key",
        thread_id="alice",
        run_id="R",
        node_id="node",
        occurrence=0,
    )


def test_the_samples_are_registered_by_name() -> None:
    types = REGISTRY.types()

    assert [name for name in types if REGISTRY.find(name) and name in SAMPLES] == SAMPLES


SAMPLES = [
    "count_call",
    "expense_policy",
    "fail",
    "noop",
    "process_item",
    "set_state",
    "slow",
    "sync_double",
]


def test_expense_policy_is_declared_as_the_contract_shows_it() -> None:
    found = REGISTRY.find("expense_policy")

    assert found is not None
    assert found.type.branches == ("within", "over")
    assert found.type.declares == ("__messages__",)
    assert (found.type.timeout, found.type.max_retries) == (300.0, 2)


@pytest.mark.parametrize(("amount", "port"), [(50, "within"), (100, "within"), (101, "over")])
async def test_expense_policy_follows_over_only_above_the_limit(amount: int, port: str) -> None:
    outputs = await sample_nodes.expense_policy(call({"item": amount}, limit=100))

    assert outputs == {port: amount, "active_branches": [port]}


@pytest.mark.parametrize(
    ("operation", "given", "expected"),
    [
        ("uppercase", "fig", "FIG"),
        ("lowercase", "FIG", "fig"),
        ("passthrough", "Fig", "Fig"),
        (
            "uppercase",
            {"name": "fig", "seeds": [1, "a", None]},
            {"name": "FIG", "seeds": [1, "A", None]},
        ),
        ("uppercase", 7, 7),
        ("uppercase", None, None),
        ("lowercase", True, True),
    ],
)
async def test_process_item_changes_the_strings_inside(
    operation: str, given: Json, expected: Json
) -> None:
    outputs = await sample_nodes.process_item(call({"input": given}, operation=operation))

    assert outputs == {"output": expected}


async def test_process_item_passes_its_input_through_by_default() -> None:
    assert await sample_nodes.process_item(call({"input": "Fig"})) == {"output": "Fig"}


async def test_process_item_refuses_an_unknown_operation() -> None:
    with pytest.raises(NodeError, match="'reverse' is none of") as raised:
        await sample_nodes.process_item(call({"input": "fig"}, operation="reverse"))

    assert raised.value.code == "unknown_operation"


async def test_noop_returns_its_inputs() -> None:
    assert await sample_nodes.noop(call({"a": 1})) == {"value": {"a": 1}}


async def test_slow_returns_its_value() -> None:
    assert await sample_nodes.slow(call({"value": 1}, seconds=0)) == {"value": 1}


async def test_fail_is_a_node_error_by_default() -> None:
    with pytest.raises(NodeError, match="no ink") as raised:
        await sample_nodes.fail(call(message="no ink", retryable=True, code="ink"))

    assert (raised.value.code, raised.value.retryable) == ("ink", True)


async def test_fail_crashes_when_told() -> None:
    with pytest.raises(RuntimeError, match="no ink"):
        await sample_nodes.fail(call(message="no ink", fatal=True))


def test_count_call_leaves_a_line_for_every_execution(tmp_path: Path) -> None:
    counted = call(file=str(tmp_path / "calls"))

    assert sample_nodes.count_call(counted) == {"value": 1}
    assert sample_nodes.count_call(counted) == {"value": 2}
    assert (tmp_path / "calls").read_text() == "key\nkey\n"


async def test_set_state_returns_the_configured_update() -> None:
    update = {"data": {"budget": 500}}

    assert await sample_nodes.set_state(call(state_update=update)) == {"state_update": update}


def test_sync_double_doubles() -> None:
    assert sample_nodes.sync_double(call({"value": 21})) == {"value": 42}
