"""What travels between nodes and the thread: values whole, large ones by reference, or refused."""

import json
from typing import Any

import pytest

from seeding.model import JsonObject
from tests.engine.graphs import graph
from tests.engine.stage import Handle, Stage, failure_of, until, update

KB = 1024


async def node_inputs(handle: Handle) -> dict[str, JsonObject]:
    """Return the arguments of the run's node calls as its history keeps them, by node."""
    found: dict[str, JsonObject] = {}
    for event in (await handle.fetch_history()).events:
        if not event.HasField("activity_task_scheduled_event_attributes"):
            continue
        scheduled = event.activity_task_scheduled_event_attributes
        if scheduled.activity_type.name == "run_node":
            call = json.loads(scheduled.input.payloads[0].data)
            found[call["nodeId"]] = {**call, "size": len(scheduled.input.payloads[0].data)}
    return found


async def test_a_large_output_reaches_the_next_node_whole_and_history_by_reference(
    stage: Stage,
) -> None:
    document = graph(
        "pass",
        {"make": ("large", {"size": 40 * KB}), "measure": "measure"},
        "make.value -> measure.text",
    )
    handle = await stage.start("value-large", graph=document)
    result = await handle.result()
    assert result["results"]["measure"] == {"length": 40 * KB}
    assert result["results"]["make"] == {"value": "x" * 40 * KB}
    call = (await node_inputs(handle))["measure"]
    assert call["references"] == {
        "text": {"nodeId": "make", "occurrence": 0, "port": "value", "bytes": 40 * KB + 2}
    }
    assert call.get("inputs", {}) == {}
    assert call["size"] < 1 * KB


async def test_a_small_output_is_passed_by_value(stage: Stage) -> None:
    document = graph(
        "pass",
        {"make": ("large", {"size": 100}), "measure": "measure"},
        "make.value -> measure.text",
    )
    handle = await stage.start("value-small", graph=document)
    assert (await handle.result())["results"]["measure"] == {"length": 100}
    assert (await node_inputs(handle))["measure"]["inputs"] == {"text": "x" * 100}


async def test_a_large_item_of_a_loop_reaches_its_node_whole(stage: Stage) -> None:
    document = graph(
        "loop",
        {
            "make": ("returns", {"outputs": {"items": ["a" * 20 * KB, "b" * 30 * KB]}}),
            "each": "for_each",
            "measure": "measure",
        },
        "make.items -> each.items",
        "each.current_item -> measure.text",
        "measure.length -> each.loop_back",
    )
    handle = await stage.start("value-items", graph=document)
    result = await handle.result()
    assert result["results"]["each:2"]["collected_results"] == [20 * KB, 30 * KB]


async def test_a_large_answer_of_a_gate_reaches_the_next_node_whole(stage: Stage) -> None:
    document = graph(
        "answered", {"gate": "gate", "measure": "measure"}, "gate.answer -> measure.text"
    )
    handle = await stage.start("value-answer", graph=document)
    await until(handle, "awaiting")
    answer = {"decision": "approve", "value": "x" * 60 * KB}
    await update(handle, "resume", answer)
    assert (await handle.result())["results"]["measure"] == {"length": 60 * KB}


