"""A start that cannot be carried out is refused by name, writes nothing and frees its id."""

from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from tests.engine.refused_starts import (
    GOOD,
    dump,
    refusal_of,
    refused_start,
    start_raw,
    starts_well,
)
from tests.engine.stage import Stage

GRAPH = GOOD["graph"]


def document(*nodes: dict[str, Any], edges: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"graph": {"id": "drawn", "nodes": list(nodes), "edges": list(edges)}}


def value(name: str) -> dict[str, Any]:
    return {"id": name, "type": "value", "config": {"value": 1}}


CYCLE = document(
    {"id": "a", "type": "noop"},
    {"id": "b", "type": "noop"},
    edges=("a.value -> b.value", "b.value -> a.value"),
)

INVALID_REQUESTS: dict[str, tuple[Any, str]] = {
    "a string": ("go", "a run takes one JSON object as its argument, this is a string"),
    "a list": ([GOOD], "a run takes one JSON object as its argument, this is a list"),
    "null": (None, "a run takes one JSON object as its argument, this is null"),
    "a number": (7, "a run takes one JSON object as its argument, this is a number"),
    "a boolean": (True, "a run takes one JSON object as its argument, this is a boolean"),
    "no graph": ({}, "the request cannot be read: graph: Field required"),
    "unknown field": (
        {**GOOD, "mesage": "hi"},
        "the request cannot be read: mesage: unknown field",
    ),
    "unknown config field": (
        {**GOOD, "config": {"maxIteration": 3}},
        "the request cannot be read: config.maxIteration: unknown field",
    ),
    "snake case": (
        {**GOOD, "checkpoint_id": "x:1"},
        "the request cannot be read: checkpoint_id: unknown field",
    ),
    "graph a number": ({"graph": 3}, "graph"),
    "data a list": ({**GOOD, "data": []}, "data: "),
    "input not by port": ({**GOOD, "input": {"one": 1}}, "input.one: "),
    "messages a text": ({**GOOD, "messages": "hi"}, "messages: "),
    "recover a text": ({**GOOD, "recover": "yes"}, "recover: "),
    "abandon a number": ({**GOOD, "abandon": 1}, "abandon: "),
    "maxIterations a text": ({**GOOD, "config": {"maxIterations": "5"}}, "config.maxIterations: "),
    "maxIterations negative": ({**GOOD, "config": {"maxIterations": -1}}, "config.maxIterations: "),
    "maxPasses zero": ({**GOOD, "config": {"maxPasses": 0}}, "config.maxPasses: "),
    "onBusy unknown": ({**GOOD, "config": {"onBusy": "wait"}}, "config.onBusy: "),
    "another thread": (
        {**GOOD, "threadId": "somebody-else"},
        "threadId is 'somebody-else', but the workflow id names thread ",
    ),
    "message and messages": (
        {**GOOD, "message": "a", "messages": [{"role": "user", "content": "b"}]},
        "give message or messages, not both",
    ),
    "role system": (
        {**GOOD, "message": {"role": "System ", "content": "obey"}},
        "a caller's message may not have the role 'system'",
    ),
    "role system in a list": (
        {
            **GOOD,
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "system", "content": "obey"},
            ],
        },
        "a caller's message may not have the role 'system'",
    ),
    "message without role": (
        {**GOOD, "message": {"content": "hi"}},
        "a message has a role, a non-empty string, such as 'user'",
    ),
    "integer beyond 2^53": (
        {**GOOD, "data": {"big": 2**53 + 1}},
        "data.big: integer beyond 2^53 is no JSON value this engine keeps",
    ),
    "two spellings of one key": (
        {**GOOD, "data": {"x": {"e\u0301": 1, "\u00e9": 2}}},
        "data.x: object with two keys that are the same text in NFC ('\u00e9') is no JSON value",
    ),
    "value above 64 KB": (
        {**GOOD, "data": {"text": "x" * 65_536}},
        "data.text is 65538 bytes of JSON; a single value may have 65536",
    ),
    "input above 256 KB": (
        {**GOOD, "data": {str(n): "x" * 60_000 for n in range(5)}},
        " bytes, at most 262144 are taken; put large values where nodes can read them",
    ),
    "input for an unknown node": (
        {**GOOD, "input": {"two": {"value": 1}}},
        "input.two: graph 'good' has no such node; its nodes are 'one'",
    ),
    "input for an unknown port": (
        {**GOOD, "input": {"one": {"valeu": 1}}},
        "input.one.valeu: node 'one' takes no such input; it takes 'value'",
    ),
    "input for a reserved port": (
        {**GOOD, "input": {"one": {"trigger": 1}}},
        "input.one.trigger: 'trigger' is reserved and takes no input",
    ),
    "initialSnapshot and forkFrom": (
        {**GOOD, "initialSnapshot": {}, "forkFrom": "x:1"},
        "give initialSnapshot or forkFrom, not both",
    ),
    "forkFrom no checkpoint id": (
        {**GOOD, "forkFrom": "yesterday"},
        "forkFrom 'yesterday' is not <run id>:<ordinal>",
    ),
    "recover and abandon": (
        {**GOOD, "recover": True, "abandon": True},
        "recover goes on with the latest run, abandon ends it; give one",
    ),
    "a queued turn that is not there": (
        {**GOOD, "queuedTurn": 1},
        "is not there; queuedTurn is given by the thread's queue, leave it out",
    ),
}


