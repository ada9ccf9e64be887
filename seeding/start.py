"""The start table: where a run's starting state comes from (SG-12).

:func:`resolve_start` is one pure function over the request and the facts the start activity
has read. The first row that applies wins:

==================================================  =============================================
given                                               decision
==================================================  =============================================
the chain has opened or adopted a run before        restore that run; nothing else is looked at
``initialSnapshot`` (``{}`` counts)                 new run from it, on a new branch
``forkFrom``                                        new run from that checkpoint, on a new branch:
                                                    cleared at a run's end, else with its position
``checkpointId`` unknown                            fresh, on a new branch, with a warning; or
                                                    ``UnknownCheckpoint`` where that is configured
``checkpointId`` of another thread                  ``CheckpointThreadMismatch``
``checkpointId`` of an ended run, any of them       ``CheckpointOfEndedRun``
``checkpointId``: last commit of a run not ended    adopt that run
``checkpointId``: earlier commit of such a run      end it as superseded; new run from there, on a
                                                    new branch, with a warning
latest run ended                                    next turn, cleared, in the same branch
latest run awaiting                                 adopt it, untouched
latest run left running                             ``recover``: adopt it; else end it as
                                                    ``Indeterminate``, then the next turn
a branch without a run (after a fork)               as ``forkFrom`` that branch's point
nothing                                             fresh, on ``main``
==================================================  =============================================

What the table leaves open is decided here:

- The three rows that leave the thread's state behind (snapshot, fork, unknown checkpoint) are
  ``ThreadBusy`` while the latest run has not ended. What is wrong with the request itself is
  refused before that, so a caller never frees a thread for a request that fails anyway.
- ``abandon`` ends a latest run that has not ended, whatever row follows: without a snapshot or
  a fork the row for an ended run applies. With a ``checkpointId`` of the very run it would end,
  and together with ``recover``, it is ``InvalidRequest``.
- What a request carries cannot be put into a run that is adopted, by whatever row: that is
  ``ThreadBusy`` naming the tickets, unless ``config.onBusy`` is ``queue`` or ``supersede``: it
  is then queued as the next turn.
- A new run waits for the turns that are queued: a start that is none of them is ``ThreadBusy``
  while there are any, unless it says ``abandon``.
- ``recover`` matters only where the latest run was left running. A run that was taken over
  ``MAX_TAKEOVERS`` times without a commit in between is not taken over again: it is ended as
  ``Indeterminate``, ``recover`` or not (AW-14).
- A run whose owner lives in another namespace may still be executed there: it is ``ThreadBusy``,
  whatever ``recover`` or ``abandon`` says.
- Nothing can be left standing on an ephemeral run, so it is no point to fork from.
- A run that starts at another one's position keeps that run's graph, whatever the request names.
- The first run of a thread is on ``main``; another branch is ``b2``, ``b3``, ..., by how many
  branches there are. A run opened on the thread's latest state goes on in its branch.
- The epoch of a new run is the thread's highest plus one; a run that goes on keeps its own.
"""

from seeding import provenance, start_warnings
from seeding.commits import BranchPoint
from seeding.decisions import (
    Adopt,
    Base,
    Open,
    Restore,
    RunEnding,
    Start,
    StartDecision,
    StartWarning,
)
from seeding.errors import (
    CheckpointOfEndedRun,
    CheckpointThreadMismatch,
    InvalidRequest,
    UnknownCheckpoint,
)
from seeding.facts import BranchFact, CheckpointFact, RunFact, ThreadFacts
from seeding.request import EPHEMERAL, RunRequest
from seeding.run_endings import ABANDONED, SUPERSEDED, cancelled, is_spent, lost_cause
from seeding.snapshot import read_snapshot
from seeding.thread_busy import cannot_take, check_owner_is_here, check_queue, leave_latest

FIRST_BRANCH = "main"


def resolve_start(request: RunRequest, facts: ThreadFacts) -> StartDecision:
    """Decide which run goes on or opens, and from what (SG-12, INT-14, INT-15).

    Raises:
        InvalidRequest: ``abandon`` contradicts ``recover`` or the named checkpoint.
        TerminalSnapshot: The snapshot is the state of an ended run.
        UnreadableSnapshot: The snapshot is no state.
        UnknownCheckpoint: ``forkFrom`` does not exist, or ``checkpointId`` does not and
            ``onUnknownCheckpoint`` is ``refuse``.
        CheckpointThreadMismatch: The named checkpoint is another thread's.
        CheckpointOfEndedRun: The named checkpoint's run has ended.
        ThreadBusy: The latest run has not ended, and another namespace owns it, or the request
            leaves it behind or carries what it cannot take; or queued turns come first.
    """
    if facts.chain_run is not None:
        return _restore(facts.chain_run)
    decision = _by_table(request, facts)
    if isinstance(decision, Open):
        check_queue(request, facts)
    return decision


