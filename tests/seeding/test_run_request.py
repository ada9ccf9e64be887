"""Contract, section 2: the request that starts a run, and each refusal its shape can meet."""

from typing import Any

import pytest

from seeding.errors import InvalidRequest, UnknownCheckpointStore
from seeding.request import RunConfig, RunRequest, parse_request

WORKFLOW = "thread/alice"


def parse(**fields: Any) -> RunRequest:
    return parse_request({"graph": "expense-review", **fields}, WORKFLOW)


def test_only_the_graph_is_required_and_the_rest_has_these_defaults() -> None:
    assert parse().to_json() == {
        "graph": "expense-review",
        "threadId": "alice",
        "message": None,
        "messages": None,
        "input": {},
        "data": {},
        "metadata": {},
        "initialSnapshot": None,
        "forkFrom": None,
        "checkpointId": None,
        "recover": False,
        "abandon": False,
        "idempotencyKey": None,
        "queuedTurn": None,
        "config": {
            "maxIterations": 10000,
            "maxPasses": None,
            "checkpointStore": "durable",
            "onUnknownCheckpoint": "fresh",
            "onBusy": "reject",
        },
    }


def test_absent_config_keys_take_their_defaults() -> None:
    assert parse(config={"maxIterations": 5}).config == RunConfig(max_iterations=5)


def test_an_execution_id_is_accepted_and_ignored() -> None:
    assert parse(executionId="mine") == parse()


def test_a_graph_document_may_stand_inline() -> None:
    assert parse(graph={"id": "g", "nodes": []}).graph == {"id": "g", "nodes": []}


def test_a_thread_id_that_agrees_is_taken() -> None:
    assert parse(threadId="alice").thread_id == "alice"


def test_a_string_message_is_a_users() -> None:
    assert parse(message="hello").new_messages() == [{"role": "user", "content": "hello"}]


def test_messages_are_kept_as_they_are() -> None:
    messages = [{"role": "user", "content": 1, "mine": True}, {"role": "tool", "content": None}]
    assert parse(messages=messages).new_messages() == messages


@pytest.mark.parametrize(
    ("fields", "carries"),
    [
        ({}, False),
        ({"messages": []}, False),
        ({"config": {"maxIterations": 1}}, False),
        ({"message": ""}, True),
        ({"messages": [{"role": "user", "content": "x"}]}, True),
        ({"input": {"items": {"value": 1}}}, True),
        ({"data": {"k": None}}, True),
        ({"metadata": {"k": 1}}, True),
    ],
)
def test_content_is_what_a_paused_run_could_not_take(fields: Any, carries: bool) -> None:
    assert parse(**fields).carries_content is carries


