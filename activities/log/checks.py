"""Why a commit is refused: pure checks over facts the transaction has read.

They are called in the order of the write boundary (design, section 1): shape and hash, owner
fence, receipt, run and its end, ordinal and opening, tickets, thread version, messages. The
first failure wins and nothing of the commit becomes visible.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from activities.log.encoding import EncodedCommit, encode
from activities.log.names import find_unstorable
from activities.log.stored import RunPhase
from seeding.commits import BranchPoint, CommitOperation, StateCommand, ThreadCommit, check_shape
from seeding.counting import counted
from seeding.durations import MAX_SECONDS
from seeding.errors import (
    DuplicateMessage,
    Fenced,
    InvalidCommit,
    OperationReused,
    OperationRunMismatch,
    OrdinalConflict,
    RunTerminal,
    RunThreadMismatch,
    ThreadOccupied,
    ThreadVersionConflict,
    UnknownOwner,
)
from seeding.json_values import (
    MAX_PAYLOAD_BYTES,
    MAX_VALUE_BYTES,
    WRAPPED_DEPTH,
    find_not_json,
)
from seeding.model import Json


class RunFacts(NamedTuple):
    """What the checks need to know of a run."""

    run_id: str
    thread_id: str
    branch: str
    owner_epoch: int
    phase: RunPhase
    last_ordinal: int
    last_version: int
    message_count: int


def check_content(operation: CommitOperation) -> EncodedCommit:
    """Return the stored form of an operation whose content alone is acceptable.

    Raises:
        CommitRefused: Any refusal of :func:`check_shape`; ``InvalidCommit`` also for a value
            that is no JSON or too large, a name with U+0000, a message without an id, or a hash
            that is not the content's; ``OperationRunMismatch``.
    """
    commit = operation.commit
    check_shape(commit)
    _check_values(commit)
    try:
        encoded = encode(commit)
    except UnicodeEncodeError as error:
        raise InvalidCommit(f"{_name(operation)} holds text that is no Unicode: {error}") from error
    _check_sizes(operation, encoded)
    if encoded.payload_hash != operation.payload_hash:
        raise InvalidCommit(
            f"{_name(operation)} says payload hash {operation.payload_hash}, "
            f"the hash of its content is {encoded.payload_hash}"
        )
    if operation.run_id != commit.run_id:
        raise OperationRunMismatch(
            f"operation of run {operation.run_id} carries a commit of run {commit.run_id}"
        )
    return encoded


def check_fence(operation: CommitOperation, run: RunFacts | None) -> None:
    """Refuse a writer that is not the run's current owner.

    Raises:
        Fenced: The owner epoch is behind: another execution took the run over.
        UnknownOwner: The owner epoch was never granted here.
    """
    current = run.owner_epoch if run else 1
    if operation.owner_epoch < current:
        raise Fenced(
            f"run {operation.run_id} is owned under epoch {current}, this writer has "
            f"{operation.owner_epoch}; it stops",
            ownerEpoch=current,
        )
    if operation.owner_epoch > current:
        raise UnknownOwner(
            f"{_name(operation)} claims owner epoch {operation.owner_epoch}, "
            f"the last one granted is {current}; restore the run from the log that granted it"
        )


def check_same_payload(operation: CommitOperation, stored_hash: str) -> None:
    """Refuse another payload under an identity that was accepted before.

    Raises:
        OperationReused: The hashes differ.
    """
    if stored_hash != operation.payload_hash:
        raise OperationReused(
            f"{_name(operation)} was accepted with payload {stored_hash}, "
            f"not {operation.payload_hash}; restore the run from the log"
        )


def check_run(operation: CommitOperation, run: RunFacts | None) -> None:
    """Refuse a commit of a run that is another thread's or has ended.

    Raises:
        RunThreadMismatch: The run is bound to another thread.
        RunTerminal: The run has ended; that is judged by the run's own last commit.
    """
    if run is None:
        return
    if run.thread_id != operation.commit.thread_id:
        raise RunThreadMismatch(
            f"run {run.run_id} belongs to thread {run.thread_id}, "
            f"not to {operation.commit.thread_id}"
        )
    if run.phase == "ended":
        raise RunTerminal(
            f"run {run.run_id} ended with its commit {run.last_ordinal}; nothing follows an end"
        )


def check_ordinal(operation: CommitOperation, run: RunFacts | None) -> None:
    """Refuse a commit out of turn, and an opening anywhere but at the start.

    Raises:
        OrdinalConflict: The ordinal is not the number of the run's commits.
        InvalidCommit: Ordinal 0 without an opening, or an opening later.
    """
    due = run.last_ordinal + 1 if run else 0
    if operation.ordinal != due:
        raise OrdinalConflict(
            f"run {operation.run_id} has {counted(due, 'commit')}, so {due} is next, not "
            f"{operation.ordinal}; restore the run from the log",
            ordinal=due,
        )
    if (operation.commit.opening is not None) != (due == 0):
        raise InvalidCommit(f"{_name(operation)}: the first commit of a run, and only it, opens it")


def check_thread_free(operation: CommitOperation, open_run: str | None) -> None:
    """Refuse to open a run beside one that has not ended.

    Raises:
        ThreadOccupied: ``open_run`` is such a run.
    """
    if open_run is not None:
        raise ThreadOccupied(
            f"thread {operation.commit.thread_id} is held by run {open_run}, which has not "
            f"ended; run {operation.run_id} cannot open",
            runId=open_run,
        )


def check_branch(
    operation: CommitOperation, exists: bool, standing_on: Sequence[BranchPoint] | None
) -> None:
    """Refuse an opening whose branch is taken, or whose lineage is none of the log's.

    Args:
        operation: The opening.
        exists: Whether the branch it names is there.
        standing_on: What the log knows as the lineage of the point the opening stands on; None
            where that point does not exist.

    Raises:
        InvalidCommit: Either is the case.
    """
    opening = operation.commit.opening
    if opening is None or opening.lineage is None:
        return
    if exists:
        raise InvalidCommit(
            f"{_name(operation)} opens branch {opening.branch!r}, which thread "
            f"{operation.commit.thread_id} has already"
        )
    if opening.lineage and standing_on != opening.lineage:
        last = opening.lineage[-1]
        raise InvalidCommit(
            f"{_name(operation)} opens a branch on thread {last.thread_id}, branch "
            f"{last.branch!r} up to {last.up_to}, but not with the lineage that point has"
        )


def check_kept(operation: CommitOperation, pruned: BranchPoint | None) -> None:
    """Refuse an opening on a point that was pruned since its start was decided.

    Raises:
        ThreadVersionConflict: ``pruned`` is that point; a start that is decided again no
            longer finds it.
    """
    if pruned is not None:
        raise ThreadVersionConflict(
            f"{_name(operation)} opens a branch on thread {pruned.thread_id}, branch "
            f"{pruned.branch!r} up to {pruned.up_to}, which was pruned meanwhile; decide the "
            "start again"
        )


def check_tickets(
    operation: CommitOperation, open_before: Sequence[str], known: Sequence[str]
) -> None:
    """Refuse a disposition that is not what the open tickets become by this commit.

    Args:
        operation: The commit.
        open_before: The run's open tickets.
        known: Those tickets opened here whose ids any commit used before.

    Raises:
        InvalidCommit: A ticket is opened again, one is closed that is not open, or the open
            tickets before, with those opened and without those closed, are not those named.
    """
    commit = operation.commit
    if not (open_before or commit.opened or commit.closed or commit.disposition.tickets):
        return
    if known:
        raise InvalidCommit(f"{_name(operation)} opens ticket {known[0]} a second time")
    after = dict.fromkeys(open_before)
    for closing in commit.closed:
        if closing.ticket not in after:
            raise InvalidCommit(
                f"{_name(operation)} closes ticket {closing.ticket}, which is not open"
            )
        del after[closing.ticket]
    for ticket in commit.opened:
        if ticket.ticket in after:
            raise InvalidCommit(f"{_name(operation)} opens ticket {ticket.ticket} a second time")
        after[ticket.ticket] = None
    named = dict.fromkeys(reference.ticket for reference in commit.disposition.tickets)
    if named != after:
        raise InvalidCommit(
            f"{_name(operation)} names the open tickets {list(named)}, "
            f"with it they are {list(after)}"
        )


def check_version(operation: CommitOperation, version: int) -> None:
    """Refuse a commit that was made on an older state of its thread.

    Raises:
        ThreadVersionConflict: The thread's version is not the expected one.
    """
    if operation.expected_thread_version != version:
        raise ThreadVersionConflict(
            f"thread {operation.commit.thread_id} is at version {version}, "
            f"{_name(operation)} expects {operation.expected_thread_version}",
            threadVersion=version,
        )


def check_messages(operation: CommitOperation, taken: Sequence[str]) -> None:
    """Refuse a message id that the lineage or the commit itself holds already.

    Args:
        operation: The commit.
        taken: Those of its message ids that the lineage holds.

    Raises:
        DuplicateMessage: There is one.
    """
    seen = dict.fromkeys(taken)
    for message in operation.commit.messages:
        identity: str = message["id"]
        if identity in seen:
            raise DuplicateMessage(
                f"{_name(operation)} appends message {identity!r}, which is there already"
            )
        seen[identity] = None


def check_merged(operation: CommitOperation, command: StateCommand, text: str | None) -> None:
    """Refuse a commutative set whose merge is more than a cell holds.

    Raises:
        InvalidCommit: The JSON text after the merge is too long.
    """
    if text is not None and command.policy == "commutative":
        _check_cell_size(command, text, f"with what {_name(operation)} merges into it")


def _check_values(commit: ThreadCommit) -> None:
    place = find_unstorable(commit)
    if place is not None:
        raise InvalidCommit(
            f"{place} of a commit of run {commit.run_id!r} holds U+0000, which no name may hold"
        )
    for index, message in enumerate(commit.messages):
        identity = message.get("id")
        if not isinstance(identity, str) or not identity:
            raise InvalidCommit(
                f"message {index} of a commit of run {commit.run_id} has no id; "
                "ids are given before a commit is sent"
            )
    for ticket in commit.opened:
        seconds = ticket.deadline_after
        if seconds is not None and not 0 < seconds <= MAX_SECONDS:
            raise InvalidCommit(
                f"ticket {ticket.ticket} has its deadline after {seconds} seconds; "
                f"it is more than 0 and at most {MAX_SECONDS:.0f}"
            )
    for where, value in _user_values(commit):
        found = find_not_json(value, depth=WRAPPED_DEPTH)
        if found is not None:
            path = f"{where}.{found.path}" if found.path else where
            raise InvalidCommit(f"{path} of a commit of run {commit.run_id} is a {found.kind}")


def _user_values(commit: ThreadCommit) -> Iterator[tuple[str, Json]]:
    yield from _each("messages", commit.messages)
    for command in commit.state:
        yield f"{command.cell}.{command.key}", command.value
    for row in commit.rows:
        yield f"{row.kind} of {row.node_id}", row.value
    yield from _each("opened", (ticket.input for ticket in commit.opened))
    yield from _each("closed", (closing.value for closing in commit.closed))
    yield from _each("events", (event.body for event in commit.events))
    yield "result", commit.result
    yield "verdict", commit.position.verdict
    if commit.opening is not None:
        yield "config", commit.opening.config
        yield "start", commit.opening.start


def _each(name: str, values: Iterable[Json]) -> Iterator[tuple[str, Json]]:
    return ((f"{name}.{index}", value) for index, value in enumerate(values))


def _check_sizes(operation: CommitOperation, encoded: EncodedCommit) -> None:
    for command, text in zip(operation.commit.state, encoded.values, strict=True):
        _check_cell_size(command, text, f"in {_name(operation)}")
    if encoded.size > MAX_PAYLOAD_BYTES:
        raise InvalidCommit(
            f"{_name(operation)} is {encoded.size} bytes of JSON, a commit has at most "
            f"{MAX_PAYLOAD_BYTES}; stage its largest values and send references"
        )


def _check_cell_size(command: StateCommand, text: str, when: str) -> None:
    size = len(text.encode())
    if size > MAX_VALUE_BYTES:
        raise InvalidCommit(
            f"{command.cell}.{command.key} is {size} bytes of JSON {when}, a cell holds at most "
            f"{MAX_VALUE_BYTES}; stage the value and send a reference"
        )


def _name(operation: CommitOperation) -> str:
    return f"commit {operation.ordinal} of run {operation.run_id}"
