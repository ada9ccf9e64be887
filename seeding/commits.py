"""``ThreadCommit``, the one way to change thread truth, and the shape it must have.

A commit is one logical transition of one run: what it says of the run (disposition), what it
appends (messages, run-owned rows), which cells it sets or removes, and the small position.
Its content is a function of the state before it and of one completion or one command only.
"""

from collections.abc import Iterable
from typing import Literal

from seeding.canonical import SCHEME, canonical_hash
from seeding.errors import (
    InvalidCommit,
    StateConflict,
    StateScopeMismatch,
    TicketForbidden,
    TicketRequired,
    TicketRunMismatch,
    TicketThreadMismatch,
)
from seeding.model import Json, JsonObject, Model
from seeding.tickets import Ticket, TicketClosing, TicketReference, TicketTimes

CauseKind = Literal[
    "NaturalEnd",
    "Stopped",
    "MaxIterations",
    "Cancelled",
    "Error",
    "FailedVerification",
    "Indeterminate",
]


class EndCause(Model):
    """Why a run ended; the log's cause is the truth.

    ``message`` is the text of the state's ``error`` for a failure and the reason of a cancel.
    """

    kind: CauseKind
    message: str | None = None
    details: JsonObject = {}


class Disposition(Model):
    """What a commit says of its run.

    The pairing of kind, tickets and cause is judged by :func:`check_shape`, not by the model,
    so that a commit decoded from anywhere gets the named refusal (awaken's nine cells).
    """

    kind: Literal["Running", "Awaiting", "Ended"]
    tickets: tuple[TicketReference, ...] = ()
    cause: EndCause | None = None


class StateCommand(Model):
    """Sets or removes one cell.

    ``cell`` is ``data`` or ``metadata`` for a thread's, ``position`` for a run's own. A
    commutative set of an object over an object stores the shallow merge of both.
    """

    op: Literal["set", "remove"] = "set"
    scope: Literal["thread", "run"]
    cell: Literal["data", "metadata", "position"]
    key: str
    value: Json = None
    policy: Literal["exclusive", "commutative", "disjoint"] = "disjoint"
    run_id: str | None = None


class RunRow(Model):
    """One append-only, run-owned row.

    ``output``: the outputs by port of one execution. ``item`` and ``result``: one item or one
    round's result of the ``for_each`` ``node_id`` whose loop was entered at ``occurrence``.
    """

    kind: Literal["output", "item", "result"]
    node_id: str
    occurrence: int
    index: int = 0
    value: Json = None


class PositionHead(Model):
    """The small position a commit row holds: what a state shows, and the counters.

    ``iterator`` names the innermost ``for_each`` round in progress by loop and entry, with its
    index and the lengths of its item and result prefixes; the values are rows.
    """

    current_node_id: str = ""
    iteration_count: int = 0
    iterator: "IteratorHead | None" = None
    counters: dict[str, int] = {}
    verdict: JsonObject | None = None


class IteratorHead(Model):
    """Where the values of a state's ``iterator`` are found among the run's rows."""

    node_id: str
    occurrence: int
    index: int
    items: int
    results: int


class AuditDraft(Model):
    """Something worth reading later that decides nothing: provenance, warnings, a clearing."""

    kind: str
    body: JsonObject = {}


class BranchPoint(Model):
    """One step of a lineage: a branch of a thread, up to and including a version."""

    thread_id: str
    branch: str
    up_to: int


class RunPoint(Model):
    """A run up to and including a version, whose cells and rows a run goes on with."""

    thread_id: str
    branch: str
    run_id: str
    up_to: int


class Opening(Model):
    """What the commit that opens a run (ordinal 0) says beside its disposition.

    ``lineage`` is what the run's branch stands on, outermost first, for a branch that this
    commit opens; None where the run goes on in an existing branch. ``continues`` names the runs
    whose position and rows this one goes on with, oldest first; a run that starts at its
    graph's entry names none. ``queued_turn`` is the number of the queued turn that the run is;
    it leaves the queue with this commit.
    """

    run_epoch: int
    chain_id: str
    graph_id: str
    graph_digest: str
    config: JsonObject = {}
    branch: str = "main"
    lineage: tuple[BranchPoint, ...] | None = None
    continues: tuple[RunPoint, ...] = ()
    start: JsonObject = {}
    request_hash: str | None = None
    idempotency_key: str | None = None
    queued_turn: int | None = None


class ThreadCommit(Model):
    """One logical transition of one run on one thread.

    Attributes:
        opened: Bodies of the tickets this commit opens; each is named by the disposition.
        closed: How tickets left ``open`` with this commit.
        checkpoint: What people see of it: a row in ``checkpoints`` of this kind, or None.
        result: Report of an ended run (contract 3), without ``results``, which are rows.
    """

    thread_id: str
    run_id: str
    disposition: Disposition
    opening: Opening | None = None
    messages: tuple[JsonObject, ...] = ()
    state: tuple[StateCommand, ...] = ()
    rows: tuple[RunRow, ...] = ()
    position: PositionHead = PositionHead()
    opened: tuple[Ticket, ...] = ()
    closed: tuple[TicketClosing, ...] = ()
    events: tuple[AuditDraft, ...] = ()
    node_id: str | None = None
    checkpoint: Literal["node", "pause", "end"] | None = None
    result: JsonObject | None = None


class CommitOperation(Model):
    """A commit addressed to the log: its identity, fence and compare-and-set value."""

    run_id: str
    ordinal: int
    owner_epoch: int
    expected_thread_version: int
    payload_hash: str
    commit: ThreadCommit


