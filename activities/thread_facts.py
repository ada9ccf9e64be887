"""Reading from the log what the start table looks at."""

from activities.log import CommitLog, StoredCheckpoint, StoredRun
from seeding.decisions import Start
from seeding.errors import UnknownThread
from seeding.facts import CheckpointFact, RunFact, ThreadFacts
from seeding.identity import checkpoint_id
from seeding.model import JsonObject
from seeding.request import RunRequest


def read_facts(
    log: CommitLog, request: RunRequest, chain_id: str, requested_graph: str | None
) -> ThreadFacts:
    """Return the facts of the thread that ``request`` is for."""
    thread_id = request.thread_id
    latest = log.latest_run(thread_id)
    own = log.run_of_chain(chain_id)
    return ThreadFacts(
        thread_id=thread_id,
        version=log.thread_version(thread_id),
        highest_epoch=log.highest_epoch(thread_id),
        branch_count=len(log.branches(thread_id)),
        latest=None if latest is None else run_fact(latest),
        chain_run=None if own is None else run_fact(own),
        checkpoint=_checkpoint(log, request.checkpoint_id),
        fork=_checkpoint(log, request.fork_from),
        requested_graph=requested_graph,
    )


def run_fact(run: StoredRun) -> RunFact:
    """Return a stored run as the start table sees it."""
    return RunFact(
        run_id=run.run_id,
        thread_id=run.thread_id,
        branch=run.branch,
        run_epoch=run.run_epoch,
        phase=run.phase,
        last_ordinal=run.last_ordinal,
        tickets=tuple(ticket.body.ticket for ticket in run.open_tickets),
        cause=None if run.cause is None else run.cause.kind,
        graph=f"{run.graph_id}@{run.graph_digest[:16]}",
        config=run.config,
        start=Start.model_validate(run.start) if run.start else None,
    )


def last_run(log: CommitLog, thread_id: str) -> JsonObject | None:
    """Return what a refused start shows of the thread's last run; None for a new thread."""
    try:
        run = log.latest_run(thread_id)
    except UnknownThread:
        return None
    if run is None:
        return None
    return {
        "runId": run.run_id,
        "phase": run.phase,
        "checkpointId": checkpoint_id(run.run_id, run.last_ordinal),
        "cause": None if run.cause is None else run.cause.kind,
        "tickets": [ticket.body.ticket for ticket in run.open_tickets],
    }


def _checkpoint(log: CommitLog, named: str | None) -> CheckpointFact | None:
    if named is None:
        return None
    stored = log.checkpoint(named)
    if stored is None:
        return None
    run = log.run(stored.run_id)
    return None if run is None else _checkpoint_fact(stored, run)


def _checkpoint_fact(stored: StoredCheckpoint, run: StoredRun) -> CheckpointFact:
    return CheckpointFact(
        checkpoint_id=stored.checkpoint_id,
        run=run_fact(run),
        ordinal=stored.ordinal,
        thread_id=stored.thread_id,
        version=stored.version,
        branch=stored.branch,
        is_last_of_run=stored.is_last,
    )
