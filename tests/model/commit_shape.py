"""What no log could accept, whatever it holds: the model's own reading of a commit's shape."""

from collections import Counter

from seeding.commits import CommitOperation, ThreadCommit, commit_hash

ALLOWED = {
    ("Running", False): None,
    ("Running", True): "TicketForbidden",
    ("Awaiting", False): "TicketRequired",
    ("Awaiting", True): None,
    ("Ended", False): None,
    ("Ended", True): "TicketForbidden",
}
"""Disposition by whether tickets are named: the nine cells, with whose they are left open."""


def misshapen(operation: CommitOperation) -> str | None:
    """Return the code of what is wrong with an operation in itself, or None."""
    commit = operation.commit
    if not commit.thread_id or not commit.run_id:
        return "InvalidCommit"
    found = _disposition(commit) or _tickets(commit) or _state(commit) or _ids(commit)
    if found is not None:
        return found
    if commit_hash(commit) != operation.payload_hash:
        return "InvalidCommit"
    return None if operation.run_id == commit.run_id else "OperationRunMismatch"


def _disposition(commit: ThreadCommit) -> str | None:
    said = commit.disposition
    refusal = ALLOWED[said.kind, bool(said.tickets)]
    if refusal is not None:
        return refusal
    ends = said.kind == "Ended"
    opens_waiting = said.kind == "Awaiting" and commit.opening is not None
    return "InvalidCommit" if ends != (said.cause is not None) or opens_waiting else None


def _tickets(commit: ThreadCommit) -> str | None:
    named = [reference.ticket for reference in commit.disposition.tickets]
    if len(set(named)) != len(named):
        return "InvalidCommit"
    for whose in (*commit.disposition.tickets, *commit.opened):
        if whose.run_id != commit.run_id:
            return "TicketRunMismatch"
        if whose.thread_id != commit.thread_id:
            return "TicketThreadMismatch"
    opened = {ticket.ticket for ticket in commit.opened}
    closed = {closing.ticket for closing in commit.closed}
    return "InvalidCommit" if not opened <= set(named) or closed & set(named) else None


def _state(commit: ThreadCommit) -> str | None:
    for command in commit.state:
        if command.scope == "run" and command.run_id not in (None, commit.run_id):
            return "StateScopeMismatch"
        if (command.cell == "position") != (command.scope == "run"):
            return "InvalidCommit"
    exclusive = Counter(
        (command.cell, command.key)
        for command in commit.state
        if command.op == "set" and command.policy == "exclusive"
    )
    return "StateConflict" if any(count > 1 for count in exclusive.values()) else None


def _ids(commit: ThreadCommit) -> str | None:
    nameless = any(not message.get("id") for message in commit.messages)
    return "InvalidCommit" if nameless else None
