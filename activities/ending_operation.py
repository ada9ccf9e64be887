"""The commit that ends a run whose workflow no longer can: lost, abandoned or superseded."""

from activities.log import LogReader, StoredRun
from seeding.commits import (
    CommitOperation,
    Disposition,
    EndCause,
    ThreadCommit,
    operation,
)
from seeding.tickets import TicketClosing
from workflows.outcome import RESULT_STATUS


def ending_operation(
    log: LogReader, run: StoredRun, cause: EndCause, *, owner_epoch: int, thread_version: int
) -> CommitOperation:
    """Return the operation that ends ``run``; its open tickets leave as cancelled.

    Args:
        log: Where its position is read.
        run: A run that has not ended.
        cause: Why it ends.
        owner_epoch: The epoch it is written under.
        thread_version: The thread version that is expected.
    """
    head, _ = log.position(run.run_id)
    commit = ThreadCommit(
        thread_id=run.thread_id,
        run_id=run.run_id,
        disposition=Disposition(kind="Ended", cause=cause),
        position=head,
        closed=tuple(
            TicketClosing(ticket=item.body.ticket, outcome="cancelled") for item in run.open_tickets
        ),
        checkpoint="end",
        result={
            "status": RESULT_STATUS[cause.kind],
            "metadata": {},
            "warnings": [],
            "start": run.start,
        },
    )
    return operation(
        commit,
        ordinal=run.last_ordinal + 1,
        owner_epoch=owner_epoch,
        expected_thread_version=thread_version,
    )
