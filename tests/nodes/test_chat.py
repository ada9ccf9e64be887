"""``chat`` and ``chat_model``, over HTTP against a server on loopback."""

import pytest

from activities import NodeError
from activities.builtin_nodes.chat import chat, chat_model
from seeding.model import Json, JsonObject
from tests.nodes.calls import KEY, call_of
from tests.nodes.local_server import Answering, Asked, LocalServer, Reply, chat_answer, local_server

SECRET = "sk-very-secret-0123456789"
VARIABLE = "CHAT_TEST_API_KEY"
USER: JsonObject = {"id": "r:0:0", "role": "user", "content": "hello"}


@pytest.fixture(autouse=True)
def key_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


def says(text: str) -> Answering:
    return lambda asked: Reply.of_json(chat_answer(text))


async def ask(
    answering: Answering,
    config: JsonObject | None = None,
    messages: list[Json] | None = None,
    **inputs: Json,
) -> tuple[JsonObject, LocalServer]:
    with local_server(answering) as server:
        full = {"baseUrl": f"{server.url}/v1", "model": "m-1", **(config or {})}
        internal = {"__messages__": messages or []}
        call = call_of(full, inputs, allowed=[server.host], internal=internal)
        return await chat(call), server


async def refusal(answering: Answering, config: JsonObject | None = None) -> NodeError:
    with pytest.raises(NodeError) as refused:
        await ask(answering, config, prompt="hello")
    return refused.value


async def test_the_models_answer_comes_out_as_text_and_as_message():
    outputs, server = await ask(says("Hi."), prompt="hello")
    assert outputs == {"response": "Hi.", "message": {"role": "assistant", "content": "Hi."}}
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
    assert asked.json() == {"model": "m-1", "messages": [{"role": "user", "content": "hello"}]}
    assert asked.headers["idempotency-key"] == KEY
    assert "authorization" not in asked.headers


async def test_settings_of_the_model_are_sent_under_their_names():
    config: JsonObject = {"temperature": 0, "maxTokens": 9, "system": "Be brief."}
    _, server = await ask(says(""), config, prompt={"a": 1})
    assert server.asked[0].json() == {
        "model": "m-1",
        "temperature": 0,
        "max_tokens": 9,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": '{"a":1}'},
        ],
    }


async def test_the_conversation_is_sent_and_the_prompt_is_its_last_message():
    """Contract 6: reads ``__messages__``."""
    messages = [
        USER,
        {"role": "assistant", "content": "hi", "name": "x"},
        {"role": "tool", "content": "no role of a conversation"},
        {"role": "user", "content": [{"type": "image"}]},
        "no message",
    ]
    _, server = await ask(says("ok"), {"system": "config"}, messages, prompt="and?", system="wire")
    assert server.asked[0].json()["messages"] == [
        {"role": "system", "content": "wire"},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "and?"},
    ]


@pytest.mark.parametrize("inputs", [{}, {"prompt": "hello"}, {"prompt": ""}])
async def test_a_prompt_the_conversation_ends_with_is_not_said_twice(inputs: JsonObject):
    _, server = await ask(says("ok"), None, [USER], **inputs)
    assert server.asked[0].json()["messages"] == [{"role": "user", "content": "hello"}]


async def test_with_nothing_to_ask_nothing_is_sent():
    with pytest.raises(NodeError) as refused:
        await ask(says("ok"), None, [{"role": "assistant", "content": "hi"}])
    assert refused.value.code == "NoPrompt"


async def test_the_editors_chat_model_is_the_same():
    with local_server(says("Hi.")) as server:
        config: JsonObject = {"baseUrl": server.url + "/", "model": "m"}
        outputs = await chat_model(call_of(config, {"prompt": "x"}, allowed=[server.host]))
        assert outputs["response"] == "Hi."
        assert server.asked[0].path == "/chat/completions"


# --- failures ------------------------------------------------------------------------------------


async def test_a_host_that_is_not_allowed_is_not_asked():
    with pytest.raises(NodeError) as refused:
        await chat(
            call_of({"baseUrl": "https://api.example.org/v1", "model": "m"}, {"prompt": "x"})
        )
    assert refused.value.code == "HostNotAllowed"


