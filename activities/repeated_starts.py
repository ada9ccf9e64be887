"""A start that is sent again under its idempotency key: one turn, whoever repeats it."""

from activities.log import StoredRun
from activities.resources import Resources
from activities.restoring import restored
from seeding.canonical import canonical_hash
from seeding.errors import IdempotencyKeyReuse, ThreadBusy
from seeding.request import RunRequest
from workflows.graph.model import ResolvedGraph
from workflows.wire import SeedResult


def request_hash(request: RunRequest) -> str | None:
    """Return what tells a request under a key from another one; None for one without a key."""
    if request.idempotency_key is None:
        return None
    body = request.to_json()
    body.pop("idempotencyKey")
    return canonical_hash(body)


def run_begun_before(resources: Resources, request: RunRequest) -> StoredRun | None:
    """Return the ended run that the same request has begun before; None for a new one.

    Raises:
        IdempotencyKeyReuse: The key was used before, for another request.
        ThreadBusy: That run has not ended.
    """
    key = request.idempotency_key
    known = None if key is None else resources.log.run_of_key(request.thread_id, key)
    if known is None:
        return None
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