TOO_LARGE: dict[str, tuple[JsonObject, JsonObject]] = {
    "one value": (
        {"large": ("large", {"size": 64 * KB - 1})},
        {"port": "value", "bytes": 64 * KB + 1},
    ),
    "all together": (
        {"large": ("returns", {"outputs": {f"p{n}": "x" * 50_000 for n in range(4)}})},
        {"port": "p3", "bytes": 50_002},
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
async def test_an_output_that_is_too_large_is_a_failure_of_its_node(
    stage: Stage, name: str
) -> None:
    nodes, details = TOO_LARGE[name]
    document = graph("large", {**nodes, "told": "noted"}, "large.error -> told.error")
    thread = f"value-too-large-{name.replace(' ', '-')}"
    result = await stage.run(thread, {"graph": document})
    error = result["results"]["large"]["error"]
    assert (error["code"], error["retryable"], error["details"]) == (
        "OutputTooLarge",
        False,
        details,
    )
    assert f"output {details['port']} is {details['bytes']} bytes" in error["message"]


async def test_an_output_of_just_64_kb_is_kept(stage: Stage) -> None:
    document = graph(
        "large",
        {"make": ("large", {"size": 64 * KB - 2}), "measure": "measure"},
        "make.value -> measure.text",
    )
    result = await stage.run("value-64", {"graph": document})
    assert result["results"]["measure"] == {"length": 64 * KB - 2}


async def test_a_message_put_together_of_large_inputs_is_too_large_as_well(stage: Stage) -> None:
    """A control node is bounded like any other."""
    document = graph(
        "concat",
        {
            "a": ("large", {"size": 40 * KB}),
            "b": ("large", {"size": 40 * KB}),
            "told": ("reply", {"message": "{a}{b}"}),
        },
        "a.value -> told.a",
        "b.value -> told.b",
    )
    handle = await stage.start("value-concat", graph=document)
    failure = await failure_of(handle)
    run = stage.log.latest_run("value-concat")
    assert run is not None
    assert run.cause is not None
    assert run.cause.details is not None
    assert run.cause.details["code"] == "OutputTooLarge"
    assert "told" in failure.message


async def test_a_result_above_256_kb_shows_its_largest_outputs_by_reference(stage: Stage) -> None:
    """Contract 4: such a value is shown as where it is and how large."""
    names = ["a", "b", "c", "d", "e"]
    sizes = dict(zip(names, (60, 59, 58, 57, 1), strict=True))
    document = graph("many", {name: ("large", {"size": sizes[name] * KB}) for name in names})
    handle = await stage.start("value-many", graph=document)
    results = (await handle.result())["results"]
    run = handle.first_execution_run_id
    assert results["a"] == {"$ref": f"outputs/{run}/a", "bytes": 60 * KB + 12}
    assert results["e"] == {"value": "x" * KB}
    assert len(json.dumps(results)) < 256 * KB


async def test_an_output_that_is_no_json_fails_its_node_naming_the_path(stage: Stage) -> None:
    """ERR-6."""
    document = graph("odd", {"odd": "not_json", "told": "noted"}, "odd.error -> told.error")
    result = await stage.run("value-set", {"graph": document})
    assert result["results"]["odd"]["error"] == {
        "message": "node odd (type not_json): output a.b is set, which is no JSON value",
        "code": "OutputNotJson",
        "node_id": "odd",
        "retryable": False,
        "details": {"path": "a.b", "kind": "set"},
    }


async def test_two_spellings_of_one_port_are_no_json_either(stage: Stage) -> None:
    """Hashes are made of text in form NFC, where the two would be one."""
    failure = await failure_of(
        await stage.start("value-nfc", graph=graph("odd", {"odd": "two_spellings"}))
    )
    assert failure.message == (
        "node odd (type two_spellings): output (root) is object with two keys that are the "
        "same text in NFC ('\u00e9'), which is no JSON value"
    )


@pytest.mark.parametrize("returned", [None, [], "text", 7])
async def test_what_is_no_object_of_outputs_fails_its_node(stage: Stage, returned: Any) -> None:
    document = graph("odd", {"odd": ("returns", {"outputs": returned})})
    thread = f"value-none-{type(returned).__name__}"
    failure = await failure_of(await stage.start(thread, graph=document))
    assert failure.message == (
        f"node odd (type returns) returned {type(returned).__name__}; a node returns a dict of "
        "outputs by port"
    )


# --- what a node sees of the thread -------------------------------------------------------------


async def test_a_node_sees_the_reserved_inputs_its_type_declares_and_no_others(
    stage: Stage,
) -> None:
    """SG-2, SG-3."""
    document = graph(
        "seeing",
        {"items": ("value", {"value": ["x"]}), "each": "for_each", "reads": "reads_messages",
         "blind": "blind"},
        "items.value -> each.items",
        "each.current_item -> reads.item",
        "reads.internal -> each.loop_back",
        "each.current_item -> blind.item",
    )  # fmt: skip
    handle = await stage.start(
        "value-internals", {"graph": document, "message": "hello", "data": {"budget": 5}}
    )
    results = (await handle.result())["results"]
    run = handle.first_execution_run_id
    assert results["reads"]["internal"] == {
        "__messages__": [{"id": f"{run}:0:0", "role": "user", "content": "hello"}],
        "__data__": {"budget": 5},
        "__current_item__": "x",
    }
    assert results["blind"]["internal"] == {}


async def test_a_node_that_declares_the_state_sees_it_as_it_stood_at_its_dispatch(
    stage: Stage,
) -> None:
    document = graph("seeing", {"sees": "sees_everything"})
    request = {"graph": document, "message": "hi", "metadata": {"m": 1}}
    results = (await stage.run("value-state", request))["results"]
    seen = results["sees"]["internal"]
    assert list(seen) == ["__state__", "__messages__", "__data__", "__iterator__"]
    assert seen["__iterator__"] is None
    state = seen["__state__"]
    assert [message["content"] for message in state["messages"]] == ["hi"]
    assert (state["metadata"], state["status"], state["threadId"], state["currentNodeId"]) == (
        {"m": 1},
        None,
        "value-state",
        "",
    )


# --- what a node says to the thread ---------------------------------------------------------------


def updating(update: Any) -> JsonObject:
    return graph("updating", {"set": ("set_state", {"state_update": update}), "after": "noted"},
                 "set.trigger -> after.trigger")  # fmt: skip


async def test_a_state_update_reaches_messages_data_and_metadata(stage: Stage) -> None:
    """SG-1, SG-3: messages append, data and metadata merge by key, and no output is recorded."""
    update = {
        "messages": [{"role": "assistant", "content": "noted"}],
        "data": {"b": 2},
        "metadata": {"m": None},
    }
    handle = await stage.start(
        "update-all",
        {
            "graph": updating(update),
            "message": "go",
            "data": {"a": 1, "b": 1},
            "metadata": {"k": 1},
        },
    )
    result = await handle.result()
    run = handle.first_execution_run_id
    assert result["results"]["set"] == {}
    state = stage.log.state("update-all").state
    assert state.messages == [
        {"id": f"{run}:0:0", "role": "user", "content": "go"},
        {"id": f"{run}:1:0", "role": "assistant", "content": "noted"},
    ]
    assert (state.data, state.metadata) == ({"a": 1, "b": 2}, {"k": 1, "m": None})
    shown = await handle.query("state")
    assert (shown["data"], shown["messages"]["count"]) == ({"a": 1, "b": 2}, 2)


async def test_an_explicit_null_clears_and_an_absent_field_keeps(stage: Stage) -> None:
    await stage.run(
        "update-null", {"graph": updating({"data": None}), "data": {"a": 1}, "metadata": {"k": 1}}
    )
    state = stage.log.state("update-null").state
    assert (state.data, state.metadata) == ({}, {"k": 1})


BAD_UPDATES: dict[str, tuple[Any, str]] = {
    "a list": ([], "value: "),
    "another field": ({"status": "completed"}, "status: unknown field"),
    "data a list": ({"data": []}, "data: "),
    "messages a text": ({"messages": "hi"}, "messages: "),
    "a message without a role": ({"messages": [{"content": "hi"}]}, "a message has a role"),
    "a message with an empty id": (
        {"messages": [{"role": "user", "content": "hi", "id": ""}]},
        "a message's id is a non-empty string",
    ),
    "a message with a number as id": (
        {"messages": [{"role": "user", "content": "hi", "id": 7}]},
        "a message's id is a non-empty string",
    ),
    "a negative count": ({"iterationCount": -1}, "iterationCount: it is not negative"),
    "an iterator outside a loop": ({"iterator": None}, "no round of a for_each is in progress"),
}


@pytest.mark.parametrize("name", BAD_UPDATES)
async def test_a_state_update_of_the_wrong_shape_fails_its_node(stage: Stage, name: str) -> None:
    update, said = BAD_UPDATES[name]
    thread = f"update-bad-{name.replace(' ', '-')}"
    failure = await failure_of(await stage.start(thread, graph=updating(update), message="go"))
    assert failure.message.startswith("node 'set': state_update cannot be applied: ")
    assert said in failure.message
    assert len(stage.log.messages(thread)) == 1


async def test_a_message_id_that_the_thread_has_already_ends_the_run(stage: Stage) -> None:
    update = {"messages": [{"role": "user", "content": "again", "id": "m-1"}]}
    handle = await stage.start(
        "update-twice",
        {"graph": updating(update), "message": {"role": "user", "content": "hi", "id": "m-1"}},
    )
    failure = await failure_of(handle)
    assert "DuplicateMessage" in failure.message
    assert [each["content"] for each in stage.log.messages("update-twice")] == ["hi"]


async def test_a_message_whose_id_is_null_is_given_one(stage: Stage) -> None:
    update = {"messages": [{"role": "user", "content": "b", "id": None}]}
    message = {"role": "user", "content": "a", "id": None}
    handle = await stage.start("update-null-id", {"graph": updating(update), "message": message})
    await handle.result()
    run = handle.first_execution_run_id
    assert [each["id"] for each in stage.log.messages("update-null-id")] == [
        f"{run}:0:0",
        f"{run}:1:0",
    ]


async def test_a_cell_above_64_kb_ends_the_run_and_wedges_nothing(stage: Stage) -> None:
    update = {"data": {"a": "x" * 40_000, "b": "y" * 40_000}}
    handle = await stage.start("update-large", graph=updating(update))
    failure = await failure_of(handle)
    assert "OutputTooLarge" in str(failure.details) or "bytes" in failure.message
