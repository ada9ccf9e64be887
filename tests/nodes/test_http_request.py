"""``http_request``, over HTTP against a server on loopback."""

import gzip
import socket
from collections.abc import Sequence
from contextlib import closing

import pytest

from activities import NodeError
from activities.builtin_nodes.http_request import http_request
from seeding.model import Json, JsonObject
from tests.nodes.calls import KEY, call_of
from tests.nodes.local_server import Answering, Asked, LocalServer, Reply, local_server


async def request(
    answering: Answering, config: JsonObject | None = None, **inputs: Json
) -> tuple[JsonObject, LocalServer]:
    """Return what the node gives, and the server; ``url`` is the path asked for."""
    with local_server(answering) as server:
        given = {**inputs, "url": server.url + str(inputs.get("url", "/"))}
        return await http_request(call_of(config or {}, given, allowed=[server.host])), server


async def refusal(
    url: str,
    config: JsonObject | None = None,
    *,
    allowed: Sequence[str] = ("127.0.0.1",),
    **inputs: Json,
) -> NodeError:
    with pytest.raises(NodeError) as refused:
        await http_request(call_of(config or {}, {**inputs, "url": url}, allowed=allowed))
    return refused.value


async def failure(answering: Answering, config: JsonObject | None = None) -> NodeError:
    with local_server(answering) as server:
        return await refusal(server.url, config, allowed=[server.host])


async def test_what_the_server_answers_comes_out_by_port():
    answer = Reply(200, b'{"a": [1, null]}', {"Content-Type": "text/plain", "Set-Cookie": "c=1"})
    outputs, server = await request(lambda asked: answer, url="/x?q=%20")
    headers = outputs.pop("headers")
    assert outputs == {
        "status": 200,
        "text": '{"a": [1, null]}',
        "json": {"a": [1, None]},
        "url": f"{server.url}/x?q=%20",
        "method": "GET",
    }
    assert headers["content-type"] == "text/plain"
    assert "set-cookie" not in headers
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("GET", "/x?q=%20", b"")


async def test_the_effect_key_goes_along():
    """A server can tell a repeated request from a second one."""
    _, server = await request(lambda asked: Reply())
    assert server.asked[0].headers["idempotency-key"] == KEY


async def test_inputs_go_before_the_config():
    config: JsonObject = {
        "url": "http://elsewhere.org/",
        "method": "put",
        "headers": {"X-A": "config"},
        "body": "from the config",
    }
    _, server = await request(lambda asked: Reply(), config, body="from a wire")
    (asked,) = server.asked
    assert (asked.method, asked.body, asked.headers["x-a"]) == ("PUT", b"from a wire", "config")


@pytest.mark.parametrize(
    ("body", "sent", "content_type"),
    [
        ({"ä": [1]}, '{"ä":[1]}'.encode(), "application/json"),
        ([], b"[]", "application/json"),
        (False, b"false", "application/json"),
        ("plain", b"plain", None),
        ("", b"", None),
        (None, b"", None),
    ],
)
async def test_a_body_that_is_no_text_is_sent_as_json(
    body: Json, sent: bytes, content_type: str | None
):
    _, server = await request(lambda asked: Reply(), {"method": "POST"}, body=body)
    assert server.asked[0].body == sent
    assert server.asked[0].headers.get("content-type") == content_type


async def test_the_editors_list_of_headers_is_read():
    config: JsonObject = {
        "headers": [{"name": "X-A", "value": "1"}, {"key": "Content-Type", "value": "x/y"}]
    }
    _, server = await request(lambda asked: Reply(), config, body={}, method="POST")
    assert server.asked[0].headers["x-a"] == "1"
    assert server.asked[0].headers["content-type"] == "x/y"


@pytest.mark.parametrize("status", [201, 404, 429, 500])
async def test_a_status_is_an_output_and_no_failure(status: int):
    outputs, _ = await request(lambda asked: Reply(status, b"no"))
    assert (outputs["status"], outputs["text"]) == (status, "no")
    assert "json" not in outputs


@pytest.mark.parametrize("body", [b"", b"NaN", b'{"a": Infinity}', b"9007199254740993", b"\xff"])
async def test_a_body_that_is_no_json_has_no_json_output(body: bytes):
    outputs, _ = await request(lambda asked: Reply(200, body, {"Content-Type": "application/json"}))
    assert "json" not in outputs


@pytest.mark.parametrize("charset", ["latin-1", "no-such-charset", "zip", "unicode_escape"])
async def test_a_text_in_any_charset_comes_out_as_one(charset: str):
    headers = {"Content-Type": f"text/plain; charset={charset}"}
    outputs, _ = await request(lambda asked: Reply(200, "ü\\ud800".encode("latin-1"), headers))
    outputs["text"].encode()


# --- failures ------------------------------------------------------------------------------------


