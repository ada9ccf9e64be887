"""A node may ask: the run waits, and the node runs again with all the answers it has had."""

import pytest

from seeding.model import JsonObject
from tests.engine.graphs import graph, until_called, until_waiting_for
from tests.engine.nodes import CALLS
from tests.engine.stage import Stage, failure_of, refused, until, update


async def test_a_node_asks_until_it_is_content_each_time_with_a_ticket_of_its_own(
    stage: Stage,
) -> None:
    """Contract 7: one execution, three questions, answers in order."""
    thread = "ask-thrice"
    document = graph("asking", {"ask": ("asks", {"wanted": "blue"})})
    handle = await stage.start(thread, graph=document)
    run = handle.first_execution_run_id
    for n, answer in enumerate(["red", 7, "blue"]):
        (ticket,) = await until_waiting_for(handle, f"ask:0:{n}")
        assert ticket == {
            "ticket": f"{run}:ask:0:{n}",
            "nodeId": "ask",
            "occurrence": 0,
            "kind": "text",
            "message": "What is it?",
            "input": None,
            "schema": None,
            "allowed": None,
            "createdAt": ticket["createdAt"],
            "deadline": None,
        }
        await handle.signal("resume", {"ticket": ticket["ticket"], "value": answer})
    result = await handle.result()
    assert result["results"] == {
        "ask": {"answers": ["red", 7, "blue"], "interrupt": f"{run}:ask:0:2"}
    }
    assert [(row.ordinal, row.kind) for row in stage.log.checkpoints(thread)] == [
        (1, "pause"),
        (3, "pause"),
        (5, "pause"),
        (7, "node"),
        (8, "end"),
    ]
    assert await handle.query("progress") == {"ask": {"status": "completed", "executions": 1}}


async def test_large_answers_reach_the_node_whole(stage: Stage) -> None:
    wanted = "c" * 30_000
    document = graph("asking", {"ask": ("asks", {"wanted": wanted})})
    handle = await stage.start("ask-large", graph=document)
    given = ["a" * 60_000, "b" * 60_000, wanted]
    for n, answer in enumerate(given):
        (ticket,) = await until_waiting_for(handle, f"ask:0:{n}")
        await update(handle, "resume", {"ticket": ticket["ticket"], "value": answer})
    # It returned all three of them, which is more than an output may have.
    failure = await failure_of(handle)
    assert failure.message.startswith(
        "node ask (type asks): output answers is 150010 bytes of JSON; one value may have 65536"
    )


async def test_a_question_follows_no_error_edge(stage: Stage) -> None:
    """ERR-4."""
    thread = "ask-edge"
    document = graph(
        "asking",
        {"ask": ("asks", {"wanted": "blue"}), "handler": "noted"},
        "ask.error -> handler.error",
    )
    handle = await stage.start(thread, graph=document)
    await until_waiting_for(handle, "ask:0:0")
    assert thread not in CALLS
    await update(handle, "resume", {"decision": "blue"})
    result = await handle.result()
    assert result["results"]["ask"]["answers"] == ["blue"]
    assert result["metadata"] == {"nodes_skipped": 1, "skipped_node_ids": ["handler"]}


async def test_a_question_with_a_schema_shows_it_and_takes_only_what_fits(stage: Stage) -> None:
    handle = await stage.start("ask-schema", graph=graph("asking", {"ask": "asks_number"}))
    (ticket,) = await until_waiting_for(handle, "ask:0:0")
    assert (ticket["kind"], ticket["schema"]) == ("form", {"type": "integer", "minimum": 1})
    for wrong in ("three", 0, None, 1.5):
        assert await refused(handle, "resume", {"value": wrong}) == "AnswerInvalid"
    await update(handle, "resume", {"value": 3})
    assert (await handle.result())["results"] == {"ask": {"value": 3}}


async def test_a_question_waits_beside_an_effect_that_goes_on(stage: Stage) -> None:
    """Design 1: every commit made while a ticket is open is Awaiting, also beside effects."""
    thread = "ask-beside"
    document = graph(
        "beside",
        {"ask": ("asks", {"wanted": 1}), "work": "noted", "after": "noted"},
        "work.value -> after.value",
    )
    handle = await stage.start(thread, graph=document)
    await until_waiting_for(handle, "ask:0:0")
    await until_called(thread, "after:0")
    assert (await until(handle, "awaiting"))["run"]["phase"] == "awaiting"
    await update(handle, "resume", {"value": 1})
    assert (await handle.result())["status"] == "completed"


BAD_QUESTIONS: dict[str, tuple[JsonObject, str]] = {
    "unknown kind": (
        {"kind": "riddle"},
        "kind 'riddle' is none of approval, choice, text, form, review, external",
    ),
    "a pause": (
        {"kind": "pause"},
        "kind 'pause' is none of approval, choice, text, form, review, external",
    ),
    "no schema": ({"schema": {"type": "nothing"}}, "schema is no JSON Schema: 'nothing' is not "),
    "deadline": (
        {"deadline": "soon"},
        "deadline: 'soon' is not a duration; write 30s, 90m, 2d, P2D or a number of seconds",
    ),
}


@pytest.mark.parametrize("name", BAD_QUESTIONS)
async def test_a_question_that_cannot_be_asked_is_a_failure_of_the_node(
    stage: Stage, name: str
) -> None:
    ask, said = BAD_QUESTIONS[name]
    document = graph("asking", {"ask": ("asks_as_configured", {"ask": ask})})
    handle = await stage.start(f"ask-bad-{name.replace(' ', '-')}", graph=document)
    failure = await failure_of(handle)
    assert failure.type == "Error"
    assert failure.message.startswith("node ask (type asks_as_configured) cannot ask: ")
    assert said in failure.message
