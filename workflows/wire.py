"""What travels between the workflow and its activities, as JSON.

Every model here is part of a run's history. The form of a node call is documented, so that an
activity of that node type may be served by any worker in any language.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from seeding.commits import (
    CommitOperation,
    EndCause,
    Opening,
    PositionHead,
    Refusal,
    StateCommand,
    TicketTimes,
)
from seeding.model import Json, JsonObject, Model
from seeding.request import RunConfig, RunRequest
from seeding.tickets import OpenTicket, TicketClosing
from workflows.graph.model import ResolvedGraph

SEED_RUN = "seed_run"
OPEN_RUN = "open_run"
COMMIT = "commit"
END_RUN = "end_run"
RUN_NODE = "run_node"
REQUEST_CANCEL = "request_cancel"
FORGET_RUN = "forget_run"
QUEUE_TURN = "queue_turn"
DRAIN_QUEUE = "drain_queue"
WAKE_QUEUE = "wake_queue"

RUN = "Run"
"""The workflow type of a turn."""

TURN_QUEUE = "TurnQueue"
"""The workflow type of a thread's queue of turns."""

LOOK = "look"
"""The signal that has a queue look whether a turn can start."""

UNKNOWN_NODE_TYPE = "UnknownNodeType"
"""Type of the failure of a node call on a worker that does not serve its type."""

WORKER_STOPPED = "WorkerStopped"
"""Type of the failure of a node call whose worker was stopped while it ran."""


class WireModel(Model):
    """A model that travels without the fields that are at their default.

    Every byte of it is kept in history, once a node, for as long as the run is.
    """

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialize: SerializerFunctionWrapHandler) -> JsonObject:
        written: JsonObject = serialize(self)
        for name, field in type(self).model_fields.items():
            if not field.is_required() and getattr(self, name) == field.get_default():
                written.pop(field.alias or name, None)
                written.pop(name, None)
        return written


class StartProblem(Model):
    """Why a start is refused before the thread was looked at."""

    code: str
    message: str


class SeedInput(Model):
    """What the start activity is asked.

    Attributes:
        thread_id: The thread the workflow id names; empty where it names none.
        chain_id: First execution of this chain; a run the chain opened is restored.
        execution_id: This execution, recorded with the owner.
        namespace: The namespace this execution lives in.
        request: The validated request; None for an execution that can only restore.
        problem: Why the request is refused already.
        started_at: When this execution was started.
    """

    thread_id: str
    chain_id: str
    execution_id: str
    namespace: str
    request: RunRequest | None = None
    problem: StartProblem | None = None
    started_at: datetime | None = None


class StoredOutput(Model):
    """The recorded outputs of one execution."""

    node_id: str
    occurrence: int
    value: Json


class StoredIterator(Model):
    """Items and results of a live ``for_each``, by loop and entry."""

    node_id: str
    occurrence: int
    items: list[Json]
    results: list[Json]


class PositionValues(Model):
    """A position as the log has it, with every value the next steps can ask for."""

    head: PositionHead
    cells: JsonObject
    outputs: list[StoredOutput]
    iterators: list[StoredIterator]


class Restored(Model):
    """A run as the log has it: everything beside its position that an execution goes on with.

    ``result`` is the whole result of an ended run, None while it is live.
    """

    next_ordinal: int
    thread_version: int
    open_tickets: list[OpenTicket]
    decided: list[TicketClosing]
    cause: EndCause | None = None
    result: JsonObject | None = None


