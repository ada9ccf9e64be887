"""Every error this project raises on purpose, as one tree.

Each class name is also the code that people see: in Temporal it is the ``type`` of an
``ApplicationError``, in the refusals of a run it is ``code``, on the command line it opens the
line. ``FermataError`` is the only base; ``code`` never changes once published.
"""

from typing import ClassVar

from seeding.model import Json


class FermataError(Exception):
    """Base of all errors of this project.

    Args:
        message: What was wrong, where, and what to do about it.
        details: Facts a program may read, as a JSON object.
    """

    code: ClassVar[str] = "FermataError"

    def __init__(self, message: str, **details: Json) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __init_subclass__(cls, code: str | None = None) -> None:
        super().__init_subclass__()
        cls.code = code or cls.__name__

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling with message and details."""
        return (_rebuild, (type(self), self.message, self.details))


def _rebuild(kind: type[FermataError], message: str, details: dict[str, Json]) -> FermataError:
    return kind(message, **details)


# --- refusals of a start (contract, section 2) ---------------------------------------------


class StartRefused(FermataError):
    """A start that writes nothing and leaves the thread's id free."""


class InvalidRequest(StartRefused):
    """The request is not of the documented shape."""


class UnknownGraph(StartRefused):
    """No graph of that id or digest is known to the worker."""


class InvalidGraph(StartRefused):
    """The graph document cannot be run; the message names node and port."""


class TerminalSnapshot(StartRefused):
    """The initial snapshot is the state of an ended run (INT-14)."""


class UnreadableSnapshot(StartRefused):
    """The initial snapshot is not a state this engine can read (INT-15)."""


class CheckpointOfEndedRun(StartRefused):
    """The named checkpoint belongs to a run that has ended (SG-12, INT-14)."""


class CheckpointThreadMismatch(StartRefused):
    """The named checkpoint belongs to another thread."""


class UnknownCheckpoint(StartRefused):
    """The named checkpoint does not exist, and the caller asked for a refusal or a fork."""


class UnknownCheckpointStore(StartRefused):
    """The named checkpoint store does not exist (SG-11)."""


class ThreadBusy(StartRefused):
    """The thread's latest run is not ended."""


class IdempotencyKeyReuse(StartRefused):
    """The idempotency key was used before with another payload."""


# --- refusals of the write boundary (design, section 1) -------------------------------------


class CommitRefused(FermataError):
    """A commit that the log did not accept; nothing was written."""


class InvalidCommit(CommitRefused):
    """The commit is malformed, or its hash is not the hash of its content."""


class TicketRequired(CommitRefused):
    """Awaiting without a ticket."""


class TicketForbidden(CommitRefused):
    """Running or Ended with a ticket."""


class TicketRunMismatch(CommitRefused):
    """A ticket of another run."""


class TicketThreadMismatch(CommitRefused):
    """A ticket of another thread."""


class RunThreadMismatch(CommitRefused):
    """The run is bound to another thread."""


class StateConflict(CommitRefused):
    """Two exclusive sets of one cell in one commit."""


class StateScopeMismatch(CommitRefused):
    """A run-scoped command stamped with another run."""


class DuplicateMessage(CommitRefused):
    """A message id that the lineage already holds."""


class OperationRunMismatch(CommitRefused):
    """The operation's run is not the commit's run."""


class Fenced(CommitRefused):
    """A newer owner epoch holds the run."""


class UnknownOwner(CommitRefused):
    """An owner epoch that this log never granted: another one did, or it is an older copy."""


class ThreadVersionConflict(CommitRefused):
    """The thread moved on since the expected version."""


class ThreadOccupied(CommitRefused, code="ThreadBusy"):
    """An opening commit while another run of the thread is not ended."""


class LogAhead(CommitRefused):
    """The log already holds more than the writer knows; the writer restores from it."""


class OperationReused(LogAhead):
    """The same run and ordinal with another payload."""


class OrdinalConflict(LogAhead):
    """The ordinal is not the number of the run's commits."""


class RunTerminal(LogAhead):
    """The run has ended; Ended is absorbing."""


# --- the log itself -------------------------------------------------------------------------


class LogError(FermataError):
    """The log could not answer, or what it holds is damaged."""


