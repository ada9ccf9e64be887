"""Transcripts: references to a prefix of messages that only ever grows (awaken 2.10)."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select

from activities.log.encoding import verify_commit_row
from activities.log.lineage import read_lineage, read_messages
from activities.log.states import lineage_of, resolve_commit
from activities.log.tables import commits
from seeding.canonical import canonical_hash
from seeding.errors import (
    InvalidRange,
    OverlappingRanges,
    SnapshotMismatch,
    SnapshotUnavailable,
    UnknownThread,
)
from seeding.model import JsonObject, Model

_COMMIT = select(commits).where(
    commits.c.thread_id == bindparam("thread"), commits.c.thread_version == bindparam("version")
)


class TranscriptReference(Model):
    """Names the messages a thread has at a commit; it stays good while more are appended.

    Attributes:
        version: The thread version of the commit.
        count: How many messages there are.
        digest: The hash of them all, in order.
    """

    thread_id: str
    branch: str
    version: int
    count: int
    digest: str


def make_transcript(
    connection: Connection, thread_id: str, checkpoint_id: str | None
) -> TranscriptReference:
    """Return the reference to the messages of a thread at a checkpoint, by default its latest.

    Raises:
        UnknownThread: No run was ever opened on the thread.
        UnknownCheckpoint: The checkpoint does not exist on this thread.
        CorruptLog: A message is missing or is not what was written.
    """
    row, _ = resolve_commit(connection, thread_id, checkpoint_id)
    messages = read_messages(connection, lineage_of(connection, row))
    return TranscriptReference(
        thread_id=thread_id,
        branch=row["branch"],
        version=row["thread_version"],
        count=len(messages),
        digest=transcript_digest(messages),
    )


def read_transcript(
    connection: Connection,
    reference: TranscriptReference,
    ranges: Sequence[tuple[int, int]] | None,
) -> list[JsonObject]:
    """Return the messages a reference names, or slices of them, after comparing its digest.

    Args:
        connection: An open transaction.
        reference: As :func:`make_transcript` returns it.
        ranges: Half-open slices ``[first, end)`` by place; they are given back in ascending
            order, one after the other. None is everything.

    Raises:
        InvalidRange: A slice lies outside the transcript, or ends before it begins.
        OverlappingRanges: Two slices have a message in common.
        SnapshotUnavailable: The commit is not in the log, or not any more.
        SnapshotMismatch: The log holds other messages there.
        CorruptLog: A message is missing or is not what was written.
    """
    slices = sorted_ranges(ranges, reference.count)
    messages = _prefix(connection, reference)
    found = transcript_digest(messages)
    if found != reference.digest or len(messages) != reference.count:
        raise SnapshotMismatch(
            f"thread {reference.thread_id!r} has {len(messages)} messages of digest {found} at "
            f"version {reference.version}; the reference was made of {reference.count} of digest "
            f"{reference.digest}"
        )
    return [message for first, end in slices for message in messages[first:end]]


def sorted_ranges(ranges: Sequence[tuple[int, int]] | None, count: int) -> list[tuple[int, int]]:
    """Return slices of ``count`` messages in ascending order.

    Raises:
        InvalidRange: A slice lies outside, or ends before it begins.
        OverlappingRanges: Two slices have a message in common.
    """
    if ranges is None:
        return [(0, count)]
    for first, end in ranges:
        if not 0 <= first <= end <= count:
            raise InvalidRange(
                f"[{first}, {end}) is no slice of a transcript of {count} messages; give "
                f"0 <= first <= end <= {count}"
            )
    reached, reached_by = 0, (0, 0)
    ordered = sorted(ranges)
    for first, end in ordered:
        if first < reached and first < end:
            raise OverlappingRanges(
                f"[{first}, {end}) and [{reached_by[0]}, {reached_by[1]}) overlap; every message "
                "is in one slice at most"
            )
        if end > reached:
            reached, reached_by = end, (first, end)
    return ordered


def transcript_digest(messages: Sequence[JsonObject]) -> str:
    """Return the hash of messages in order: of their hashes, so that none is held as text twice."""
    return canonical_hash([canonical_hash(message) for message in messages])


def _prefix(connection: Connection, reference: TranscriptReference) -> list[JsonObject]:
    named = {"thread": reference.thread_id, "version": reference.version}
    row = connection.execute(_COMMIT, named).mappings().first()
    if row is None or row["branch"] != reference.branch:
        raise SnapshotUnavailable(
            f"thread {reference.thread_id!r} has no commit {reference.version} on branch "
            f"{reference.branch!r}; it was pruned, deleted, or is of another log"
        )
    verify_commit_row(row)
    try:
        lineage = read_lineage(connection, reference.thread_id, reference.branch, reference.version)
    except UnknownThread as error:
        raise SnapshotUnavailable(f"{error.message} any more; it was pruned") from error
    return read_messages(connection, lineage)
