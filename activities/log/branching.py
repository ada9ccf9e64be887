"""Branches that no run has opened: forks."""

from functools import partial

from sqlalchemy import Connection, insert

from activities.log.checkpoints import read_checkpoint
from activities.log.encoding import dump
from activities.log.facts import read_thread_head
from activities.log.floors import check_kept
from activities.log.lineage import read_branches, read_lineage
from activities.log.log_writer import LogWriter
from activities.log.runs import read_run
from activities.log.stored import StoredBranch
from activities.log.tables import branches
from seeding.errors import InvalidRequest, UnknownCheckpoint
from seeding.request import EPHEMERAL
from seeding.start import FIRST_BRANCH


class Branching(LogWriter):
    """The part of the log that opens branches beside the runs."""

    def fork(self, checkpoint_id: str, thread_id: str) -> StoredBranch:
        """Open the first branch of a new thread on a checkpoint of any thread.

        It is one row and copies nothing: the thread's first run starts from there. The same
        fork once more changes nothing.

        Raises:
            UnknownCheckpoint: The checkpoint does not exist.
            InvalidRequest: It is of an ephemeral run, or the thread has a run or another
                branch already.
        """
        work = partial(_fork, name=checkpoint_id, thread_id=thread_id)
        return self._write(work, f"forking {checkpoint_id}")


def _fork(connection: Connection, *, name: str, thread_id: str) -> StoredBranch:
    point = read_checkpoint(connection, name)
    if point is not None:
        # Nothing prunes or deletes what the branch stands on once the head is locked.
        read_thread_head(connection, point.thread_id)
        point = read_checkpoint(connection, name)
    check_kept(connection, name)
    run = None if point is None else read_run(connection, point.run_id)
    if point is None or run is None:
        raise UnknownCheckpoint(
            f"there is no checkpoint {name!r} to fork from; list a thread's with: "
            "fermata checkpoints THREAD",
            checkpointId=name,
        )
    if run.config.get("checkpointStore") == EPHEMERAL:
        raise InvalidRequest(f"{name} is of an ephemeral run, which leaves nothing to stand on")
    lineage = read_lineage(connection, point.thread_id, point.branch, point.version)
    branch = StoredBranch(thread_id=thread_id, name=FIRST_BRANCH, lineage=lineage, opened_version=0)
    head = read_thread_head(connection, thread_id)
    there = read_branches(connection, thread_id)
    if head is None and there == [branch]:
        return branch
    if head is not None or there:
        raise InvalidRequest(
            f"thread {thread_id!r} is there already; fork to a new thread, or start a run on "
            f"this one with forkFrom {name}"
        )
    row = {
        "thread_id": thread_id,
        "name": branch.name,
        "lineage": dump([step.to_json() for step in lineage]),
        "opened_version": branch.opened_version,
    }
    connection.execute(insert(branches), row)
    return branch
