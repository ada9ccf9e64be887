"""A start that is sent again under its idempotency key: one turn, whoever repeats it."""

from activities.log import StoredRun
from activities.resources import Resources
from activities.restoring import restored
from seeding.errors import IdempotencyKeyReuse, InvalidRequest, ThreadBusy
from seeding.queued_turns import brought_along, content_hash, request_hash
from seeding.request import RunRequest
from workflows.graph.model import ResolvedGraph
from workflows.wire import SeedResult


def run_begun_before(resources: Resources, request: RunRequest) -> StoredRun | None:
    """Return the ended run that the same request has begun before; None for a new one.

    Raises:
        IdempotencyKeyReuse: The key was used before, for another request.
        ThreadBusy: That run has not ended.
    """
    key = request.idempotency_key
    known = None if key is None else resources.log.run_of_key(request.thread_id, key)
    if known is None:
        return _run_of_turn(resources, request)
    if known.request_hash != request_hash(request):
        raise IdempotencyKeyReuse(
            f"idempotencyKey {key!r} began run {known.run_id} of thread {request.thread_id!r}, by "
            "another request; give a request of its own another key",
            runId=known.run_id,
        )
    if known.phase != "ended":
        raise ThreadBusy(
            f"run {known.run_id} of thread {request.thread_id!r}, which idempotencyKey {key!r} "
            f"began, has not ended and is {known.phase}; its workflow is gone, see "
            "`fermata reconcile`",
            runId=known.run_id,
            tickets=[ticket.body.ticket for ticket in known.open_tickets],
        )
    return known


def as_before(resources: Resources, run: StoredRun, graph: ResolvedGraph) -> SeedResult:
    """Return what an execution closes with as that run did; nothing is written."""
    seeded = restored(resources, run, graph)
    assert seeded.restored is not None
    result = {**(seeded.restored.result or {}), "duplicate": True}
    kept = seeded.restored.model_copy(update={"result": result})
    return seeded.model_copy(update={"restored": kept})


def _run_of_turn(resources: Resources, request: RunRequest) -> StoredRun | None:
    """Return the ended run that a queued turn was; None where the turn is queued, or is none.

    Raises:
        IdempotencyKeyReuse: The request's key came with another request that is queued.
        InvalidRequest: The turn is not what the request says, or has left the queue otherwise.
        ThreadBusy: The same request is queued under its key, or the turn's run has not ended.
    """
    if request.queued_turn is None:
        _check_not_queued(resources, request)
        return None
    turn = resources.log.queued_turn(request.thread_id, request.queued_turn)
    named = f"queued turn {request.queued_turn} of thread {request.thread_id!r}"
    if turn is None or turn.request_hash != content_hash(request):
        raise InvalidRequest(
            f"{named} {'is not there' if turn is None else 'is another request'}; queuedTurn is "
            "given by the thread's queue, leave it out"
        )
    if turn.state == "queued":
        return None
    run = None if turn.run_id is None else resources.log.run(turn.run_id)
    if run is None:
        raise InvalidRequest(f"{named} is {turn.state}; no run begins with it any more")
    if run.phase != "ended":
        raise ThreadBusy(
            f"{named} began run {run.run_id}, which has not ended and is {run.phase}; its "
            "workflow is gone, see `fermata reconcile`",
            runId=run.run_id,
            tickets=[ticket.body.ticket for ticket in run.open_tickets],
        )
    return run


def _check_not_queued(resources: Resources, request: RunRequest) -> None:
    key = request.idempotency_key
    turn = None if key is None else resources.log.queued_turn_of_key(request.thread_id, key)
    if turn is None or turn.state != "queued":
        return
    said = f"idempotencyKey {key!r} of thread {request.thread_id!r} came with queued turn "
    if turn.request_hash not in (content_hash(request), content_hash(brought_along(request))):
        raise IdempotencyKeyReuse(
            f"{said}{turn.number}, by another request; give a request of its own another key"
        )
    raise ThreadBusy(
        f"{said}{turn.number}, which starts when its turn comes; see `fermata queue`",
        runId=None,
        tickets=[],
        queued=resources.log.count_queued(request.thread_id),
        queuedTurn=turn.number,
    )
