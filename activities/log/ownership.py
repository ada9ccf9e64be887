"""Who owns a run: taking it over raises the owner epoch, which fences every earlier writer."""

from sqlalchemy import Connection, bindparam, insert, select, update

from activities.log.records import owner_row
from activities.log.stored import Execution
from activities.log.tables import run_owners, runs, threads
from seeding.errors import RunTerminal, UnknownThread

_RUN = select(runs.c.thread_id, runs.c.owner_epoch, runs.c.phase).where(
    runs.c.run_id == bindparam("run")
)
_LOCK = (
    select(threads.c.version).where(threads.c.thread_id == bindparam("thread")).with_for_update()
)
_OWNER = select(run_owners.c.chain_id).where(
    run_owners.c.run_id == bindparam("run"), run_owners.c.owner_epoch == bindparam("epoch")
)


def take_over(
    connection: Connection, run_id: str, chain_id: str, execution: Execution, at: str
) -> int:
    """Return the owner epoch of ``chain_id`` for a run, the next one where it is not the owner.

    Raises:
        UnknownThread: The log has no such run.
        RunTerminal: The run has ended.
    """
    found = connection.execute(_RUN, {"run": run_id}).first()
    if found is None:
        raise UnknownThread(f"the log has no run {run_id!r} to take over")
    connection.execute(_LOCK, {"thread": found[0]})
    _, epoch, phase = connection.execute(_RUN, {"run": run_id}).one()
    if phase == "ended":
        raise RunTerminal(f"run {run_id} has ended; there is nothing to take over")
    owner = connection.execute(_OWNER, {"run": run_id, "epoch": epoch}).scalar()
    if owner == chain_id:
        return epoch
    row = owner_row(run_id, epoch + 1, chain_id, execution, at)
    connection.execute(insert(run_owners), row)
    connection.execute(update(runs).where(runs.c.run_id == run_id).values(owner_epoch=epoch + 1))
    return epoch + 1
