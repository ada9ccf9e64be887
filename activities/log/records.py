"""How an accepted commit becomes rows: pure, no database."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from activities.log.cells import CellGroup
from activities.log.checks import RunFacts
from activities.log.encoding import EncodedCommit, checksum, dump
from activities.log.stored import Execution, RunPhase, Takeover
from seeding.commits import CommitOperation, Opening, StateCommand, TicketTimes
from seeding.tickets import Ticket

Row = dict[str, Any]

PHASES: dict[str, RunPhase] = {"Running": "running", "Awaiting": "awaiting", "Ended": "ended"}
"""What each disposition makes of its run."""


def iso(moment: datetime) -> str:
    """Return a moment as ISO 8601 text in UTC, to the millisecond."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def ticket_times(ticket: Ticket, created_at: str) -> TicketTimes:
    """Return the times of a ticket whose commit the log recorded at ``created_at``."""
    deadline = None
    if ticket.deadline_after is not None:
        opened = datetime.fromisoformat(created_at)
        deadline = iso(opened + timedelta(seconds=ticket.deadline_after))
    return TicketTimes(ticket=ticket.ticket, created_at=created_at, deadline=deadline)


def commit_row(operation: CommitOperation, encoded: EncodedCommit, run: RunFacts, at: str) -> Row:
    """Return the row of ``commits``; ``run`` is the run after the commit."""
    return {
        "thread_id": run.thread_id,
        "thread_version": run.last_version,
        "run_id": run.run_id,
        "ordinal": operation.ordinal,
        "owner_epoch": operation.owner_epoch,
        "branch": run.branch,
        "kind": operation.commit.disposition.kind,
        "payload_hash": operation.payload_hash,
        "message_count": run.message_count,
        "created_at": at,
        **encoded.columns,
    }


def message_row(run: RunFacts, place: int, identity: str, body: str) -> Row:
    """Return one row of ``messages``."""
    return {
        "thread_id": run.thread_id,
        "branch": run.branch,
        "place": place,
        "version": run.last_version,
        "message_id": identity,
        "body": body,
        "checksum": checksum(place, identity, body),
    }


def cell_row(
    run: RunFacts,
    place: int,
    command: StateCommand,
    group: CellGroup,
    *,
    value: str | None,
    given: str,
) -> Row:
    """Return one row of ``cells``; what the command itself said is kept where it differs."""
    said = None if value == given or (value is None and command.value is None) else given
    return {
        "thread_id": run.thread_id,
        "branch": run.branch,
        **group._asdict(),
        "key": command.key,
        "version": run.last_version,
        "place": place,
        "value": value,
        "policy": command.policy,
        "stamp": command.run_id,
        "given": said,
        "checksum": checksum(command.key, value),
    }


def run_row_rows(
    operation: CommitOperation, encoded: EncodedCommit, run: RunFacts
) -> Iterator[Row]:
    """Yield the rows of ``run_rows``."""
    for place, row in enumerate(operation.commit.rows):
        yield {
            "run_id": run.run_id,
            "kind": row.kind,
            "node_id": row.node_id,
            "occurrence": row.occurrence,
            "idx": row.index,
            "version": run.last_version,
            "place": place,
            "thread_id": run.thread_id,
            "body": encoded.rows[place],
            "checksum": checksum(row.node_id, row.occurrence, row.index, encoded.rows[place]),
        }


def ticket_row(ticket: Ticket, run: RunFacts, place: int, now: datetime) -> Row:
    """Return the row of a ticket that this commit opens."""
    times = ticket_times(ticket, iso(now))
    return {
        "ticket": ticket.ticket,
        "run_id": run.run_id,
        "thread_id": run.thread_id,
        "body": dump(ticket.to_json()),
        "opened_version": run.last_version,
        "place": place,
        "created_at": times.created_at,
        "deadline": times.deadline,
        "closed_version": None,
        "closing": None,
    }


def branch_row(thread_id: str, opening: Opening, version: int) -> Row:
    """Return the row of a branch that an opening opens."""
    return {
        "thread_id": thread_id,
        "name": opening.branch,
        "lineage": dump([point.to_json() for point in opening.lineage or ()]),
        "opened_version": version,
    }


def owner_row(
    run_id: str,
    owner_epoch: int,
    chain_id: str,
    execution: Execution,
    at: str,
    *,
    last_ordinal: int = -1,
    takeover: Takeover | None = None,
) -> Row:
    """Return the row that says who owns a run from ``owner_epoch`` on."""
    return {
        "run_id": run_id,
        "owner_epoch": owner_epoch,
        "chain_id": chain_id,
        "execution_run_id": execution.execution_run_id,
        "namespace": execution.namespace,
        "at": at,
        "last_ordinal": last_ordinal,
        "start": dump(takeover.start) if takeover else None,
        "warnings": dump(list(takeover.warnings)) if takeover else None,
    }


def run_row(operation: CommitOperation, opening: Opening, version: int, at: str) -> Row:
    """Return the row of a run that an opening opens, before that commit is applied to it."""
    commit = operation.commit
    return {
        "run_id": commit.run_id,
        "thread_id": commit.thread_id,
        "branch": opening.branch,
        "run_epoch": opening.run_epoch,
        "owner_epoch": 1,
        "chain_id": opening.chain_id,
        "graph_id": opening.graph_id,
        "graph_digest": opening.graph_digest,
        "config": dump(opening.config),
        "start": dump(opening.start),
        "idempotency_key": opening.idempotency_key,
        "request_hash": opening.request_hash,
        "continues": dump([point.to_json() for point in opening.continues])
        if opening.continues
        else None,
        "opened_at": at,
        "opened_version": version,
    }


def run_changes(operation: CommitOperation, encoded: EncodedCommit, run: RunFacts, at: str) -> Row:
    """Return what a commit changes in the row of its run."""
    cause = operation.commit.disposition.cause
    return {
        "phase": run.phase,
        "cause": dump(cause.to_json()) if cause else None,
        "result": encoded.columns["result"],
        "last_ordinal": run.last_ordinal,
        "last_version": run.last_version,
        "message_count": run.message_count,
        "ended_at": at if run.phase == "ended" else None,
    }