class SeedResult(Model):
    """Where the run starts, as the start activity decided it (SG-12); shown in the UI.

    Attributes:
        kind: ``open`` a new run, or ``restore`` the one this chain opened or took over.
        start: ``source`` and ``passedOver`` (contract 3).
        cleared: What ``begin_turn`` cleared, by field with the value before.
        warnings: ``{code, message}`` each.
        data: The thread's data; values beyond 16 KB in all are shown by reference.
        metadata: The thread's metadata, likewise.
        extra: Unknown keys of a state, kept.
        message_count: Messages the thread holds at the starting point.
        iteration_count: The count an explicit snapshot carries.
        ends: Operations that end an old run in the opening's transaction.
        iterator: The iterator of an explicit snapshot, which a ``for_each`` goes on from.
        messages: Messages that the opening commit copies from an explicit snapshot.
        state: Cells that the opening commit sets from an explicit snapshot.
        opening: What the opening commit says; None for a restored run.
        position: Where the run stands, restored or at the checkpoint it starts from; None for
            one that starts at its graph's entry nodes.
        search_attributes: Names of the search attributes the server has.
        continue_after: Events of history after which the run continues as new.
        queued: How many turns of the thread are queued behind the run.
        queues_content: What the request brings is to be queued as the next turn.
    """

    kind: Literal["open", "restore"]
    run_id: str
    thread_id: str
    run_epoch: int
    owner_epoch: int
    branch: str
    thread_version: int
    graph: ResolvedGraph
    config: RunConfig
    start: JsonObject
    cleared: JsonObject = {}
    warnings: list[JsonObject] = []
    data: JsonObject = {}
    metadata: JsonObject = {}
    extra: JsonObject = {}
    message_count: int = 0
    iterator: JsonObject | None = None
    iteration_count: int = 0
    messages: list[JsonObject] = []
    state: list[StateCommand] = []
    opening: Opening | None = None
    ends: list[CommitOperation] = []
    restored: Restored | None = None
    position: PositionValues | None = None
    checkpoint_id: str = ""
    search_attributes: tuple[str, ...] = ()
    continue_after: int = 1000
    queued: int = 0
    queues_content: bool = False


class CommitInput(WireModel):
    """A list of operations for the log, in one transaction.

    ``whole``: all or nothing. ``quick``: give up at once when the log does not answer.
    ``graph``: pinned with the run it opens.
    """

    operations: Sequence[CommitOperation]
    whole: bool = False
    quick: bool = False
    graph: ResolvedGraph | None = None


class CommitReply(WireModel):
    """The log's answer, small because it is kept in history once a batch.

    ``accepted``: how many operations were; None is all of them. ``last``: the last accepted
    operation is the run's newest commit. ``at_once``: no earlier attempt of this activity
    failed. ``result``: the whole result, from the end of a run; ``queued``: turns wait for it.
    """

    accepted: int | None = None
    duplicate: bool = False
    last: bool = True
    at_once: bool = True
    times: tuple[TicketTimes, ...] = ()
    refusal: Refusal | None = None
    result: JsonObject | None = None
    queued: bool = False


class ValueReference(WireModel):
    """Where an input value that is too large to pass by value is found in the log."""

    node_id: str
    occurrence: int
    port: str
    bytes: int


class NodeCallInput(WireModel):
    """One call of a node, the argument of activity ``run_node``.

    ``references`` are resolved by the activity and join ``inputs``. ``ordinal`` names the
    commit whose state ``__messages__`` and the like are read at. ``ask`` is how many of its
    questions were answered; the answers are in the log. ``owner_epoch`` is the one under which
    the caller owns the run. Outputs at ``hidden`` ports are left out of the result (DATA-8).
    """

    type: str
    thread_id: str
    run_id: str
    node_id: str
    occurrence: int
    effect_key: str
    ordinal: int
    inputs: JsonObject = {}
    references: dict[str, ValueReference] = {}
    config: JsonObject = {}
    declares: tuple[str, ...] = ()
    ask: int = 0
    owner_epoch: int = 1
    hidden: tuple[str, ...] = ()


class NodeFailureWire(WireModel):
    """A node-level failure as it travels."""

    message: str
    code: str
    retryable: bool = False
    details: Json = None


class AskWire(WireModel):
    """A question a node asks, as it travels."""

    message: str
    kind: str = "text"
    answer_schema: JsonObject | None = None
    deadline_after: float | None = None


class NodeCallResult(WireModel):
    """What a node call came to: outputs by port, a node-level failure, or a question."""

    outputs: JsonObject | None = None
    failure: NodeFailureWire | None = None
    ask: AskWire | None = None
