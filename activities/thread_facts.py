"""Reading from the log what the start table looks at."""

from datetime import UTC, datetime
from shlex import quote

from activities.log import LogReader, StoredCheckpoint, StoredOwner, StoredRun
from seeding.decisions import Start
from seeding.errors import CorruptLog, UnknownThread
from seeding.facts import BranchFact, CheckpointFact, RunFact, ThreadFacts
from seeding.identity import WORKFLOW_END, checkpoint_id
from seeding.model import JsonObject
from seeding.request import RunRequest


def read_facts(
    log: LogReader,
    request: RunRequest,
    chain_id: str,
    requested_graph: str | None,
    *,
    namespace: str | None = None,
    lost_because: str | None = None,
    started_at: datetime | None = None,
) -> ThreadFacts:
    """Return the facts of the thread that ``request`` is for.

    Args:
        log: The log.
        request: The request.
        chain_id: First execution of the chain that starts.
        requested_graph: The graph the request names, where it could be resolved.
        namespace: The namespace of that execution.
        lost_because: What Temporal says of the execution that owns the thread's latest run.
        started_at: When that execution was started; what was queued later comes behind it.
    """
    thread_id = request.thread_id
    latest = log.latest_run(thread_id)
    own = log.run_of_chain(chain_id)
    fact = None if latest is None else run_fact(log, latest, lost_because)
    return ThreadFacts(
        thread_id=thread_id,
        namespace=namespace,
        version=log.thread_version(thread_id),
        highest_epoch=log.highest_epoch(thread_id),
        branch_count=log.branch_count(thread_id),
        latest=fact,
        branch_without_run=_branch_without_run(log, thread_id) if fact is None else None,
        chain_run=None if own is None else run_fact(log, own),
        checkpoint=_checkpoint(log, _named(request.checkpoint_id, fact)),
        fork=_checkpoint(log, _named(request.fork_from, fact)),
        pruned=tuple(
            named
            for named in (request.checkpoint_id, request.fork_from)
            if named is not None and log.is_pruned(named)
        ),
        requested_graph=requested_graph,
        queued=log.count_ahead(thread_id, chain_id, started_at or datetime.now(UTC)),
    )


def run_fact(log: LogReader, run: StoredRun, lost_because: str | None = None) -> RunFact:
    """Return a stored run as the start table sees it."""
    owners = log.owners(run.run_id)
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
        lost_because=lost_because,
        namespace=owners[-1].execution.namespace if owners else None,
        takeovers=takeovers_without_progress(run, owners),
    )


def takeovers_without_progress(run: StoredRun, owners: list[StoredOwner]) -> int:
    """Return how often a run was taken over since its last commit (AW-14)."""
    return sum(1 for owner in owners if owner.takeover and owner.last_ordinal == run.last_ordinal)


def last_run(log: LogReader, thread_id: str) -> JsonObject | None:
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


def _branch_without_run(log: LogReader, thread_id: str) -> BranchFact | None:
    """Return the branch that a fork has left on a thread without a run.

    Raises:
        CorruptLog: What it stands on is lost; without it a start would silently be a fresh one.
    """
    for branch in log.branches(thread_id):
        tip = branch.lineage[-1]
        point = _checkpoint(log, log.checkpoint_at(tip.thread_id, tip.up_to))
        if point is None:
            raise CorruptLog(
                f"thread {thread_id!r} was forked from thread {tip.thread_id!r} at its commit "
                f"{tip.up_to}, which is missing; see `fermata verify {quote(tip.thread_id)}`"
            )
        return BranchFact(name=branch.name, point=point)
    return None


def _named(named: str | None, latest: RunFact | None) -> str | None:
    """Return the checkpoint id that a request means: ``workflow_end`` is the thread's last."""
    if named == WORKFLOW_END and latest is not None and latest.has_ended:
        return latest.last_checkpoint
    return named


def _checkpoint(log: LogReader, named: str | None) -> CheckpointFact | None:
    if named is None:
        return None
    stored = log.checkpoint(named)
    if stored is None:
        return None
    run = log.run(stored.run_id)
    return None if run is None else _checkpoint_fact(log, stored, run)


def _checkpoint_fact(log: LogReader, stored: StoredCheckpoint, run: StoredRun) -> CheckpointFact:
    ends = stored.is_last and stored.run_ended
    return CheckpointFact(
        checkpoint_id=stored.checkpoint_id,
        run=run_fact(log, run),
        ordinal=stored.ordinal,
        thread_id=stored.thread_id,
        version=stored.version,
        branch=stored.branch,
        is_last_of_run=stored.is_last,
        effects_behind=() if ends else _effects_behind(log, stored),
    )


def _effects_behind(log: LogReader, stored: StoredCheckpoint) -> tuple[str, ...]:
    """Return the effects of a run that are not completed at one of its checkpoints."""
    known = log.effects(stored.thread_id, stored.run_id)
    pairs = [(effect.node_id, effect.occurrence) for effect in known]
    done = log.outputs(stored.run_id, pairs, version=stored.version)
    return tuple(
        f"{effect.node_id}:{effect.occurrence} ({effect.status})"
        for effect in known
        if (effect.node_id, effect.occurrence) not in done
    )
