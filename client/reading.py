"""What the log says of threads, as the JSON that people read (contract, sections 1 and 4).

Nothing here needs a worker or a server, and nothing here changes the log.
"""

from collections.abc import Sequence

from activities.log import (
    AsyncLogReader,
    StateView,
    StoredBranch,
    StoredEffect,
    StoredOwner,
    StoredRun,
    Takeover,
)
from activities.results import run_result
from client.forked_threads import FORKED, described, find_forked, forked_state
from seeding.bounded import shown_by_reference
from seeding.commits import AuditDraft
from seeding.errors import UnknownRun
from seeding.identity import WORKFLOW_END, checkpoint_id
from seeding.json_values import MAX_PAYLOAD_BYTES
from seeding.model import JsonObject, as_object
from seeding.tickets import OpenTicket

DAMAGED = "damaged"
"""The phase of a thread whose rows in the lists of threads and runs do not fit its commits."""

PART_BYTES = MAX_PAYLOAD_BYTES // 4
"""The most bytes each of ``data``, ``metadata`` and ``iterator`` shows by value."""


def latest_run(log: AsyncLogReader, thread_id: str) -> StoredRun:
    """Return the run opened last on a thread.

    Raises:
        UnknownThread: No run was ever opened on it.
    """
    run = log.latest_run(thread_id)
    if run is None:
        raise log.without_run(thread_id)
    return run


# --- states -------------------------------------------------------------------------------------


def state_document(
    log: AsyncLogReader, thread_id: str, checkpoint: str | None = None, *, full: bool = False
) -> JsonObject:
    """Return the state of a thread with its ``run`` block (contract 4).

    Of a thread that was forked and has no run yet it is what its first run will start from.

    Args:
        log: The log.
        thread_id: The thread.
        checkpoint: One of its checkpoints; None is its latest state.
        full: Whether large values are shown whole; otherwise they are shown by reference.

    Raises:
        UnknownThread: No run was ever opened on the thread.
        UnknownCheckpoint: The thread has no such checkpoint.
    """
    forked = find_forked(log, thread_id) if checkpoint is None else None
    if forked is None:
        view = log.state(thread_id, checkpoint)
        state, block = view.state, _run_block(view)
    else:
        state, block = forked_state(log, forked)
    shown = state.to_json()
    if not full:
        for name in ("data", "metadata", "iterator"):
            part = as_object(shown[name])
            if part is not None:
                shown[name] = shown_by_reference(part, name, PART_BYTES)
    return {**shown, "run": block}


def messages_document(log: AsyncLogReader, thread_id: str) -> list[JsonObject]:
    """Return a thread's messages, oldest first; of a forked one those it stands on.

    Raises:
        UnknownThread: No run was ever opened on the thread.
    """
    forked = find_forked(log, thread_id)
    if forked is None:
        return log.messages(thread_id)
    return log.messages(forked.origin, forked.point)


def _run_block(view: StateView) -> JsonObject:
    run, ended = view.run, view.phase == "ended"
    block: JsonObject = {
        "runId": run.run_id,
        "runEpoch": run.run_epoch,
        "phase": shown_phase(view.phase, view.open_tickets),
        "pausedReason": _paused_reason(view.open_tickets),
        "graph": graph_name(run),
        "branch": view.branch,
        "checkpointId": WORKFLOW_END if ended else view.checkpoint_id,
        "waitingFor": [item.shown() for item in view.open_tickets],
    }
    if ended and run.cause is not None:
        block["cause"] = run.cause.kind
    return block


def _paused_reason(tickets: Sequence[OpenTicket]) -> str | None:
    """Return why the run paused by itself; null for a person's pause (contract 4)."""
    made = [item.body.reason for item in tickets if item.body.is_by_budget]
    return made[0] if made else None


def shown_phase(phase: str, tickets: Sequence[OpenTicket]) -> str:
    """Return the phase people see: an open pause makes an awaiting run a paused one."""
    if phase == "awaiting" and any(item.body.is_pause for item in tickets):
        return "paused"
    return phase


def graph_name(run: StoredRun) -> str:
    """Return ``id@<first 16 hex of the digest>`` of the graph a run has pinned."""
    return f"{run.graph_id}@{run.graph_digest[:16]}"


# --- lists --------------------------------------------------------------------------------------


def runs_document(log: AsyncLogReader, thread_id: str) -> list[JsonObject]:
    """Return a thread's runs, oldest first; the rows of ended ones carry their results.

    Raises:
        UnknownThread: No run was ever opened on the thread.
    """
    if find_forked(log, thread_id) is None:
        latest_run(log, thread_id)
    return [_run_row(log, run) for run in log.runs(thread_id)]


def _run_row(log: AsyncLogReader, run: StoredRun) -> JsonObject:
    return {
        "runId": run.run_id,
        "runEpoch": run.run_epoch,
        "phase": shown_phase(run.phase, run.open_tickets),
        "cause": None if run.cause is None else run.cause.to_json(),
        "graph": graph_name(run),
        "branch": run.branch,
        "checkpointId": checkpoint_id(run.run_id, run.last_ordinal),
        "openedAt": run.opened_at,
        "endedAt": run.ended_at,
        "tickets": [item.body.ticket for item in run.open_tickets],
        "start": run.start,
        "config": run.config,
        "result": run_result(log, run.run_id),
    }