@pytest.mark.parametrize("config", [{"model": "m"}, {"baseUrl": "http://127.0.0.1:1"}])
async def test_what_the_config_lacks_is_named(config: JsonObject):
    with pytest.raises(NodeError, match=r"config (baseUrl|model) is missing") as refused:
        await chat(call_of(config, {"prompt": "x"}, allowed=["127.0.0.1:1"]))
    assert refused.value.code == "InvalidConfig"


async def test_a_server_that_refuses_is_named_with_its_reason():
    reply = Reply.of_json({"error": {"message": "no such model: m-1", "type": "x"}}, 404)
    refused = await refusal(lambda asked: reply)
    assert refused.message == "the server answered 404: no such model: m-1"
    assert (refused.code, refused.retryable, refused.details) == (
        "ChatRefused",
        False,
        {"status": 404},
    )


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        {"choices": []},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [None]},
    ],
)
async def test_an_answer_without_a_text_is_a_failure(answer: Json):
    refused = await refusal(lambda asked: Reply.of_json(answer))
    assert (refused.code, refused.retryable) == ("NoAnswer", False)


async def test_a_server_that_is_away_is_a_retryable_failure():
    refused = await refusal(lambda asked: Reply(503))
    assert (refused.code, refused.retryable) == ("Unavailable", True)


# --- the key -------------------------------------------------------------------------------------


async def test_the_key_is_read_where_the_request_is_made():
    _, server = await ask(says("ok"), {"apiKeyEnv": VARIABLE}, prompt="x")
    assert server.asked[0].headers["authorization"] == f"Bearer {SECRET}"


def quoting(status: int) -> Answering:
    """Answer with the header in every place an answer has."""

    def answering(asked: Asked) -> Reply:
        quoted = f"you sent {asked.headers['authorization']}"
        answer = {**chat_answer(quoted), "error": {"message": quoted, "code": quoted}}
        return Reply.of_json(answer, status)

    return answering


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
async def test_a_server_that_quotes_the_key_is_not_repeated(status: int):
    refused = await refusal(quoting(status), {"apiKeyEnv": VARIABLE})
    assert SECRET not in f"{refused.message} {refused.details} {refused.code}"
    if status in (401, 403):
        assert refused.message == (
            f"the server answered {status}: it does not accept the key that config apiKeyEnv names"
        )
    else:
        assert refused.message == f"the server answered {status}: you sent Bearer [key]"


async def test_a_model_that_says_the_key_is_blotted():
    outputs, _ = await ask(quoting(200), {"apiKeyEnv": VARIABLE}, prompt="x")
    assert outputs["response"] == "you sent Bearer [key]"
    assert outputs["message"]["content"] == "you sent Bearer [key]"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, f"this worker has no environment variable {VARIABLE}, which config apiKeyEnv names"),
        (
            " \n",
            f"this worker has no environment variable {VARIABLE}, which config apiKeyEnv names",
        ),
        ("sk\nx", f"the environment variable {VARIABLE} holds what no header can carry"),
        ("schlüssel", f"the environment variable {VARIABLE} holds what no header can carry"),
    ],
)
async def test_a_key_that_cannot_be_used_is_named_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, value: str | None, problem: str
):
    monkeypatch.delenv(VARIABLE) if value is None else monkeypatch.setenv(VARIABLE, value)
    refused = await refusal(says("ok"), {"apiKeyEnv": VARIABLE})
    assert (refused.code, refused.message) == ("InvalidConfig", problem)


async def test_a_key_in_the_place_of_its_name_is_not_shown():
    refused = await refusal(says("ok"), {"apiKeyEnv": SECRET})
    assert refused.code == "InvalidConfig"
    assert SECRET not in refused.message


async def test_a_line_end_after_the_key_does_no_harm(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(VARIABLE, f"{SECRET}\n")
    _, server = await ask(says("ok"), {"apiKeyEnv": VARIABLE}, prompt="x")
    assert server.asked[0].headers["authorization"] == f"Bearer {SECRET}"


async def test_only_variables_named_as_keys_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph comes from whoever starts a run: it cannot have any other variable sent."""
    monkeypatch.setenv("DATABASE_URL", "postgresql://somebody:password@localhost/log")
    refused = await refusal(says("ok"), {"apiKeyEnv": "DATABASE_URL"})
    assert refused.code == "InvalidConfig"
    assert "only variables whose name ends in _API_KEY or _TOKEN" in refused.message
    assert "password" not in refused.message
    unnamed = await refusal(says("ok"), {"apiKeyEnv": "sk_live_1234"})
    assert "sk_live" not in unnamed.message
