"""Which hosts a worker may call (``FERMATA_HTTP_HOSTS``)."""

import httpx
import pytest

from activities import NodeError
from activities.builtin_nodes.hosts import check_hosts, is_allowed, read_url
from client.settings import settings
from seeding.errors import InvalidSettings

ALLOWED = ("api.example.org", "Localhost:8080", "[::1]:9000")


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://api.example.org/x", True),
        ("http://api.example.org", True),
        ("https://API.Example.org", True),
        ("https://api.example.org:443/", True),
        ("https://api.example.org:8443/", False),
        ("https://example.org/", False),
        ("https://api.example.org.evil.com/", False),
        ("https://xapi.example.org/", False),
        ("http://localhost:8080/", True),
        ("http://localhost/", False),
        ("http://127.0.0.1:8080/", False),
        ("http://[::1]:9000/", True),
        ("http://[::1]/", False),
    ],
)
def test_a_host_is_allowed_by_its_name_and_port(url: str, allowed: bool):
    assert is_allowed(httpx.URL(url), ALLOWED) is allowed


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://elsewhere.org", "HostNotAllowed"),
        ("file:///etc/passwd", "InvalidRequest"),
        ("api.example.org/x", "InvalidRequest"),
        ("https:///x", "InvalidRequest"),
        ("http://localhost:port/", "InvalidRequest"),
        ("https://user:secret@api.example.org/", "InvalidRequest"),
        ("https://api.example.org@elsewhere.org/", "InvalidRequest"),
    ],
)
def test_a_url_that_may_not_be_called_is_refused_by_name(url: str, code: str):
    with pytest.raises(NodeError) as refused:
        read_url(url, ALLOWED)
    assert (refused.value.code, refused.value.retryable) == (code, False)
    assert "secret" not in refused.value.message


def test_the_refusal_names_host_and_setting():
    with pytest.raises(NodeError) as refused:
        read_url("https://elsewhere.org/x", ("api.example.org",))
    assert refused.value.message == (
        "this worker may not call elsewhere.org:443; its FERMATA_HTTP_HOSTS allows api.example.org"
    )
    with pytest.raises(NodeError, match="allows no host"):
        read_url("https://elsewhere.org/x", ())


def test_no_host_is_allowed_unless_the_environment_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("FERMATA_HTTP_HOSTS", raising=False)
    assert settings().http_hosts == ()
    monkeypatch.setenv("FERMATA_HTTP_HOSTS", "api.example.org, localhost:8080")
    assert settings().http_hosts == ("api.example.org", "localhost:8080")


@pytest.mark.parametrize("entry", ["https://api.example.org", "a/b", "*.example.org", "host:x"])
def test_an_entry_that_is_no_host_stops_the_worker_at_its_start(entry: str):
    check_hosts(ALLOWED)
    with pytest.raises(InvalidSettings, match="FERMATA_HTTP_HOSTS names"):
        check_hosts(("api.example.org", entry))
