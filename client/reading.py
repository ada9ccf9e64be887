"""What the log says of threads, as the JSON that people read (contract, sections 1 and 4).

Nothing here needs a worker or a server, and nothing here changes the log.
"""

from collections.abc import Sequence

from activities.log import AsyncLogReader, StateView, StoredRun
from activities.results import run_result
from seeding.bounded import shown_by_reference
from seeding.commits import AuditDraft
from seeding.errors import UnknownThread
from seeding.identity import WORKFLOW_END, checkpoint_id
from seeding.json_values import MAX_PAYLOAD_BYTES
from seeding.model import JsonObject, as_object
from seeding.tickets import OpenTicket

PART_BYTES = MAX_PAYLOAD_BYTES // 4
"""The most bytes each of ``data``, ``metadata`` and ``iterator`` shows by value."""


def latest_run(log: AsyncLogReader, thread_id: str) -> StoredRun:
    """Return the run opened last on a thread.

    Raises:
        UnknownThread: No run was ever opened on it.
    """
    run = log.latest_run(thread_id)
    if run is None:
        raise UnknownThread(f"the log has no run of thread {thread_id!r}")
    return run


# --- states -------------------------------------------------------------------------------------


def state_document(
    log: AsyncLogReader, thread_id: str, checkpoint: str | None = None, *, full: bool = False
) -> JsonObject:
    """Return the state of a thread with its ``run`` block (contract 4).

    Args:
        log: The log.
        thread_id: The thread.
        checkpoint: One of its checkpoints; None is its latest state.
        full: Whether large values are shown whole; otherwise they are shown by reference.

    Raises:
        UnknownThread: No run was ever opened on the thread.
        UnknownCheckpoint: The thread has no such checkpoint.
    """
    view = log.state(thread_id, checkpoint)
    shown = view.state.to_json()
    if not full:
        for name in ("data", "metadata", "iterator"):
            part = as_object(shown[name])
            if part is not None:
                shown[name] = shown_by_reference(part, name, PART_BYTES)
    return {**shown, "run": _run_block(view)}


def _run_block(view: StateView) -> JsonObject:
    run, ended = view.run, view.phase == "ended"
    block: JsonObject = {
        "runId": run.run_id,
        "runEpoch": run.run_epoch,
        "phase": shown_phase(view.phase, view.open_tickets),
        # Null for a person's pause, whose reason stands in its ticket (contract 4).
        "pausedReason": None,
        "graph": graph_name(run),
        "branch": view.branch,
        "checkpointId": WORKFLOW_END if ended else view.checkpoint_id,
        "waitingFor": [item.shown() for item in view.open_tickets],
    }
    if ended and run.cause is not None:
        block["cause"] = run.cause.kind
    return block


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
    """Return every thread with where its latest run stands, in the order of their ids."""
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
    """Return a thread's checkpoints, oldest first (contract 1).

    Raises:
        UnknownThread: No run was ever opened on the thread.
    """
    return [row.to_json() for row in log.checkpoints(thread_id)]


# --- where a run started ------------------------------------------------------------------------


def provenance_document(log: AsyncLogReader, thread_id: str) -> JsonObject:
    """Return where the latest run of a thread started from, and what that cleared (SG-12).

    ``cleared`` holds, by field, the value that the run before had left.

    Raises:
        UnknownThread: No run was ever opened on the thread.
    """
    run = latest_run(log, thread_id)
    events = _opening_events(log, run)
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
    }


def _opening_events(log: AsyncLogReader, run: StoredRun) -> tuple[AuditDraft, ...]:
    # The commits of a run follow each other on its thread: another run opens after its end only.
    before = run.last_version - run.last_ordinal - 1
    for stored in log.commits(run.thread_id, after=before, limit=1):
        commit = stored.operation.commit
        if commit.run_id == run.run_id and commit.opening is not None:
            return commit.events
    return ()


def _cleared(events: Sequence[AuditDraft]) -> JsonObject:
    for event in events:
        if event.kind == "provenance":
            return as_object(event.body.get("cleared")) or {}
    return {}
