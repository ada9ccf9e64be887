"""``chat`` and the editor's ``chat_model``: ask a model on an OpenAI-compatible server.

The key never enters the graph, the history, the log or a message: config ``apiKeyEnv`` names
an environment variable of the worker, it is read when the request is made, and wherever the
server quotes it back it is blotted out. What a server says when it refuses a key (401, 403) is
not repeated at all, because servers quote parts of it.

A ``chat`` says nothing on the thread by itself: wire ``response`` to a ``reply``, or append
``message`` with a ``set``. It would else be said twice.
"""

import json
import os
import re
from collections.abc import Sequence

import httpx

from activities.builtin_nodes.exchange import Answer, Request, exchange
from activities.builtin_nodes.hosts import read_url
from activities.nodes import NodeCall, NodeError, builtin_node
from seeding.json_values import MAX_PAYLOAD_BYTES
from seeding.model import Json, JsonObject, as_list, as_object
from workflows.control.templates import as_text

DEFAULT_SECONDS = 120.0
ROLES = ("system", "user", "assistant")
BLOT = "[key]"

KEY_ENDINGS = ("_API_KEY", "_TOKEN")
"""How the name of an environment variable ends that a graph may have sent as a key."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SENDABLE = re.compile(r"[\x21-\x7e]+")
_SHOWN = 500


@builtin_node("chat")
async def chat(call: NodeCall) -> JsonObject:
    """Return the model's answer as ``response``, and as the message object ``message``.

    Sent are ``system`` (input, else config), the thread's conversation (messages of the roles
    system, user and assistant whose content is a text), and ``prompt`` (input, else config) as
    the last user message, unless the conversation ends with just that one. Config: ``baseUrl``,
    ``model``, ``temperature``, ``maxTokens``, ``apiKeyEnv``, ``timeout`` in seconds (120),
    ``maxRetries`` (0).

    Raises:
        NodeError: The host may not be called (``HostNotAllowed``), something is missing
            (``InvalidConfig``, ``NoPrompt``), the server refused (``ChatRefused``), did not
            answer (``Unavailable``, ``Timeout``) or gave no answer (``NoAnswer``).
    """
    key = _key(call.config)
    request = Request(
        method="POST",
        url=_address(call),
        headers={
            "Content-Type": "application/json",
            **({} if key is None else {"Authorization": f"Bearer {key}"}),
        },
        body=json.dumps(_question(call), ensure_ascii=False).encode(),
        effect_key=call.effect_key,
        seconds=call.config.get("timeout") or DEFAULT_SECONDS,
        most_bytes=MAX_PAYLOAD_BYTES,
    )
    said = _said(await exchange(request, call.allowed_hosts), key)
    return {"response": said, "message": {"role": "assistant", "content": said}}


@builtin_node("chat_model")
async def chat_model(call: NodeCall) -> JsonObject:
    """Do what ``chat`` does, under the editor's name."""
    return await chat(call)


def _address(call: NodeCall) -> httpx.URL:
    base = call.config.get("baseUrl")
    if not isinstance(base, str) or not base:
        raise NodeError(
            "config baseUrl is missing; it is the server's address, such as "
            "https://api.example.org/v1",
            code="InvalidConfig",
        )
    url = read_url(base, call.allowed_hosts)
    return url.copy_with(path=f"{url.path.rstrip('/')}/chat/completions")


def _question(call: NodeCall) -> JsonObject:
    model = call.config.get("model")
    if not isinstance(model, str) or not model:
        raise NodeError("config model is missing", code="InvalidConfig")
    question: JsonObject = {"model": model, "messages": _messages(call)}
    for name, field in (("temperature", "temperature"), ("maxTokens", "max_tokens")):
        if call.config.get(name) is not None:
            question[field] = call.config[name]
    return question


def _messages(call: NodeCall) -> list[JsonObject]:
    given = {**call.config, **call.inputs}
    messages = _conversation(as_list(call.internal.get("__messages__")) or [])
    if given.get("system") not in (None, ""):
        messages.insert(0, {"role": "system", "content": as_text(given["system"])})
    if given.get("prompt") not in (None, ""):
        prompt: JsonObject = {"role": "user", "content": as_text(given["prompt"])}
        if not messages or messages[-1] != prompt:
            messages.append(prompt)
    if not any(message["role"] == "user" for message in messages):
        raise NodeError(
            "there is nothing to ask: no input prompt, and no user message on the thread",
            code="NoPrompt",
        )
    return messages


def _conversation(messages: Sequence[Json]) -> list[JsonObject]:
    objects = [message for message in map(as_object, messages) if message is not None]
    return [
        {"role": message["role"], "content": message["content"]}
        for message in objects
        if message.get("role") in ROLES and isinstance(message.get("content"), str)
    ]


def _key(config: JsonObject) -> str | None:
    """Return the key, or None where the config names no variable."""
    name = config.get("apiKeyEnv")
    if name in (None, ""):
        return None
    if not isinstance(name, str) or _VARIABLE.fullmatch(name) is None:
        # What stands there may be the key itself.
        raise NodeError(
            "config apiKeyEnv is no name of an environment variable; never put the key itself "
            "there",
            code="InvalidConfig",
        )
    if not name.endswith(KEY_ENDINGS):
        # A graph comes from whoever starts a run; the worker's other variables are not its own.
        # The name is not repeated: it may be the key itself.
        raise NodeError(
            "config apiKeyEnv names no key: only variables whose name ends in "
            f"{' or '.join(KEY_ENDINGS)} may be used by a graph",
            code="InvalidConfig",
        )
    key = os.environ.get(name, "").strip()
    if not key:
        raise NodeError(
            f"this worker has no environment variable {name}, which config apiKeyEnv names",
            code="InvalidConfig",
        )
    if _SENDABLE.fullmatch(key) is None:
        raise NodeError(
            f"the environment variable {name} holds what no header can carry",
            code="InvalidConfig",
        )
    return key


def _said(answer: Answer, key: str | None) -> str:
    """Return what the model said.

    Raises:
        NodeError: The server refused, or its answer holds no text.
    """
    parsed = answer.json()
    body = as_object(parsed[0]) if parsed is not None else None
    if not 200 <= answer.status < 300:
        raise NodeError(
            f"the server answered {answer.status}{_reason(answer.status, body, key)}",
            code="ChatRefused",
            details={"status": answer.status},
        )
    choices = as_list((body or {}).get("choices")) or [None]
    message = as_object((as_object(choices[0]) or {}).get("message")) or {}
    said = message.get("content")
    if not isinstance(said, str):
        raise NodeError(
            "the server's answer has no text at choices.0.message.content", code="NoAnswer"
        )
    return _blotted(said, key)


def _reason(status: int, body: JsonObject | None, key: str | None) -> str:
    if status in (401, 403):
        return ": it does not accept the key that config apiKeyEnv names" if key else ""
    error = (body or {}).get("error")
    text = (as_object(error) or {}).get("message", error)
    return f": {_blotted(text, key)[:_SHOWN]}" if isinstance(text, str) else ""


def _blotted(text: str, key: str | None) -> str:
    return text if key is None else text.replace(key, BLOT)
