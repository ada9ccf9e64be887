"""``http_request``: one request to a server this worker may call."""

import json
from collections.abc import Iterator

from activities.builtin_nodes.exchange import DEFAULT_SECONDS, Request, exchange
from activities.builtin_nodes.hosts import read_url
from activities.nodes import NodeCall, NodeError, builtin_node
from seeding.json_values import MAX_VALUE_BYTES
from seeding.model import Json, JsonObject, as_list, as_object
from workflows.graph.flow_checks import METHODS

OWN_HEADERS = ("host", "content-length", "transfer-encoding", "connection", "idempotency-key")
"""Headers that the request itself decides."""


@builtin_node("http_request")
async def http_request(call: NodeCall) -> JsonObject:
    """Send a request and return ``status``, ``headers``, ``text`` and, where it is some, ``json``.

    ``url``, ``method`` (GET), ``headers`` and ``body`` come from the inputs, else from the
    config; a body that is no text is sent as JSON. Config ``timeout`` is in seconds (30). The
    effect key goes along as ``Idempotency-Key``. Every status completes the node but 502, 503
    and 504, so that a graph can look at it; those and a failed connection are retryable, and
    config ``maxRetries`` (0) says how often it is tried again.

    Raises:
        NodeError: The host may not be called (``HostNotAllowed``), the request is none
            (``InvalidRequest``), the answer is above 64 KB (``OutputTooLarge``), or the server
            did not answer (``Unavailable``, ``Timeout``).
    """
    given = {**call.config, **call.inputs}
    url = given.get("url")
    if not isinstance(url, str) or not url:
        raise NodeError("input url is missing; give it by a wire or in the config", code="NoUrl")
    body, body_type = _body(given.get("body"))
    headers = _headers(given.get("headers"))
    if body_type is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = body_type
    request = Request(
        method=_method(given.get("method")),
        url=read_url(url, call.allowed_hosts),
        headers=headers,
        body=body,
        effect_key=call.effect_key,
        seconds=call.config.get("timeout") or DEFAULT_SECONDS,
        most_bytes=MAX_VALUE_BYTES,
    )
    answer = await exchange(request, call.allowed_hosts)
    parsed = answer.json()
    return {
        "status": answer.status,
        "headers": answer.headers,
        "text": answer.text,
        "url": answer.url,
        "method": answer.method,
        **({} if parsed is None else {"json": parsed[0]}),
    }


def _method(given: Json) -> str:
    method = "GET" if given in (None, "") else given
    if not isinstance(method, str) or method.upper() not in METHODS:
        raise NodeError(f"method {method!r} is none of {', '.join(METHODS)}", code="InvalidRequest")
    return method.upper()


def _body(given: Json) -> tuple[bytes | None, str | None]:
    """Return the bytes to send and the content type they need."""
    if given is None or given == "":
        return None, None
    if isinstance(given, str):
        return given.encode(), None
    return json.dumps(given, ensure_ascii=False, separators=(",", ":")).encode(), "application/json"


def _headers(given: Json) -> dict[str, str]:
    """Read an object of headers, or a list of ``{"name", "value"}`` as the editor writes it."""
    headers: dict[str, str] = {}
    for name, value in _pairs(given):
        if not isinstance(name, str) or not name or not isinstance(value, str | int | float):
            raise NodeError(
                "headers are an object of texts by name, or a list of name and value",
                code="InvalidRequest",
            )
        if name.lower() in OWN_HEADERS:
            raise NodeError(f"header {name!r} cannot be set", code="InvalidRequest")
        headers[name] = str(value)
    return headers


def _pairs(given: Json) -> Iterator[tuple[Json, Json]]:
    by_name = as_object(given)
    if by_name is not None:
        yield from by_name.items()
        return
    listed = as_list(given)
    if listed is None and given not in (None, ""):
        yield None, None
    for item in listed or []:
        entry = as_object(item) or {}
        yield entry.get("name", entry.get("key")), entry.get("value")
