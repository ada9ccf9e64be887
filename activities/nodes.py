"""How people write a node: a function with a decorator (contract, section 7)."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from seeding.durations import parse_duration
from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject
from workflows.graph.builtin_types import BUILTIN_TYPES, PLANNED
from workflows.graph.model import NodeType

RESERVED_INPUTS = (
    "__state__",
    "__messages__",
    "__data__",
    "__iterator__",
    "__current_item__",
    "__interrupt_id__",
)
"""The reserved inputs a node type may declare; it sees no state it did not ask for (SG-2)."""


@dataclass(frozen=True)
class NodeCall:
    """One execution of a node, as its function sees it.

    Attributes:
        inputs: Values by input port.
        config: The node's configuration from the graph.
        effect_key: The same over retries and lost workers, never the same for two effects.
        thread_id: The thread the run is on.
        run_id: The run.
        node_id: The node in the graph.
        occurrence: Which execution of the node in this run this is, from 0.
        internal: The reserved inputs its type declares.
        answer: The last answer to a question this execution asked, or None.
        answers: All answers to questions this execution asked, oldest first.
        allowed_hosts: The hosts this worker is configured to let nodes call.
    """

    inputs: JsonObject
    config: JsonObject
    effect_key: str
    thread_id: str
    run_id: str
    node_id: str
    occurrence: int
    internal: JsonObject = field(default_factory=dict[str, Any])
    answer: Json = None
    answers: Sequence[Json] = ()
    allowed_hosts: tuple[str, ...] = ()


class NodeError(Exception):
    """A node-level failure: it may be retried, or routed along an error edge (ERR-1).

    Any other exception fails the run with its cause and follows no edge (ERR-3).

    Args:
        message: What went wrong, for people.
        code: A name for programs.
        retryable: Whether a further attempt may help; only ``True`` itself counts (ERR-2).
        details: A JSON value with more.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "node_error",
        retryable: bool = False,
        details: Json = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.retryable = retryable
        self.details = details


