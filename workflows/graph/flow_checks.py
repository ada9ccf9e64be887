"""What the config of types that direct a run, or call a server, may say."""

from collections.abc import Callable, Iterator, Mapping

from seeding.errors import InvalidGraph
from seeding.model import Json, as_object
from workflows.graph.branch_lists import BRANCHES, IF_TYPES, OPERATORS, branch_list_problems
from workflows.graph.builtin_types import max_retries
from workflows.graph.fields import kind_of
from workflows.graph.model import Node, NodeType

IF_KEYS = (BRANCHES, "matchText", "operator", "caseSensitive")
UPDATE_FIELDS = ("messages", "data", "metadata", "iterationCount", "iterator")
CHAT_KEYS = (
    *("baseUrl", "model", "system", "prompt", "temperature", "maxTokens", "apiKeyEnv"),
    *("timeout", "maxRetries"),
)
REQUEST_KEYS = ("url", "method", "headers", "body", "timeout", "maxRetries")
REDIRECT_KEYS = ("follow_redirects", "followRedirects")
EDITOR_KEYS = (
    *REDIRECT_KEYS,
    *("nodeType", "instanceTitle", "instanceDescription", "instanceBadge"),
    *("dynamicInputs", "dynamicOutputs"),
)
"""What the editor writes into a config for itself, where its type and ours have one name."""

SECRET_KEYS = ("apiKey", "api_key")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
MOST_SECONDS = 280
"""The longest a request may take; the node that makes it has five minutes in all."""

_ANY = NodeType(name="any", kind="effect")


def unknown_keys(
    node: Node, known: tuple[str, ...], passed_over: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield config keys that are not among ``known``, nor among those another check names."""
    for key in node.config:
        if key not in known and key not in passed_over:
            yield f"unknown config key {key!r}; known are {', '.join(known)}"


def text_problem(node: Node, key: str) -> Iterator[str]:
    """Yield the problem of a config value that should be a text and is none."""
    value = node.config.get(key)
    if value is not None and not isinstance(value, str):
        yield f"config {key} is {kind_of(value)}; it must be a text"


def _branch(node: Node) -> Iterator[str]:
    if node.type == "branch":
        yield from unknown_keys(node, IF_KEYS)
    yield from text_problem(node, "matchText")
    operator = node.config.get("operator")
    if operator == "regex":
        yield (
            "config operator 'regex' is not available: a pattern may run for ever on an unlucky "
            f"text; write one of {', '.join(OPERATORS)}, or match in a node of your own"
        )
    elif operator is not None and operator not in OPERATORS:
        yield f"config operator is {operator!r}; write one of {', '.join(OPERATORS)}"
    yield from _boolean(node, "caseSensitive")
    yield from branch_list_problems(node)


def _switch(node: Node) -> Iterator[str]:
    if node.type == "switch":
        yield from unknown_keys(node, (BRANCHES,))
    yield from branch_list_problems(node)


def _no_config(node: Node) -> Iterator[str]:
    for key in node.config:
        yield f"unknown config key {key!r}; type {node.type!r} has no config"


def _set(node: Node) -> Iterator[str]:
    yield from unknown_keys(node, ("state_update",))
    given: Json = node.config.get("state_update")
    update = as_object(given)
    if update is None:
        yield f"config state_update is {kind_of(given)}; it must be an object"
        return
    for field in update:
        if field not in UPDATE_FIELDS:
            yield (
                f"config state_update has an unknown field {field!r}; known are "
                f"{', '.join(UPDATE_FIELDS)}"
            )


def _template(node: Node) -> Iterator[str]:
    if node.type == "template":
        yield from unknown_keys(node, ("template", "strictMode", "fallbackValue"))
    if node.config.get("template") is None:
        yield "config template is missing; it is the text to fill in"
    yield from text_problem(node, "template")
    yield from text_problem(node, "fallbackValue")
    yield from _boolean(node, "strictMode")


def _request(node: Node) -> Iterator[str]:
    yield from unknown_keys(node, REQUEST_KEYS, EDITOR_KEYS)
    for key in REDIRECT_KEYS:
        if node.config.get(key) is False:
            yield (
                f"config {key} cannot be false in this version: redirects are followed on the "
                "same host; leave it out"
            )
    yield from text_problem(node, "url")
    method = node.config.get("method")
    if method is not None and (not isinstance(method, str) or method.upper() not in METHODS):
        yield f"config method is {method!r}; write one of {', '.join(METHODS)}"
    headers = node.config.get("headers")
    if headers is not None and not isinstance(headers, dict | list):
        yield f"config headers is {kind_of(headers)}; it must be an object of texts by name"
    yield from _limits(node)


def _chat(node: Node) -> Iterator[str]:
    for key in SECRET_KEYS:
        if node.config.get(key):
            yield (
                f"config {key} would be kept with the graph; put the key into an environment "
                "variable of the worker and name that in apiKeyEnv"
            )
    if node.type == "chat":
        yield from unknown_keys(node, CHAT_KEYS, SECRET_KEYS)
        for key in ("baseUrl", "model"):
            if node.config.get(key) is None:
                yield f"config {key} is missing"
    for key in ("baseUrl", "model", "system", "prompt", "apiKeyEnv"):
        yield from text_problem(node, key)
    for key in ("temperature", "maxTokens"):
        value = node.config.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            yield f"config {key} is {kind_of(value)}; it must be a number"
    yield from _limits(node)


def _boolean(node: Node, key: str) -> Iterator[str]:
    value = node.config.get(key)
    if value is not None and not isinstance(value, bool):
        yield f"config {key} is {kind_of(value)}; it must be true or false"


def _limits(node: Node) -> Iterator[str]:
    seconds = node.config.get("timeout")
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds <= MOST_SECONDS):
        yield f"config timeout is {seconds!r}; it is a number of seconds up to {MOST_SECONDS}"
    try:
        max_retries(node, _ANY)
    except InvalidGraph as error:
        yield error.message.removeprefix(f"node {node.id!r}: ")


FLOW_CHECKS: Mapping[str, Callable[[Node], Iterator[str]]] = {
    **dict.fromkeys(IF_TYPES, _branch),
    "switch": _switch,
    "gateway": _switch,
    "merge": _no_config,
    "set": _set,
    "stop": _no_config,
    "template": _template,
    "prompt_template": _template,
    "http_request": _request,
    "chat": _chat,
    "chat_model": _chat,
}
"""The check of each type, by its name."""
