"""Looking at a log as a whole: its threads, its events, its transcripts, whether it is intact."""

from collections.abc import Iterator, Sequence

from activities.log import events, known_threads, transcripts
from activities.log.feed import EventRow
from activities.log.log_connection import LogConnection
from activities.log.log_verification import verify_shared
from activities.log.transcripts import TranscriptReference
from activities.log.verification import Finding, verify_thread
from seeding.errors import CorruptLog
from seeding.model import JsonObject


class Examining(LogConnection):
    """The reads that go over everything a thread holds."""

    def thread_names(self) -> Iterator[str]:
        """Yield the id of every thread of which the log holds anything, in their order.

        It asks the truth, not the table of heads, and each name is a read of its own.
        """
        name = ""
        while True:
            with self._reading("the threads") as connection:
                found = known_threads.next_thread(connection, name)
            if found is None:
                return
            yield found
            name = found

    def events(
        self, thread_id: str, *, after: int = 0, limit: int = 500, run_id: str | None = None
    ) -> list[EventRow]:
        """Return what happened on a thread, oldest first, derived from its commits (AW-65).

        The next page begins behind the ``version`` of the last event of this one; of an empty
        page the cursor stays what it was. A page ends with the last event of a commit, so it
        may have some more than ``limit``; a ``limit`` of 0 gives none. What a page has said
        stays so: commits become visible in the order of their versions.

        Args:
            thread_id: The thread.
            after: The version to go on behind; 0 is the start.
            limit: How many events make a page.
            run_id: One run of the thread whose events alone are asked for. Those of an
                ephemeral run are given only so.

        Raises:
            InvalidRequest: ``after`` is no version there can be.
            UnknownThread: No run was ever opened on the thread.
            UnknownRun: The thread has no such run.
            CorruptLog: A commit is missing, or is not what was accepted.
        """
        with self._reading(f"the events of thread {thread_id}") as connection:
            return events.read_events(
                connection, thread_id, after=after, limit=limit, run_id=run_id
            )

    def verify(self, thread_id: str | None = None) -> list[Finding]:
        """Compare one thread, or the whole log, with the hashes it was accepted under (AW-53).

        Commits and what is stored beside them, their density, the owners of runs, the rows of
        the effect ledger, the projections and, for the whole log, the graphs and the database
        itself. Above the floor of a branch all of it; below, what pruning left. Each thread is
        one consistent prefix, read a few rows at a time, whatever its length.

        Returns:
            Everything that is not as it was accepted, thread by thread; empty for a sound log.

        Raises:
            UnknownThread: The log holds nothing of ``thread_id``.
            CommitUnavailable: The database did not answer.
        """
        if thread_id is not None:
            return self._verify_thread(thread_id)
        found: list[Finding] = []
        try:
            for name in self.thread_names():
                found.extend(self._verify_thread(name))
        except CorruptLog as error:
            found.append(Finding(thread_id=None, version=None, what=error.message))
        return [*found, *self._verify_shared()]

    def _verify_shared(self) -> list[Finding]:
        try:
            with self._reading("what belongs to no one thread") as connection:
                return verify_shared(connection)
        except CorruptLog as error:
            return [Finding(thread_id=None, version=None, what=error.message)]

    def _verify_thread(self, thread_id: str) -> list[Finding]:
        try:
            with self._reading(f"thread {thread_id}") as connection:
                known_threads.check_known(connection, thread_id)
                return verify_thread(connection, thread_id)
        except CorruptLog as error:
            return [Finding(thread_id=thread_id, version=None, what=error.message)]

    def transcript(self, thread_id: str, checkpoint_id: str | None = None) -> TranscriptReference:
        """Return a reference to the messages of a thread at a checkpoint, by default its latest.

        It names a prefix that only ever grows: messages that are appended do not disturb it.

        Raises:
            UnknownThread: No run was ever opened on the thread.
            UnknownCheckpoint: The checkpoint does not exist on this thread.
        """
        with self._reading(f"thread {thread_id}") as connection:
            return transcripts.make_transcript(connection, thread_id, checkpoint_id)

    def transcript_messages(
        self,
        reference: TranscriptReference,
        ranges: Sequence[tuple[int, int]] | None = None,
    ) -> list[JsonObject]:
        """Return the messages a reference names, after comparing them with its digest.

        Args:
            reference: As :meth:`transcript` returned it.
            ranges: Half-open slices ``[first, end)`` by place; their messages are given in
                ascending order. None is everything.

        Raises:
            InvalidRange: A slice lies outside the transcript, or ends before it begins.
            OverlappingRanges: Two slices have a message in common.
            SnapshotUnavailable: The commit is not in the log, or not any more.
            SnapshotMismatch: The log holds other messages there.
        """
        with self._reading(f"thread {reference.thread_id}") as connection:
            return transcripts.read_transcript(connection, reference, ranges)