def threads_document(log: AsyncLogReader) -> list[JsonObject]:
    """Return every thread with where its latest run stands, in the order of their ids.

    A thread that was forked and has no run yet has the phase ``forked`` and names the
    checkpoint it stands on; one that the lists do not lead to has the phase ``damaged``.
    """
    known = [
        *_threads_with_runs(log),
        *(_forked(log, branch) for branch in log.forks()),
        *(_without_run(thread, DAMAGED) for thread in log.threads_without_head()),
    ]
    return sorted(known, key=lambda item: str(item["threadId"]))


def _forked(log: AsyncLogReader, branch: StoredBranch) -> JsonObject:
    forked_from = described(log, branch).checkpoint_id
    return {**_without_run(branch.thread_id, FORKED), "forkedFrom": forked_from}


def _without_run(thread_id: str, phase: str) -> JsonObject:
    return {
        "threadId": thread_id,
        "version": 0,
        "runId": None,
        "runEpoch": 0,
        "phase": phase,
        "graph": None,
        "tickets": [],
        "openedAt": None,
        "endedAt": None,
    }


def _threads_with_runs(log: AsyncLogReader) -> list[JsonObject]:
    return [
        {
            "threadId": thread.thread_id,
            "version": thread.version,
            "runId": thread.run.run_id,
            "runEpoch": thread.run.run_epoch,
            "phase": shown_phase(thread.run.phase, thread.run.open_tickets),
            "graph": graph_name(thread.run),
            "tickets": [item.body.ticket for item in thread.run.open_tickets],
            "openedAt": thread.run.opened_at,
            "endedAt": thread.run.ended_at,
        }
        for thread in log.threads()
    ]


def checkpoints_document(log: AsyncLogReader, thread_id: str) -> list[JsonObject]:
    """Return a thread's checkpoints, oldest first (contract 1); a forked one has none of its own.

    Raises:
        UnknownThread: No run was ever opened on the thread.
    """
    if find_forked(log, thread_id) is not None:
        return []
    return [row.to_json() for row in log.checkpoints(thread_id)]


def effects_document(
    log: AsyncLogReader, thread_id: str, run_id: str | None = None
) -> list[JsonObject]:
    """Return the effect ledger of a thread, or of one of its runs, oldest first.

    Raises:
        UnknownThread: No run was ever opened on the thread.
        UnknownRun: The thread has no such run.
    """
    latest_run(log, thread_id)
    if run_id is not None:
        run = log.run(run_id)
        if run is None or run.thread_id != thread_id:
            raise UnknownRun(
                f"thread {thread_id!r} has no run {run_id!r}; see `fermata runs {thread_id}`"
            )
    return [_effect_row(effect) for effect in log.effects(thread_id, run_id)]


def _effect_row(effect: StoredEffect) -> JsonObject:
    return {
        "effectKey": effect.effect_key,
        "runId": effect.run_id,
        "nodeId": effect.node_id,
        "occurrence": effect.occurrence,
        "ask": effect.ask,
        "type": effect.node_type,
        "status": effect.status,
        "code": effect.code,
        "attempts": effect.attempts,
        "argumentsHash": effect.arguments_hash,
        "begunAt": effect.begun_at,
        "finishedAt": effect.finished_at,
    }


def events_document(
    log: AsyncLogReader, thread_id: str, *, after: int, limit: int, run_id: str | None
) -> list[JsonObject]:
    """Return a page of what happened on a thread, oldest first.

    Raises:
        InvalidRequest: ``after`` is no version there can be.
        UnknownThread: No run was ever opened on the thread.
        UnknownRun: The thread has no such run.
    """
    found = log.events(thread_id, after=after, limit=limit, run_id=run_id)
    return [event.to_json() for event in found]


# --- where a run started ------------------------------------------------------------------------


def provenance_document(log: AsyncLogReader, thread_id: str) -> JsonObject:
    """Return where the latest run of a thread started from, and what that cleared (SG-12).

    ``cleared`` holds, by field, the value that the run before had left.

    Raises:
        UnknownThread: No run was ever opened on the thread.
    """
    run = latest_run(log, thread_id)
    events = log.opening_events(run.run_id)
    return {
        "threadId": thread_id,
        "runId": run.run_id,
        "runEpoch": run.run_epoch,
        "graph": graph_name(run),
        "branch": run.branch,
        "openedAt": run.opened_at,
        "start": run.start,
        "cleared": _cleared(events),
        "warnings": [event.body for event in events if event.kind == "warning"],
        "takeovers": [_takeover(run, owner) for owner in log.owners(run.run_id) if owner.takeover],
    }


def _takeover(run: StoredRun, owner: StoredOwner) -> JsonObject:
    how = owner.takeover or Takeover()
    return {
        "ownerEpoch": owner.owner_epoch,
        "source": how.start.get("source"),
        "at": owner.at,
        "executionRunId": owner.execution.execution_run_id,
        "namespace": owner.execution.namespace,
        "checkpointId": checkpoint_id(run.run_id, owner.last_ordinal),
        "warnings": list(how.warnings),
    }


def _cleared(events: Sequence[AuditDraft]) -> JsonObject:
    for event in events:
        if event.kind == "provenance":
            return as_object(event.body.get("cleared")) or {}
    return {}