class Receipt(Model):
    """The log's answer to one operation; the same again for a repeated one.

    ``duplicate`` tells a repeated append; ``last`` whether this is the run's newest commit.
    """

    run_id: str
    ordinal: int
    thread_version: int
    payload_hash: str
    created_at: str
    duplicate: bool = False
    last: bool = True


class Refusal(Model):
    """Why the log refused an operation; ``code`` is the name of the error."""

    code: str
    message: str
    ordinal: int
    run_id: str


class BatchReceipt(Model):
    """The log's answer to a list of operations.

    The operations before a refused one are accepted, unless the list was sent as a whole.
    ``receipt`` is that of the last accepted operation.
    """

    accepted: int
    receipt: Receipt | None = None
    times: tuple[TicketTimes, ...] = ()
    refusal: Refusal | None = None


def commit_body(commit: ThreadCommit) -> JsonObject:
    """Return what is hashed of ``commit``, field by field.

    Fields at their default take no part, so that a field added later changes no old hash.
    """
    return commit.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def hash_parts(body: JsonObject) -> dict[str, Json]:
    """Return the part hashes of a commit's body: one a field, one an item of a list field."""
    parts: dict[str, Json] = {"scheme": SCHEME}
    for name, value in body.items():
        listed = name in ("messages", "state", "rows")
        parts[name] = [canonical_hash(item) for item in value] if listed else canonical_hash(value)
    return parts


def commit_hash(commit: ThreadCommit) -> str:
    """Return the payload hash: a hash of part hashes, so that pruned bodies still verify."""
    return canonical_hash(hash_parts(commit_body(commit)))


def operation(
    commit: ThreadCommit, *, ordinal: int, owner_epoch: int, expected_thread_version: int
) -> CommitOperation:
    """Return the operation that sends ``commit`` as ordinal ``ordinal`` of its run."""
    return CommitOperation(
        run_id=commit.run_id,
        ordinal=ordinal,
        owner_epoch=owner_epoch,
        expected_thread_version=expected_thread_version,
        payload_hash=commit_hash(commit),
        commit=commit,
    )


def check_shape(commit: ThreadCommit) -> None:
    """Refuse a commit that no log could accept, whatever it holds.

    Raises:
        InvalidCommit: An empty id, a missing or forbidden cause, a ticket body without its
            reference, or an opening that is Awaiting.
        TicketRequired: Awaiting without a ticket.
        TicketForbidden: Running or Ended with a ticket.
        TicketRunMismatch: A ticket of another run.
        TicketThreadMismatch: A ticket of another thread.
        StateConflict: Two exclusive sets of one cell.
        StateScopeMismatch: A run-scoped command stamped with another run.
    """
    if not commit.thread_id or not commit.run_id:
        raise InvalidCommit("a commit names its thread and its run; one of them is empty")
    _check_disposition(commit)
    _check_tickets(commit)
    _check_state(commit)


def _check_disposition(commit: ThreadCommit) -> None:
    said = commit.disposition
    if said.kind == "Awaiting" and not said.tickets:
        raise TicketRequired(f"run {commit.run_id}: Awaiting names at least one open ticket")
    if said.kind != "Awaiting" and said.tickets:
        raise TicketForbidden(f"run {commit.run_id}: only Awaiting may carry tickets")
    if (said.kind == "Ended") != (said.cause is not None):
        raise InvalidCommit(f"run {commit.run_id}: Ended, and only Ended, carries a cause")
    if commit.opening is not None and said.kind == "Awaiting":
        raise InvalidCommit(f"run {commit.run_id}: an opening commit is Running or Ended")


def _check_tickets(commit: ThreadCommit) -> None:
    named = [reference.ticket for reference in commit.disposition.tickets]
    if len(set(named)) != len(named):
        raise InvalidCommit(f"run {commit.run_id}: a ticket is named twice")
    everything: Iterable[TicketReference | Ticket] = (*commit.disposition.tickets, *commit.opened)
    for ticket in everything:
        if ticket.run_id != commit.run_id:
            raise TicketRunMismatch(
                f"ticket {ticket.ticket} is of run {ticket.run_id}, not of {commit.run_id}"
            )
        if ticket.thread_id != commit.thread_id:
            raise TicketThreadMismatch(
                f"ticket {ticket.ticket} is of thread {ticket.thread_id}, not {commit.thread_id}"
            )
    for ticket in commit.opened:
        if ticket.ticket not in named:
            raise InvalidCommit(f"ticket {ticket.ticket} is opened but not named as open")
    for closing in commit.closed:
        if closing.ticket in named:
            raise InvalidCommit(f"ticket {closing.ticket} is closed and named as open")


def _check_state(commit: ThreadCommit) -> None:
    exclusive: dict[tuple[str, str, str], bool] = {}
    for command in commit.state:
        if command.scope == "run" and command.run_id not in (None, commit.run_id):
            raise StateScopeMismatch(
                f"cell {command.cell}.{command.key} is stamped with run {command.run_id}, "
                f"the commit is of run {commit.run_id}"
            )
        if (command.scope == "run") != (command.cell == "position"):
            raise InvalidCommit(f"cell {command.cell} is not of scope {command.scope}")
        if command.op == "set" and command.policy == "exclusive":
            address = (command.scope, command.cell, command.key)
            if address in exclusive:
                raise StateConflict(
                    f"cell {command.cell}.{command.key} is set twice by one commit, exclusively"
                )
            exclusive[address] = True
