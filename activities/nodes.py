"""How people write a node: a function with a decorator (contract, section 7)."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from seeding.durations import parse_duration
from seeding.errors import InvalidGraph
from seeding.model import Json, JsonObject
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
) -> Callable[[AnyNodeFunction], AnyNodeFunction]:
    """Declare a function as the node type ``name``.

    Args:
        name: The type's name in graph documents.
        branches: Output ports that are followed only when active.
        declares: Reserved inputs the function wants in ``call.internal``.
        timeout: The longest one attempt may take.
        max_retries: Retries over the whole run, for retryable node errors only (ERR-11).

    Raises:
        InvalidGraph: An unknown reserved input, no positive timeout, negative retries, or a
            name that another function has.
    """
    for reserved in declares:
        if reserved not in RESERVED_INPUTS:
            raise InvalidGraph(
                f"node type {name!r} declares {reserved!r}; the reserved inputs are "
                f"{', '.join(RESERVED_INPUTS)}"
            )
    seconds = parse_duration(timeout, f"timeout of node type {name!r}")
    if seconds is None:
        raise InvalidGraph(f"node type {name!r} needs a timeout above zero")
    if max_retries < 0:
        raise InvalidGraph(f"node type {name!r}: max_retries is not negative")
    declared = NodeType(
        name=name,
        kind="effect",
        branches=tuple(branches),
        declares=tuple(declares),
        timeout=seconds,
        max_retries=max_retries,
        can_ask=True,
    )

    def register(function: AnyNodeFunction) -> AnyNodeFunction:
        REGISTRY.add(RegisteredNode(declared, function, inspect.iscoroutinefunction(function)))
        return function

    return register