@pytest.mark.parametrize("workflow", ["alice", "queue/alice", "thread/", "thread/a/b"])
def test_another_workflow_id_is_refused(workflow: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_request({"graph": "g"}, workflow)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (None, "null"),
        ([], "a list"),
        ("graph", "a string"),
        (3, "a number"),
        (True, "a boolean"),
    ],
)
def test_an_argument_that_is_no_object_is_refused_by_kind(payload: Any, said: str) -> None:
    with pytest.raises(InvalidRequest, match=f"one JSON object as its argument, this is {said}$"):
        parse_request(payload, WORKFLOW)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"grahp": "g"}, "grahp: unknown field"),
    ({"config": {"maxIteration": 1}}, "config.maxIteration: unknown field"),
    ({"graph": None}, "graph"),
    ({"graph": 3}, "graph"),
    ({"threadId": "bob"}, "threadId is 'bob', but the workflow id names thread 'alice'"),
    ({"threadId": 3}, "threadId"),
    ({"message": 3}, "message"),
    ({"message": {"content": "x"}}, "a message has a role"),
    ({"message": {"role": "", "content": "x"}}, "a message has a role"),
    ({"message": {"role": "system", "content": "x"}}, "may not have the role 'system'"),
    ({"messages": [{"role": " System ", "content": "x"}]}, "may not have the role 'system'"),
    ({"message": {"role": "user"}}, "a message has a content"),
    ({"message": {"role": "user", "content": "x", "id": 3}}, "a message's id"),
    ({"message": "x", "messages": []}, "give message or messages, not both"),
    ({"messages": {}}, "messages"),
    ({"input": {"items": [50]}}, "input.items"),
    ({"data": []}, "data"),
    ({"metadata": "x"}, "metadata"),
    ({"recover": "yes"}, "recover"),
    ({"abandon": 1}, "abandon"),
    ({"checkpointId": 7}, "checkpointId"),
    ({"forkFrom": "nope"}, "forkFrom 'nope' is not <run id>:<ordinal>"),
    ({"initialSnapshot": {}, "forkFrom": "R:1"}, "give initialSnapshot or forkFrom, not both"),
    ({"idempotencyKey": ""}, "idempotencyKey"),
    ({"idempotencyKey": "x" * 256}, "idempotencyKey"),
    ({"idempotencyKey": "a\0b"}, "idempotencyKey"),
    ({"config": {"maxIterations": -1}}, "config.maxIterations"),
    ({"config": {"maxIterations": 1.5}}, "config.maxIterations"),
    ({"config": {"maxIterations": True}}, "config.maxIterations"),
    ({"config": {"maxPasses": 0}}, "config.maxPasses: .* greater than or equal to 1"),
    ({"config": {"maxPasses": -1}}, "config.maxPasses: .*greater than or equal to 1"),
    ({"config": {"maxPasses": True}}, "config.maxPasses: .*valid integer"),
    ({"config": {"maxPasses": 1.5}}, "config.maxPasses: .*valid integer,?"),
    ({"config": {"maxPasses": "2"}}, "config.maxPasses: Input should be a valid integer"),
    ({"config": {"maxPasses": 10_000_001}}, "config.maxPasses: .* less than or equal to"),
    ({"config": {"onBusy": "wait"}}, "config.onBusy"),
    ({"config": {"onUnknownCheckpoint": "latest"}}, "config.onUnknownCheckpoint"),
    ({"data": {"n": 2**53 + 1}}, r"data.n: integer beyond 2\^53"),
    ({"data": {"n": float("nan")}}, "data.n: number that is not finite"),
    ({"data": {"s": "\ud800"}}, "data.s: text with a lone surrogate"),
    ({"data": {"a\0b": 1}}, r"data: object key with U\+0000"),
    ({"data": {"big": "x" * 65537}}, "data.big is 65539 bytes"),
    ({"input": {"a": {"p": "x" * 65537}}}, "input.a.p is 65539 bytes"),
    ({"data": {str(n): "x" * 60000 for n in range(5)}}, "the request is 3000.. bytes"),
]


@pytest.mark.parametrize(("fields", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_a_wrong_field_is_refused_by_name(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        parse(**fields)


def test_a_request_without_a_graph_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="graph: Field required"):
        parse_request({}, WORKFLOW)


def test_every_wrong_field_is_named_at_once() -> None:
    with pytest.raises(InvalidRequest, match=r"recover: .*; grahp: unknown field"):
        parse(recover="yes", grahp=1)


def test_an_unknown_store_is_refused_naming_the_stores_sg_11() -> None:
    with pytest.raises(UnknownCheckpointStore, match=r"'memory'; the stores are durable and eph"):
        parse(config={"checkpointStore": "memory"})


def test_deep_nesting_is_refused_by_name() -> None:
    value: Any = 1
    for _ in range(400):
        value = [value]
    with pytest.raises(InvalidRequest, match="nested deeper than 100"):
        parse(data={"k": value})


def test_an_empty_snapshot_is_given_and_null_is_not() -> None:
    assert parse(initialSnapshot={}).initial_snapshot == {}
    assert parse(initialSnapshot=None).initial_snapshot is None
