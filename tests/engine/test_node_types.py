"""The node types of contract 6 on real servers: one graph with each, a stop, a key kept secret."""

import json
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client, WorkflowExecutionStatus

from seeding.model import JsonObject
from tests.engine.graphs import graph, until_called
from tests.engine.nodes import GATES
from tests.engine.stage import Handle, Stage, closed, failure_of
from tests.nodes.local_server import Answering, Asked, LocalServer, Reply, chat_answer, local_server

SECRET = "sk-very-secret-0123456789"
VARIABLE = "CHAT_TEST_API_KEY"
AWAY: dict[str, int] = {}
"""How often a path still answers 503."""


def answering(asked: Asked) -> Reply:
    """Answer chats with what they end with, quotes with the key, and anything else with a user."""
    if AWAY.get(asked.path, 0) > 0:
        AWAY[asked.path] -= 1
        return Reply(503)
    if asked.path.startswith("/quoting"):
        status = int(asked.path.split("/")[2])
        said = f"you sent {asked.headers['authorization']}"
        return Reply.of_json({**chat_answer(said), "error": {"message": said}}, status)
    if asked.path.endswith("/chat/completions"):
        return Reply.of_json(chat_answer(f"You said: {asked.json()['messages'][-1]['content']}"))
    return Reply.of_json({"user": {"name": "Ann", "age": 41}})


@pytest.fixture
def server() -> Generator[LocalServer]:
    answer: Answering = answering
    with local_server(answer) as served:
        yield served


@pytest_asyncio.fixture(loop_scope="session")
async def calling(
    client: Client, log_url: str, server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Stage]:
    """A stage whose worker may call the local server, and has a key in its environment."""
    monkeypatch.setenv(VARIABLE, SECRET)
    stage = Stage(client, log_url)
    stage.open()
    assert stage.resources is not None
    stage.resources = replace(stage.resources, http_hosts=(server.host,))
    await stage.serve()
    try:
        yield stage
    finally:
        await stage.close()


def every_type(server: LocalServer) -> JsonObject:
    return graph(
        "every-type",
        {
            "fetch": ("http_request", {"url": f"{server.url}/users/1"}),
            "age": (
                "switch",
                {
                    "branches": [
                        {"name": "grown", "condition": "body.user.age >= `18`"},
                        {"name": "young", "isDefault": True},
                    ]
                },
            ),
            "refuse": "stop",
            "greet": ("template", {"template": "Hello {{ body.user.name }}!"}),
            "ask": ("chat", {"baseUrl": f"{server.url}/v1", "model": "m", "apiKeyEnv": VARIABLE}),
            "both": "merge",
            "keep": (
                "set",
                {"state_update": {"data": {"last": "{all}"}, "messages": ["{message}"]}},
            ),
            "polite": ("branch", {"matchText": "You said", "operator": "starts_with"}),
            "bye": ("reply", {"message": "{data}"}),
        },
        "fetch.json -> age.body",
        "age.young -> refuse.user",
        "age.grown -> greet.body",
        "greet.output -> ask.prompt",
        "ask.response -> both.said",
        "fetch.status_code -> both.status",
        "both.merged -> keep.all",
        "ask.message -> keep.message",
        "ask.response -> polite.data",
        "polite.true -> bye.data",
        "polite.False -> refuse.impolite",
    )


async def test_one_graph_with_each_type(calling: Stage, server: LocalServer) -> None:
    result = await calling.run("types-each", {"graph": every_type(server), "message": "hi"})
    results = result["results"]
    said = "You said: Hello Ann!"
    assert result["status"] == "completed"
    assert results["fetch"]["json"] == {"user": {"name": "Ann", "age": 41}}
    assert results["greet"] == {"text": "Hello Ann!", "missing_variables": [], "success": True}
    assert results["ask"] == {
        "response": said,
        "message": {"role": "assistant", "content": said},
    }
    assert results["both"] == {"merged": {"said": said, "status": 200}}
    assert results["bye"] == {"message": said}
    assert result["metadata"] == {"nodes_skipped": 1, "skipped_node_ids": ["refuse"]}
    assert calling.log.state("types-each").state.data == {"last": {"said": said, "status": 200}}
    contents = [message["content"] for message in calling.log.messages("types-each")]
    assert contents == ["hi", said, said]
    fetched, asked = server.asked
    assert asked.json()["messages"] == [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "Hello Ann!"},
    ]
    assert fetched.headers["idempotency-key"] != asked.headers["idempotency-key"]


# --- stop ----------------------------------------------------------------------------------------


