"""Turns that wait for the thread's open run to end: what is kept of one, and which are the same.

A queued turn is the start it will be. Its number is its place in the one sequence of its
thread; it leaves the queue with the opening commit of the run it begins, or it is refused or
withdrawn.
"""

from typing import Literal

from seeding.canonical import canonical_hash
from seeding.model import JsonObject, Model
from seeding.request import RunRequest

MAX_QUEUED = 1_000
"""How many turns of one thread may be queued at once."""

MAX_SETTLED = 1_000
"""How many turns that have left the queue are remembered of one thread."""

SETTLED_DAYS = 30
"""How many days a turn that has left the queue is remembered."""

TurnState = Literal["queued", "started", "refused", "withdrawn"]

STARTS_ELSEWHERE = ("initialSnapshot", "forkFrom", "checkpointId", "recover", "abandon")
"""What says where a run starts from; a queued turn starts from the thread's latest state."""

_ELSEWHERE_FIELDS = ("initial_snapshot", "fork_from", "checkpoint_id", "recover", "abandon")
_NOT_SAID = ("threadId", "idempotencyKey", "queuedTurn")


class QueuedTurn(Model):
    """One row of a thread's queue.

    Attributes:
        number: Its place in the thread's sequence of queued turns, from 1.
        operation: Who sent it, so that the same sending is queued once.
        request: The start it will be, without thread, idempotency key and number.
        behind: The run that was open when it came, None where none was known.
        namespace: The namespace whose queue starts it.
        run_id: The run it began.
        refusal: ``{code, message}`` of a refused one.
    """

    thread_id: str
    number: int
    state: TurnState
    operation: str
    request: JsonObject
    request_hash: str
    idempotency_key: str | None = None
    behind: str | None = None
    namespace: str
    run_id: str | None = None
    refusal: JsonObject | None = None
    received_at: str
    settled_at: str | None = None

    def start(self) -> JsonObject:
        """Return the argument of the start that this turn is."""
        named = {} if self.idempotency_key is None else {"idempotencyKey": self.idempotency_key}
        return {**self.request, **named, "queuedTurn": self.number}


class NewTurn(Model):
    """A turn that is about to be queued.

    Attributes:
        graph_given: Whether its sender named the graph. Where not, a turn that came before under
            the same key counts as the same one whatever graph it got.
    """

    operation: str
    request: RunRequest
    graph_given: bool
    behind: str | None = None
    namespace: str


class QueueReceipt(Model):
    """What the log answers to a turn: its number, or the run that its key began before.

    Attributes:
        duplicate: It was known by its idempotency key, and nothing was written.
        behind: The run that was open when the turn came first.
        run_id: The run that it began, where it has.
        waiting: Turns of the thread that are queued now.
    """

    number: int | None = None
    duplicate: bool = False
    behind: str | None = None
    run_id: str | None = None
    waiting: int = 0


def content_hash(request: RunRequest) -> str:
    """Return what tells a request from another one on its thread.

    Its key takes no part, and neither does what it says of a busy thread: a turn that waits is
    the turn that would have started at once.
    """
    config = request.config.model_copy(update={"on_busy": "reject"})
    body = request.model_copy(update={"config": config}).to_json()
    # A field that came later takes no part, so that hashes of older logs stay what they are.
    body.pop("idempotencyKey")
    body.pop("queuedTurn")
    return canonical_hash(body)


def request_hash(request: RunRequest) -> str | None:
    """Return what tells a request under a key from another one; None for one without a key."""
    return None if request.idempotency_key is None else content_hash(request)


def payload_of(request: RunRequest) -> JsonObject:
    """Return a request as its sender gave it, without defaults."""
    return request.model_dump(mode="json", by_alias=True, exclude_unset=True)


def kept_request(request: RunRequest) -> JsonObject:
    """Return what the queue keeps of a request: what was given, without its address."""
    return {name: value for name, value in payload_of(request).items() if name not in _NOT_SAID}


def brought_along(request: RunRequest) -> RunRequest:
    """Return what a start that took a run over has left to do: its content, as the next turn."""
    given = request.model_dump(by_alias=False, exclude_unset=True)
    kept = {name: value for name, value in given.items() if name not in _ELSEWHERE_FIELDS}
    return RunRequest.model_validate(kept, by_alias=False, by_name=True)


def is_same(turn: NewTurn, known_hash: str | None, graphs: tuple[str | JsonObject, ...]) -> bool:
    """Return whether a turn says what a request with ``known_hash`` said.

    Args:
        turn: The turn.
        known_hash: The content hash of the known request.
        graphs: Names by which the known request may have given its graph.
    """
    named = [turn.request.graph] if turn.graph_given else [turn.request.graph, *graphs]
    return any(
        content_hash(turn.request.model_copy(update={"graph": graph})) == known_hash
        for graph in named
    )


def operation_of(sender: str, number: int, request: RunRequest) -> str:
    """Return the name of one sending: by whom, the how-manieth, and what it says.

    A workflow that was reset counts again from where it was reset to, and may meet other
    messages there; what they say tells them apart.
    """
    return f"{sender}:{number}:{content_hash(request)[:16]}"