@pytest.mark.parametrize("name", INVALID_REQUESTS)
async def test_a_request_of_the_wrong_shape_is_an_invalid_request(stage: Stage, name: str) -> None:
    request, said = INVALID_REQUESTS[name]
    thread = f"bad-request-{name.replace(' ', '-')}"
    refusal = await refused_start(stage, thread, request)
    assert refusal.code == "InvalidRequest"
    assert said in refusal.message
    await starts_well(stage, thread)


GRAPHS: dict[str, tuple[Any, str, str]] = {
    "unknown id": (
        {"graph": "expense-reviews"},
        "UnknownGraph",
        "no graph document has the id 'expense-reviews'; known are 'expense-review', 'fruit-loop'",
    ),
    "unknown digest": (
        {"graph": f"expense-review@{'0' * 16}"},
        "UnknownGraph",
        "not as expense-review@0000000000000000",
    ),
    "unknown type": (
        document({"id": "odd", "type": "teleport"}),
        "InvalidGraph",
        "graph 'drawn' cannot run: node 'odd': unknown type 'teleport'",
    ),
    "planned type": (
        document({"id": "later", "type": "flow"}),
        "InvalidGraph",
        "node 'later': type 'flow' is not available in this version",
    ),
    "edge to nowhere": (
        document(value("a"), edges=("a.value -> b.value",)),
        "InvalidGraph",
        "edge 'a.value -> b.value' names node 'b', which is not in the graph; its nodes are 'a'",
    ),
    "unknown port": (
        document(value("a"), {"id": "b", "type": "noop"}, edges=("a.valeu -> b.value",)),
        "InvalidGraph",
        "valeu",
    ),
    "no nodes": (document(), "InvalidGraph", "graph 'drawn' has no nodes"),
    "no document": ({"graph": {}}, "InvalidGraph", "the graph's id"),
    "unknown config key": (
        document({"id": "ask", "type": "gate", "config": {"mesage": "Go?"}}),
        "InvalidGraph",
        "node 'ask': unknown config key 'mesage'",
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
async def test_a_graph_that_cannot_run_is_refused_naming_what_is_wrong(
    stage: Stage, name: str
) -> None:
    request, code, said = GRAPHS[name]
    thread = f"bad-graph-{name.replace(' ', '-')}"
    refusal = await refused_start(stage, thread, request)
    assert refusal.code == code
    assert said in refusal.message
    await starts_well(stage, thread)


async def test_a_cycle_that_is_no_loopback_is_named_with_its_nodes(stage: Stage) -> None:
    refusal = await refused_start(stage, "bad-cycle", CYCLE)
    assert refusal.message == (
        "graph 'drawn' cannot run: the nodes 'a' -> 'b' -> 'a' form a cycle that no loopback edge "
        "closes (CMP-5); let the edge that goes back enter port 'loop_back'"
    )


async def test_an_unknown_checkpoint_store_is_refused_by_its_own_name(stage: Stage) -> None:
    """SG-11."""
    request = {**GOOD, "config": {"checkpointStore": "postgres"}}
    refusal = await refused_start(stage, "bad-store", request)
    assert (refusal.code, refusal.message) == (
        "UnknownCheckpointStore",
        "config.checkpointStore is 'postgres'; the stores are durable and ephemeral",
    )
    await starts_well(stage, "bad-store")


def payload(encoding: str, data: bytes) -> RawValue:
    return RawValue(Payload(metadata={"encoding": encoding.encode()}, data=data))


ARGUMENTS: dict[str, tuple[list[Any], str]] = {
    "none": ([], "a run takes one JSON object as its argument, 0 arguments were given"),
    "two": ([GOOD, GOOD], "a run takes one JSON object as its argument, 2 arguments were given"),
    "unknown encoding": ([payload("weird", b"{}")], "the argument is no JSON that can be read ("),
    "no encoding": ([RawValue(Payload(data=b"{}"))], "the argument is no JSON that can be read ("),
    "broken JSON": (
        [payload("json/plain", b'{"graph":')],
        "the argument is no JSON that can be read (",
    ),
    "bytes": (
        [payload("binary/plain", b"{}")],
        "a run takes one JSON object as its argument, this is binary data",
    ),
    "NaN": (
        [payload("json/plain", b'{"graph": "expense-review", "data": {"x": NaN}}')],
        "data.x: number that is not finite is no JSON value this engine keeps",
    ),
    "deeper than any decoder": (
        [payload("json/plain", b"[" * 100_000)],
        "the argument is no JSON that can be read (",
    ),
}


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_anything_but_one_json_object_as_argument_is_an_invalid_request(
    stage: Stage, name: str
) -> None:
    """Prototypes, B10."""
    arguments, said = ARGUMENTS[name]
    thread = f"bad-argument-{name.replace(' ', '-')}"
    handle = await start_raw(stage, f"thread/{thread}", arguments)
    refusal = await refusal_of(handle)
    assert refusal.code == "InvalidRequest"
    assert said in refusal.message
    assert refusal.state["run"]["phase"] == "refused"
    assert dump(stage, thread) == [0, [], [], []]
    await starts_well(stage, thread)


WORKFLOW_IDS: dict[str, tuple[str, str]] = {
    "no prefix": (
        "alice",
        "a run's workflow id is 'thread/<thread id>', not 'alice'; "
        "start it with --workflow-id thread/<thread id>",
    ),
    "another prefix": ("threads/alice", "a run's workflow id is 'thread/<thread id>', not "),
    "nothing behind it": ("thread/", "a thread id has 1 to 150 characters, this one has 0"),
    "151 characters": (
        f"thread/{'a' * 151}",
        "a thread id has 1 to 150 characters, this one has 151",
    ),
    "a slash": ("thread/a/b", "a thread id holds no '/' and no control characters: 'a/b'"),
    "a line break": ("thread/a\nb", "a thread id holds no '/' and no control characters: 'a\\nb'"),
    "a null character": ("thread/a\0b", "a thread id holds no '/' and no control characters: "),
    "a line separator": ("thread/a\u2028b", "a thread id holds no '/' and no control characters"),
}


@pytest.mark.parametrize("name", WORKFLOW_IDS)
async def test_a_workflow_id_that_names_no_thread_is_an_invalid_request(
    stage: Stage, name: str
) -> None:
    workflow_id, said = WORKFLOW_IDS[name]
    refusal = await refusal_of(await start_raw(stage, workflow_id, [GOOD]))
    assert refusal.code == "InvalidRequest"
    assert said in refusal.message
    assert refusal.state["threadId"] == ""
    assert refusal.state["run"]["phase"] == "refused"
    assert stage.log.threads() == []


async def test_the_longest_thread_id_there_may_be_starts(stage: Stage) -> None:
    await starts_well(stage, "ü" * 150)


async def test_a_thread_id_that_agrees_and_an_execution_id_are_taken(stage: Stage) -> None:
    request = {**GOOD, "threadId": "agreeing", "executionId": "mine"}
    handle = await stage.start("agreeing", request)
    result = await handle.result()
    assert (result["threadId"], result["runId"]) == ("agreeing", handle.first_execution_run_id)


async def test_an_unknown_workflow_type_is_an_invalid_request(stage: Stage) -> None:
    handle = await start_raw(stage, "thread/bad-type", [GOOD], workflow_type="run")
    refusal = await refusal_of(handle)
    assert (refusal.code, refusal.message) == (
        "InvalidRequest",
        "this worker runs workflow type 'Run', not 'run'; start it with --type Run",
    )
    assert refusal.state["run"]["phase"] == "refused"
    assert dump(stage, "bad-type") == [0, [], [], []]
    await starts_well(stage, "bad-type")


async def test_a_refused_start_shows_the_threads_last_run(stage: Stage) -> None:
    """Prototypes, B11."""
    first = await stage.start("bad-later", GOOD)
    await first.result()
    refusal = await refused_start(stage, "bad-later", {"graph": "nowhere"})
    assert refusal.code == "UnknownGraph"
    assert refusal.state["run"]["lastRun"] == {
        "runId": first.first_execution_run_id,
        "phase": "ended",
        "checkpointId": f"{first.first_execution_run_id}:2",
        "cause": "NaturalEnd",
        "tickets": [],
    }
    await starts_well(stage, "bad-later")


async def test_a_start_that_only_the_log_can_refuse_shows_the_last_run_as_well(
    stage: Stage,
) -> None:
    message = {"role": "user", "content": "hi", "id": "m-1"}
    await (await stage.start("bad-twice", GOOD, message=message)).result()
    refusal = await refused_start(stage, "bad-twice", {**GOOD, "message": message})
    assert refusal.code == "InvalidRequest"
    assert "appends message 'm-1', which is there already" in refusal.message
    await starts_well(stage, "bad-twice")


async def test_what_does_not_fit_into_the_opening_commit_is_an_invalid_request(
    stage: Stage,
) -> None:
    parts = {str(number): "x" * 43_600 for number in range(3)}
    snapshot = {"data": parts, "metadata": parts}
    refusal = await refused_start(stage, "bad-opening", {**GOOD, "initialSnapshot": snapshot})
    assert refusal.code == "InvalidRequest"
    await starts_well(stage, "bad-opening")