class Ask(Exception):
    """Raised by a node to pause its run until somebody answers.

    Args:
        message: The question.
        schema: JSON Schema of the answer.
        kind: Kind of the ticket.
        deadline: How long to wait; None is for ever.
    """

    def __init__(
        self,
        message: str,
        *,
        schema: JsonObject | None = None,
        kind: str = "text",
        deadline: str | float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.schema = schema
        self.kind = kind
        self.deadline = deadline


NodeFunction: TypeAlias = (
    Callable[[NodeCall], Awaitable[JsonObject]] | Callable[[NodeCall], JsonObject]
)
AnyNodeFunction = TypeVar("AnyNodeFunction", bound=Callable[[NodeCall], Any])


@dataclass(frozen=True)
class RegisteredNode:
    """A node type with the function that executes it."""

    type: NodeType
    function: NodeFunction
    is_async: bool


class NodeRegistry:
    """The node types one worker serves, by name."""

    def __init__(self) -> None:
        self._nodes: dict[str, RegisteredNode] = {}

    def add(self, registered: RegisteredNode) -> None:
        """Add a type; the same function again is fine, another one of that name is not.

        Raises:
            InvalidGraph: The name is taken by another function.
        """
        name = registered.type.name
        present = self._nodes.get(name)
        if present is not None and _origin(present) != _origin(registered):
            raise InvalidGraph(
                f"two functions are decorated as node type {name!r}: "
                f"{_origin(present)} and {_origin(registered)}"
            )
        self._nodes[name] = registered

    def find(self, name: str) -> RegisteredNode | None:
        """Return the type of that name, or None."""
        return self._nodes.get(name)

    def types(self) -> dict[str, NodeType]:
        """Return the declared types by name, in order of name."""
        return {name: self._nodes[name].type for name in sorted(self._nodes)}


def _origin(registered: RegisteredNode) -> str:
    function = registered.function
    return f"{function.__module__}.{function.__qualname__}"


REGISTRY = NodeRegistry()
"""Where :func:`node` registers; a worker serves what its modules put here."""


def node(
    name: str,
    *,
    branches: Sequence[str] = (),
    declares: Sequence[str] = (),
    timeout: str | float = "5m",
    max_retries: int = 0,
    hidden: Sequence[str] = (),
) -> Callable[[AnyNodeFunction], AnyNodeFunction]:
    """Declare a function as the node type ``name``.

    Args:
        name: The type's name in graph documents.
        branches: Output ports that are followed only when active.
        declares: Reserved inputs the function wants in ``call.internal``.
        timeout: The longest one attempt may take.
        max_retries: Retries over the whole run, for retryable node errors only (ERR-11).
        hidden: Output ports that are neither recorded nor delivered (DATA-8).

    Raises:
        InvalidGraph: A name that the engine or another function has, an unknown reserved input,
            a single text where a sequence of names belongs, no positive timeout, negative
            retries, or a function that is not called with just one argument.
    """
    _check_name(name)
    if name in BUILTIN_TYPES or name in PLANNED:
        raise InvalidGraph(
            f"node type {name!r} is the engine's own, and a function of that name would never be "
            "called; give yours another name"
        )
    return _declared(
        NodeType(
            name=name,
            kind="effect",
            branches=_names(name, "branches", branches),
            declares=_reserved_inputs(name, declares),
            timeout=_seconds(name, timeout),
            max_retries=_retries(name, max_retries),
            can_ask=True,
            hidden=_names(name, "hidden", hidden),
        )
    )


def builtin_node(name: str) -> Callable[[AnyNodeFunction], AnyNodeFunction]:
    """Declare a function as the one that executes the engine's own effect type ``name``."""
    return _declared(BUILTIN_TYPES[name].model_copy(update={"can_ask": True}))


def _declared(declared: NodeType) -> Callable[[AnyNodeFunction], AnyNodeFunction]:
    def register(function: AnyNodeFunction) -> AnyNodeFunction:
        _check_function(declared.name, function)
        REGISTRY.add(RegisteredNode(declared, function, inspect.iscoroutinefunction(function)))
        return function

    return register


def _check_name(name: Json) -> None:
    if not isinstance(name, str) or not name.strip():
        given = repr(name) if isinstance(name, str) else type(name).__name__
        raise InvalidGraph(
            f"a node type's name is {given}; it is a text that is not empty, such as "
            '@node("price_of")'
        )


def _names(name: str, argument: str, given: Json) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InvalidGraph(
            f"node type {name!r}: {argument} is the text {given!r}; it is a sequence of names, "
            f"such as ({given!r},)"
        )
    if not isinstance(given, Sequence) or not all(
        isinstance(item, str) and item for item in cast(Sequence[Json], given)
    ):
        raise InvalidGraph(
            f"node type {name!r}: {argument} is {given!r}; it is a sequence of names"
        )
    return tuple(cast(Sequence[str], given))


def _reserved_inputs(name: str, given: Json) -> tuple[str, ...]:
    declares = _names(name, "declares", given)
    for reserved in declares:
        if reserved not in RESERVED_INPUTS:
            raise InvalidGraph(
                f"node type {name!r} declares {reserved!r}; the reserved inputs are "
                f"{', '.join(RESERVED_INPUTS)}"
            )
    return declares


def _seconds(name: str, timeout: str | float) -> float:
    seconds = parse_duration(timeout, f"timeout of node type {name!r}")
    if seconds is None:
        raise InvalidGraph(f"node type {name!r} needs a timeout above zero")
    return seconds


def _retries(name: str, given: Json) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise InvalidGraph(
            f"node type {name!r}: max_retries is {given!r}; it is a whole number from 0 up"
        )
    return given


def _check_function(name: str, function: Callable[..., Any]) -> None:
    """Refuse what could not be called with a call, or what would return no outputs."""
    needed = f"node type {name!r} is to be a function with one parameter, the call"
    if inspect.isclass(function) or not hasattr(function, "__qualname__"):
        raise InvalidGraph(f"{needed}; {function!r} is no function")
    shown = f"{function.__module__}.{function.__qualname__}"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidGraph(f"{needed}; {shown} yields, and a node returns its outputs once")
    signature = inspect.signature(function)
    try:
        signature.bind(object())
    except TypeError as error:
        raise InvalidGraph(
            f"{needed}; {shown}{signature} cannot be called with one argument"
        ) from error
