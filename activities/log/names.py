"""Texts of a commit that are columns of their own, and what they may not hold.

Values are kept as JSON, which writes every control character as an escape. Names are kept as
they are, and PostgreSQL's text cannot hold U+0000; a SQLite file could, but a log that moves
from one to the other has to fit, so the rule is one for both.
"""

from collections.abc import Iterator

from seeding.commits import CommitOperation, ThreadCommit

_NUL = "\0"


def find_unstorable(commit: ThreadCommit) -> str | None:
    """Return the place of the first name in ``commit`` that holds U+0000, or None."""
    return next((place for place, name in _names(commit) if _NUL in name), None)


def can_be_looked_up(operation: CommitOperation) -> bool:
    """Whether every database can compare the names of an operation with its rows."""
    return _NUL not in operation.run_id and find_unstorable(operation.commit) is None


def _names(commit: ThreadCommit) -> Iterator[tuple[str, str]]:
    yield "threadId", commit.thread_id
    yield "runId", commit.run_id
    yield "nodeId", commit.node_id or ""
    for index, message in enumerate(commit.messages):
        yield f"messages.{index}.id", str(message.get("id"))
    for command in commit.state:
        yield f"the key of {command.cell}", command.key
        yield f"the run of {command.cell}", command.run_id or ""
    for row in commit.rows:
        yield f"the node of an {row.kind}", row.node_id
    for ticket in commit.opened:
        yield "the id of a ticket", ticket.ticket
    for closing in commit.closed:
        yield "the id of a closed ticket", closing.ticket
    opening = commit.opening
    if opening is None:
        return
    yield "chainId", opening.chain_id
    yield "graphId", opening.graph_id
    yield "graphDigest", opening.graph_digest
    yield "branch", opening.branch
    yield "requestHash", opening.request_hash or ""
    yield "idempotencyKey", opening.idempotency_key or ""
    for point in (*(opening.lineage or ()), *opening.continues):
        yield "lineage", point.thread_id
        yield "lineage", point.branch
    for point in opening.continues:
        yield "continues", point.run_id