class CommitUnavailable(LogError):
    """The log did not answer in time; the same operation may be sent again."""


class RunNotInLog(CommitUnavailable):
    """The log does not know a run that is open: it is another one, or has lost it.

    Whoever goes on with the run waits, as for a log that does not answer.
    """


class CorruptLog(LogError):
    """A gap, a hash mismatch or an undecodable row; never read as a shorter thread."""


class NewerLog(LogError):
    """The log was written by a newer version of this project; nothing is read or changed."""


class UnknownThread(LogError):
    """No run was ever opened on the thread."""


class ThreadStoodOn(LogError):
    """Branches of other threads stand on the thread, so it cannot be deleted."""


class ThreadInUse(LogError, code="ThreadBusy"):
    """A run of the thread has not ended, so it cannot be deleted."""


class UnknownRun(LogError):
    """The thread has no run of that id."""


class StateDecode(LogError):
    """A stored cell no longer has the shape its reader expects."""


class TranscriptError(LogError):
    """A transcript that cannot be given as it was named."""


class SnapshotUnavailable(TranscriptError):
    """What the reference of a transcript names is not in the log, or not any more."""


class SnapshotMismatch(TranscriptError):
    """The log holds other messages than the reference of a transcript was made of."""


class InvalidRange(TranscriptError):
    """A range of a transcript that begins or ends outside it, or ends before it begins."""


class OverlappingRanges(TranscriptError):
    """Two ranges of a transcript that have a message in common."""


# --- refusals of an answer, a pause or a cancel (contract, section 5) -------------------------


class CommandRefused(FermataError):
    """A signal or update that changes nothing."""


class InvalidCommand(CommandRefused):
    """The payload is not of the documented shape, or the name is unknown."""


class PipelineTerminal(CommandRefused, code="PIPELINE_TERMINAL"):
    """The run is over."""


class UnknownTicket(CommandRefused):
    """No such ticket in this run."""


class NothingToAnswer(CommandRefused):
    """No ticket of a node is open."""


class AmbiguousAnswer(CommandRefused):
    """It cannot be told which ticket an answer without one is for."""


class AlreadyDecided(CommandRefused):
    """The ticket has its answer."""


class Expired(CommandRefused):
    """The ticket's deadline has passed."""


class ActorNotAllowed(CommandRefused):
    """The ticket names who may answer, and the actor is not among them."""


class DecisionNotAllowed(CommandRefused):
    """The decision is not among the ticket's allowed ones."""


class AnswerInvalid(CommandRefused):
    """The value does not fit the ticket's JSON Schema."""


class SignalAlreadyPending(CommandRefused, code="INWARD_SIGNAL_ALREADY_PENDING"):
    """A pause or a cancel is already pending (INT-16)."""


class NoActivePause(CommandRefused, code="NO_ACTIVE_PAUSE"):
    """There is no pause to lift (INT-16)."""


class RunBusy(CommandRefused, code="ThreadBusy"):
    """A message while the run is open, and the run does not queue."""


# --- failures of a node ---------------------------------------------------------------------


class NodeFailure(FermataError):
    """A node could not complete."""


class EffectArgsMismatch(NodeFailure):
    """An effect key that is known with other arguments: the effect is not run."""


class UnknownExecution(FermataError):
    """A completion, question or answer of an execution that the position does not hold."""


class OutputTooLarge(NodeFailure):
    """A value above the size a commit may hold."""


class OutputNotJson(NodeFailure):
    """A leaf of a node's output is no JSON value (ERR-6)."""


# --- the client -----------------------------------------------------------------------------


class ClientError(FermataError):
    """A call that did not go through; one class per cause."""


class InvalidSettings(ClientError):
    """A setting of the environment cannot be used; the message names the variable."""


class ServerUnreachable(ClientError):
    """No Temporal server answers at the configured address."""


class NoWorker(ClientError):
    """No worker answered in time."""


class CallRefused(ClientError):
    """The server or the run did not take a call; the message says what it answered."""


class StillOpen(ClientError):
    """The run is not where the caller waits for it, and the caller's time is over."""


class RunLost(ClientError):
    """The run's workflow is gone without an end of its own; the log has its last state."""
