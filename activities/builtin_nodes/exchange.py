"""One HTTP exchange: a request with limits, an answer in memory, failures by name."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext

import httpx

from activities.builtin_nodes.hosts import is_allowed
from activities.nodes import NodeError
from seeding.json_values import find_not_json
from seeding.model import Json

RETRYABLE_STATUSES = (502, 503, 504)
"""A server or what stands before it says that a further attempt may help."""

MAX_REDIRECTS = 5
DEFAULT_SECONDS = 30.0


@dataclass(frozen=True)
class Request:
    """What to send.

    Attributes:
        method: In capitals.
        url: Where to, already allowed.
        headers: By name, without the effect key.
        body: What is sent, or None.
        effect_key: Sent along as ``Idempotency-Key``, so that a server can tell a repeated
            request from a second one.
        seconds: How long the exchange may take in all.
        most_bytes: How large the answer's body may be.
    """

    method: str
    url: httpx.URL
    effect_key: str
    most_bytes: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    seconds: float = DEFAULT_SECONDS


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes:
        status: The HTTP status.
        headers: By lower-case name, without cookies.
        text: The body as a text.
        url: Where it came from in the end.
        method: The method of the last request.
    """

    status: int
    headers: dict[str, str]
    text: str
    url: str
    method: str

    def json(self) -> tuple[Json] | None:
        """Return the body as a JSON value, alone in a tuple; None where it is none."""
        try:
            value: Json = json.loads(self.text, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return None
        return None if find_not_json(value) is not None else (value,)


async def exchange(request: Request, allowed: Sequence[str]) -> Answer:
    """Send a request and return the answer, whatever its status but 502, 503 and 504.

    A redirect is followed where it stays on its host and that address is allowed too, and
    never from https to http; any other one is the answer.

    Raises:
        NodeError: ``Unavailable`` or ``Timeout``, both retryable; ``InvalidRequest`` for what
            cannot be sent; ``OutputTooLarge`` for an answer past the limit. No message holds
            a header.
    """
    headers = {**request.headers, "Idempotency-Key": request.effect_key}
    try:
        async with (
            asyncio.timeout(request.seconds),
            httpx.AsyncClient(verify=_certificates(), timeout=request.seconds) as client,
        ):
            message = client.build_request(
                request.method, request.url, headers=headers, content=request.body
            )
            return await _send(client, message, request, allowed)
    except (TimeoutError, httpx.TimeoutException):
        # The text of these errors may quote what was sent: it is not passed on.
        raise NodeError(
            f"{request.url.host} did not answer within {request.seconds:g} s",
            code="Timeout",
            retryable=True,
        ) from None
    except (httpx.LocalProtocolError, httpx.UnsupportedProtocol, UnicodeError, ValueError):
        raise NodeError(
            "the request cannot be sent: a header holds a character that no header may hold",
            code="InvalidRequest",
        ) from None
    except (httpx.HTTPError, OSError) as error:
        raise NodeError(
            f"{request.url.host} could not be reached: {type(error).__name__}",
            code="Unavailable",
            retryable=True,
        ) from None


async def _send(
    client: httpx.AsyncClient, message: httpx.Request, request: Request, allowed: Sequence[str]
) -> Answer:
    for _ in range(MAX_REDIRECTS + 1):
        response = await client.send(message, stream=True)
        try:
            following = response.next_request
            if following is not None and _may_follow(message.url, following.url, allowed):
                message = following
                continue
            return await _read(response, request.most_bytes)
        finally:
            await response.aclose()
    raise NodeError(
        f"{request.url.host} redirected more than {MAX_REDIRECTS} times", code="Unavailable"
    )


def _may_follow(here: httpx.URL, there: httpx.URL, allowed: Sequence[str]) -> bool:
    if there.scheme not in ("http", "https") or there.host != here.host or there.userinfo:
        return False
    return not (here.scheme == "https" != there.scheme) and is_allowed(there, allowed)


async def _read(response: httpx.Response, most_bytes: int) -> Answer:
    if response.status_code in RETRYABLE_STATUSES:
        raise NodeError(
            f"{response.url.host} answered {response.status_code}",
            code="Unavailable",
            retryable=True,
            details={"status": response.status_code},
        )
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > most_bytes:
            raise NodeError(
                f"the answer of {response.url.host} is larger than {most_bytes} bytes",
                code="OutputTooLarge",
                details={"limit": most_bytes},
            )
        parts.append(part)
    headers = {
        name: value for name, value in response.headers.items() if name.lower() != "set-cookie"
    }
    return Answer(
        status=response.status_code,
        headers=headers,
        text=_text(b"".join(parts), response.charset_encoding),
        url=str(response.url),
        method=response.request.method,
    )


def _text(body: bytes, charset: str | None) -> str:
    try:
        text = body.decode(charset or "utf-8", errors="replace")
        text.encode()
    except (LookupError, UnicodeError):
        return body.decode("utf-8", errors="replace")
    return text


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON value")


@cache
def _certificates() -> SSLContext:
    """Return the trusted certificates; reading them takes too long to do for each request."""
    return httpx.create_ssl_context()