def _by_table(request: RunRequest, facts: ThreadFacts) -> StartDecision:
    if request.recover and request.abandon:
        raise InvalidRequest("recover goes on with the latest run, abandon ends it; give one")
    if request.initial_snapshot is not None:
        return _from_snapshot(request, facts)
    if request.fork_from is not None:
        return _from_fork(request, facts, request.fork_from)
    if request.checkpoint_id is not None:
        return _from_checkpoint(request, facts, request.checkpoint_id)
    return _from_thread(request, facts)


def _restore(run: RunFact) -> Restore:
    return Restore(
        run_id=run.run_id, run_epoch=run.run_epoch, has_ended=run.has_ended, start=run.start
    )


def _from_snapshot(request: RunRequest, facts: ThreadFacts) -> Open:
    read_snapshot(request.initial_snapshot)
    ends = leave_latest(request, facts, "initialSnapshot starts from elsewhere")
    return _open_apart(facts, Base(kind="snapshot"), provenance.by_snapshot(), ends=ends)


def _from_fork(request: RunRequest, facts: ThreadFacts, named: str) -> Open:
    if facts.fork is None:
        raise UnknownCheckpoint(
            f"forkFrom names checkpoint {named!r}, which {facts.why_missing(named)}; "
            "list a thread's with: fermata checkpoints THREAD",
            checkpointId=named,
        )
    if facts.fork.run.config.get("checkpointStore") == EPHEMERAL:
        raise InvalidRequest(
            f"forkFrom {named} is of an ephemeral run, which leaves nothing to stand on; give "
            "its state as initialSnapshot while it is open"
        )
    ends = leave_latest(request, facts, f"forkFrom {named} starts from elsewhere")
    return _open_apart(
        facts,
        _fork_base(facts.fork),
        provenance.by_fork(),
        stands_on=facts.fork,
        ends=ends,
        warnings=_position_warnings(request, facts, facts.fork),
    )


def _from_checkpoint(request: RunRequest, facts: ThreadFacts, named: str) -> StartDecision:
    checkpoint = facts.checkpoint
    if checkpoint is None:
        return _from_unknown(request, facts, named)
    run = checkpoint.run
    if checkpoint.thread_id != facts.thread_id:
        raise CheckpointThreadMismatch(
            f"checkpoint {named} is of thread {checkpoint.thread_id!r}, not of "
            f"{facts.thread_id!r}; to start from it here give it as forkFrom",
            checkpointId=named,
            threadId=checkpoint.thread_id,
        )
    if run.has_ended:
        raise CheckpointOfEndedRun(
            f"checkpoint {named} is of run {run.run_id}, which has ended ({run.cause}); a run "
            "never goes on after its end. Leave checkpointId out for the thread's next turn, or "
            "give it as forkFrom for a new run from there",
            checkpointId=named,
            runId=run.run_id,
        )
    if request.abandon:
        raise InvalidRequest(
            f"abandon would end run {run.run_id}, but checkpointId {named} asks to go on with "
            "it; leave one of them out"
        )
    check_owner_is_here(run, facts.namespace)
    if checkpoint.is_last_of_run and run.phase == "running" and is_spent(run):
        return _next_turn_after_lost(facts, run)
    if checkpoint.is_last_of_run:
        return _adopt(request, facts, run, provenance.by_checkpoint())
    return _rewind(request, facts, checkpoint)


def _from_unknown(request: RunRequest, facts: ThreadFacts, named: str) -> Open:
    if request.config.on_unknown_checkpoint == "refuse":
        raise UnknownCheckpoint(
            f"checkpointId names checkpoint {named!r}, which {facts.why_missing(named)}; list "
            "those of the thread with: fermata checkpoints THREAD. Leave it out for the thread's "
            "next turn",
            checkpointId=named,
        )
    why = f"checkpointId {named!r} {facts.why_missing(named)} and the start would be fresh"
    ends = leave_latest(request, facts, why)
    return _open_apart(
        facts,
        Base(kind="none"),
        provenance.by_unknown_checkpoint(named),
        ends=ends,
        warnings=(start_warnings.unknown_checkpoint(named, facts, ends=bool(ends)),),
    )