async def test_a_host_that_is_not_allowed_is_not_called():
    with local_server(lambda asked: Reply()) as server:
        refused = await refusal(server.url, allowed=["127.0.0.1", "localhost"])
        assert (refused.code, refused.retryable) == ("HostNotAllowed", False)
        assert refused.details == {"host": "127.0.0.1", "port": server.port}
        assert server.asked == []


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_a_server_that_is_away_is_a_retryable_failure(status: int):
    refused = await failure(lambda asked: Reply(status, b"down"))
    assert (refused.code, refused.retryable) == ("Unavailable", True)
    assert refused.message == f"127.0.0.1 answered {status}"
    assert refused.details == {"status": status}


async def test_a_connection_that_fails_is_a_retryable_failure():
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    refused = await refusal(f"http://127.0.0.1:{port}", allowed=[f"127.0.0.1:{port}"])
    assert (refused.code, refused.retryable) == ("Unavailable", True)
    assert refused.message == "127.0.0.1 could not be reached: ConnectError"
    refused = await failure(lambda asked: Reply(None))
    assert (refused.code, refused.retryable) == ("Unavailable", True)


async def test_a_server_that_does_not_answer_in_time_is_a_retryable_failure():
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        refused = await refusal(
            f"http://127.0.0.1:{port}", {"timeout": 0.05}, allowed=[f"127.0.0.1:{port}"]
        )
    assert (refused.code, refused.retryable) == ("Timeout", True)
    assert refused.message == "127.0.0.1 did not answer within 0.05 s"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"x" * (64 * 1024 + 1)),
        Reply(200, gzip.compress(b"x" * 1_000_000), {"Content-Encoding": "gzip"}),
    ],
)
async def test_an_answer_above_64_kb_is_refused_by_name(reply: Reply):
    refused = await failure(lambda asked: reply)
    assert (refused.code, refused.details) == ("OutputTooLarge", {"limit": 65536})


async def test_an_answer_of_just_64_kb_is_taken():
    outputs, _ = await request(lambda asked: Reply(200, b"x" * 64 * 1024))
    assert len(outputs["text"]) == 65536


@pytest.mark.parametrize(
    ("config", "inputs"),
    [
        ({}, {"method": "STEAL"}),
        ({}, {"headers": {"Host": "elsewhere.org"}}),
        ({}, {"headers": {"Idempotency-Key": "mine"}}),
        ({}, {"headers": {"X-A": "line\r\nX-B: injected"}}),
        ({}, {"headers": {"X A": "1"}}),
        ({}, {"headers": {"X-A": "schlüssel\u2028"}}),
        ({}, {"headers": {"X-A": None}}),
        ({}, {"headers": "X-A: 1"}),
        ({}, {"headers": [{"value": "1"}]}),
    ],
)
async def test_what_cannot_be_sent_is_refused_without_quoting_it(
    config: JsonObject, inputs: JsonObject
):
    with local_server(lambda asked: Reply()) as server:
        refused = await refusal(server.url, config, allowed=[server.host], **inputs)
        assert (refused.code, refused.retryable) == ("InvalidRequest", False)
        assert "injected" not in refused.message
        assert server.asked == []


async def test_without_a_url_there_is_no_request():
    with pytest.raises(NodeError, match="input url is missing") as refused:
        await http_request(call_of({"url": ""}))
    assert refused.value.code == "NoUrl"


# --- redirects -----------------------------------------------------------------------------------


def redirecting(location: str, status: int = 302) -> Answering:
    def answering(asked: Asked) -> Reply:
        if asked.path == "/there":
            return Reply(200, b"arrived")
        return Reply(status, b"", {"Location": location})

    return answering


async def test_a_redirect_on_its_host_is_followed():
    outputs, server = await request(redirecting("/there"))
    assert (outputs["text"], outputs["url"]) == ("arrived", f"{server.url}/there")


async def test_a_redirect_to_another_host_is_the_answer():
    with local_server(lambda asked: Reply(200, b"stolen")) as other:
        outputs, _ = await request(redirecting(f"http://localhost:{other.port}/there"))
        assert (outputs["status"], outputs["text"]) == (302, "")
        assert outputs["headers"]["location"] == f"http://localhost:{other.port}/there"
        assert other.asked == []


async def test_a_redirect_to_a_port_that_is_not_allowed_is_the_answer():
    with local_server(lambda asked: Reply(200, b"stolen")) as other:
        outputs, _ = await request(redirecting(f"{other.url}/there"))
        assert outputs["status"] == 302
        assert other.asked == []


async def test_endless_redirects_come_to_an_end():
    refused = await failure(redirecting("/again"))
    assert (refused.code, refused.message) == (
        "Unavailable",
        "127.0.0.1 redirected more than 5 times",
    )


async def test_a_post_that_is_redirected_by_307_is_sent_again_as_it_was():
    _, server = await request(redirecting("/there", 307), {"method": "POST"}, body={"a": 1})
    assert [(asked.method, asked.path, asked.body) for asked in server.asked] == [
        ("POST", "/", b'{"a":1}'),
        ("POST", "/there", b'{"a":1}'),
    ]
