"""Which hosts a worker may call: its configuration, and nothing a graph says."""

import re
from collections.abc import Sequence

import httpx

from activities.nodes import NodeError
from seeding.errors import InvalidSettings

SETTING = "FERMATA_HTTP_HOSTS"

_ENTRY = re.compile(r"(?P<host>[a-z0-9_.-]+|\[[0-9a-f:.]+\])(:(?P<port>\d{1,5}))?")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def check_hosts(allowed: Sequence[str]) -> None:
    """Refuse a list of hosts that could not mean what its author thinks.

    Raises:
        InvalidSettings: An entry is no ``host`` or ``host:port``.
    """
    for entry in allowed:
        if _ENTRY.fullmatch(entry.lower()) is None:
            raise InvalidSettings(
                f"{SETTING} names {entry!r}; an entry is a host, or host:port for a port other "
                "than the scheme's own, such as api.example.org or localhost:8080"
            )


def read_url(text: str, allowed: Sequence[str]) -> httpx.URL:
    """Return the URL that ``text`` is, if its host may be called.

    Args:
        text: An absolute ``http`` or ``https`` URL.
        allowed: Entries of ``FERMATA_HTTP_HOSTS``.

    Raises:
        NodeError: ``InvalidRequest`` where it is none, ``HostNotAllowed`` where the host may
            not be called.
    """
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError) as error:
        raise NodeError(f"{text[:200]!r} is no URL: {error}", code="InvalidRequest") from None
    if url.scheme not in _DEFAULT_PORTS or not url.host:
        raise NodeError(f"{text[:200]!r} is no absolute http or https URL", code="InvalidRequest")
    if url.userinfo:
        raise NodeError(
            "a URL with a user name or password is refused: it would be kept with the run",
            code="InvalidRequest",
        )
    if not is_allowed(url, allowed):
        raise NodeError(
            f"this worker may not call {_address(url)}; its {SETTING} allows "
            f"{', '.join(allowed) or 'no host'}",
            code="HostNotAllowed",
            details={"host": url.host, "port": _port(url)},
        )
    return url


def is_allowed(url: httpx.URL, allowed: Sequence[str]) -> bool:
    """Return whether the host of a URL may be called.

    An entry without a port allows the scheme's own port, one with a port just that port.
    """
    for entry in allowed:
        found = _ENTRY.fullmatch(entry.lower())
        if found is None or found["host"].strip("[]") != _host(url):
            continue
        port = int(found["port"]) if found["port"] else _DEFAULT_PORTS[url.scheme]
        if port == _port(url):
            return True
    return False


def _host(url: httpx.URL) -> str:
    return url.raw_host.decode("ascii").lower().strip("[]")


def _port(url: httpx.URL) -> int:
    return url.port or _DEFAULT_PORTS[url.scheme]


def _address(url: httpx.URL) -> str:
    return f"{url.host}:{_port(url)}"