def _rewind(request: RunRequest, facts: ThreadFacts, checkpoint: CheckpointFact) -> Open:
    run = checkpoint.run
    return _open_apart(
        facts,
        Base(kind="checkpoint", checkpoint_id=checkpoint.checkpoint_id),
        provenance.by_checkpoint(),
        stands_on=checkpoint,
        ends=(cancelled(run, SUPERSEDED),),
        warnings=(
            start_warnings.effects_run_again(checkpoint),
            *start_warnings.pinned(request, facts.requested_graph, run, config=False),
        ),
    )


def _from_thread(request: RunRequest, facts: ThreadFacts) -> StartDecision:
    latest, branch = facts.latest, facts.branch_without_run
    if latest is None and branch is not None:
        return _on_branch(request, facts, branch)
    if latest is None:
        return _open_apart(facts, Base(kind="none"), provenance.by_default())
    if latest.has_ended:
        return _next_turn(facts, latest)
    check_owner_is_here(latest, facts.namespace)
    if request.abandon:
        return _next_turn(facts, latest, ends=(cancelled(latest, ABANDONED),))
    if latest.phase == "awaiting":
        return _adopt(request, facts, latest, provenance.by_thread("paused"))
    if request.recover and not is_spent(latest):
        return _adopt(request, facts, latest, provenance.by_thread("recovered"))
    return _next_turn_after_lost(facts, latest)


def _next_turn_after_lost(facts: ThreadFacts, run: RunFact) -> Open:
    lost = RunEnding(run_id=run.run_id, cause=lost_cause(run))
    return _next_turn(facts, run, ends=(lost,), warnings=(start_warnings.run_was_lost(run),))


def _position_warnings(
    request: RunRequest, facts: ThreadFacts, point: CheckpointFact
) -> tuple[StartWarning, ...]:
    """Return what to know of a start at the position of a checkpoint; nothing at a run's end."""
    if point.is_end:
        return ()
    again = (start_warnings.effects_run_again(point),) if point.effects_behind else ()
    return (
        *again,
        *start_warnings.pinned(request, facts.requested_graph, point.run, config=False),
    )


def _next_turn(
    facts: ThreadFacts,
    latest: RunFact,
    *,
    ends: tuple[RunEnding, ...] = (),
    warnings: tuple[StartWarning, ...] = (),
) -> Open:
    return Open(
        run_epoch=facts.highest_epoch + 1,
        branch=latest.branch,
        opens_branch=False,
        base=Base(kind="thread", checkpoint_id=latest.last_checkpoint, cleared=True),
        ends=ends,
        thread_version=facts.version,
        start=provenance.by_thread("thread"),
        warnings=warnings,
    )


def _on_branch(request: RunRequest, facts: ThreadFacts, branch: BranchFact) -> Open:
    return Open(
        run_epoch=facts.highest_epoch + 1,
        branch=branch.name,
        opens_branch=False,
        base=_fork_base(branch.point),
        stands_on=_point_of(branch.point),
        thread_version=facts.version,
        start=provenance.by_branch(),
        warnings=_position_warnings(request, facts, branch.point),
    )


def _adopt(request: RunRequest, facts: ThreadFacts, run: RunFact, start: Start) -> Adopt:
    if request.carries_content and request.config.on_busy == "reject":
        raise cannot_take(facts.thread_id, run, start.source)
    return Adopt(
        run_id=run.run_id,
        run_epoch=run.run_epoch,
        queues_content=request.carries_content,
        start=start,
        warnings=start_warnings.pinned(request, facts.requested_graph, run),
    )


def _open_apart(
    facts: ThreadFacts,
    base: Base,
    start: Start,
    *,
    stands_on: CheckpointFact | None = None,
    ends: tuple[RunEnding, ...] = (),
    warnings: tuple[StartWarning, ...] = (),
) -> Open:
    """Open a run that does not start from the thread's latest state, on a branch of its own."""
    count = facts.branch_count
    return Open(
        run_epoch=facts.highest_epoch + 1,
        branch=FIRST_BRANCH if count == 0 else f"b{count + 1}",
        opens_branch=True,
        stands_on=stands_on and _point_of(stands_on),
        base=base,
        ends=ends,
        thread_version=facts.version,
        start=start,
        warnings=warnings,
    )


def _point_of(checkpoint: CheckpointFact) -> BranchPoint:
    return BranchPoint(
        thread_id=checkpoint.thread_id, branch=checkpoint.branch, up_to=checkpoint.version
    )


def _fork_base(point: CheckpointFact) -> Base:
    return Base(kind="checkpoint", checkpoint_id=point.checkpoint_id, cleared=point.is_end)