async def test_a_stop_closes_the_run_completed_once_what_is_in_flight_is_committed(
    stage: Stage,
) -> None:
    """ERR-5, contract 3: cause Stopped, Temporal closes Completed, what follows is absent."""
    document = graph(
        "stopping",
        {
            "slow": ("held", {"name": "stop-slow"}),
            "first": "noted",
            "end": "stop",
            "later": "noted",
            "open": "gate",
        },
        "first.value -> end.value",
        "end.trigger -> later.trigger",
        "slow.value -> later.value",
    )
    handle = await stage.start("types-stop", graph=document)
    await until_called("types-stop", "slow:0", "first:0")
    GATES["stop-slow"].set()
    assert await closed(handle) == WorkflowExecutionStatus.COMPLETED
    result = await handle.result()
    assert (result["status"], result["metadata"]) == (
        "completed",
        {"nodes_skipped": 0, "skipped_node_ids": []},
    )
    assert result["results"] == {
        "first": {"value": {}},
        "end": {"value": {}},
        "slow": {"value": "slow"},
    }
    state = await handle.query("state")
    assert (state["status"], state["error"], state["run"]["cause"]) == (
        "completed",
        None,
        "Stopped",
    )
    assert stage.log.state("types-stop").state.status == "completed"
    following = await stage.run("types-stop", {"graph": graph("next", {"only": "noted"})})
    assert (following["status"], following["start"]["source"]) == ("completed", "thread")


# --- servers -------------------------------------------------------------------------------------


async def test_a_request_is_tried_again_as_often_as_its_config_says(
    calling: Stage, server: LocalServer
) -> None:
    """ERR-11: on the same effect key."""
    AWAY["/away"] = 2
    config: JsonObject = {"url": f"{server.url}/away", "maxRetries": 2}
    result = await calling.run(
        "types-retry", {"graph": graph("retry", {"get": ("http_request", config)})}
    )
    assert result["results"]["get"]["status"] == 200
    assert [asked.path for asked in server.asked] == ["/away"] * 3
    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1


async def test_a_failed_request_follows_its_error_edge_and_is_not_tried_again_by_default(
    calling: Stage, server: LocalServer
) -> None:
    AWAY["/gone"] = 1
    document = graph(
        "guarded",
        {"get": ("http_request", {"url": f"{server.url}/gone"}), "handle": "noted"},
        "get.error -> handle.error",
    )
    result = await calling.run("types-guarded", {"graph": document})
    assert result["results"]["get"]["error"] == {
        "message": "127.0.0.1 answered 503",
        "code": "Unavailable",
        "node_id": "get",
        "retryable": True,
        "details": {"status": 503},
    }
    assert len(server.asked) == 1


async def test_a_worker_without_allowed_hosts_calls_nobody(
    stage: Stage, server: LocalServer
) -> None:
    document = graph("barred", {"get": ("http_request", {"url": server.url})})
    failure = await failure_of(await stage.start("types-barred", graph=document))
    assert "this worker may not call 127.0.0.1" in failure.message
    assert failure.details[0]["status"] == "failed"
    assert server.asked == []


# --- the key -------------------------------------------------------------------------------------


async def everything_kept(handle: Handle, log_url: str) -> bytes:
    """Return a run's history and every byte of the log beside it."""
    history = await handle.fetch_history()
    raw = b"".join(event.SerializeToString() for event in history.events)
    base = Path(log_url.removeprefix("sqlite:///"))
    files = [base, *(base.with_name(base.name + end) for end in ("-wal", "-shm"))]
    stored = b"".join(path.read_bytes() for path in files if path.is_file())
    return history.to_json().encode() + raw + stored


@pytest.mark.parametrize("status", [200, 400, 401])
async def test_the_key_is_neither_in_the_history_nor_in_the_log(
    calling: Stage, server: LocalServer, log_url: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where the server quotes it back."""
    caplog.set_level("DEBUG")
    config: JsonObject = {
        "baseUrl": f"{server.url}/quoting/{status}",
        "model": "m",
        "apiKeyEnv": VARIABLE,
    }
    document = graph(
        "secret", {"ask": ("chat", config), "tell": "reply"}, "ask.response -> tell.message"
    )
    handle = await calling.start(f"types-key-{status}", graph=document, message="hello")
    await closed(handle)
    kept = await everything_kept(handle, log_url)
    assert server.asked[0].headers["authorization"] == f"Bearer {SECRET}"
    assert VARIABLE.encode() in kept
    assert SECRET.encode() not in kept
    assert SECRET not in caplog.text
    assert SECRET not in json.dumps(await handle.query("state"))
    if status == 200:
        last = calling.log.messages(f"types-key-{status}")[-1]
        assert last["content"] == "you sent Bearer [key]"
