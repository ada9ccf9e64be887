"""Who owns a run: taking it over raises the owner epoch, which fences every earlier writer."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from activities.log.encoding import OWNER_CHECKED, load, load_or_none, verify_checksum
from activities.log.records import owner_row
from activities.log.stored import Execution, StoredOwner, Takeover
from activities.log.tables import run_owners, runs, threads
from seeding.errors import RunTerminal, UnknownThread

_RUN = select(runs.c.thread_id, runs.c.owner_epoch, runs.c.phase, runs.c.last_ordinal).where(
    runs.c.run_id == bindparam("run")
)
_LOCK = (
    select(threads.c.version).where(threads.c.thread_id == bindparam("thread")).with_for_update()
)
_OWNERS = (
    select(run_owners)
    .where(run_owners.c.run_id == bindparam("run"))
    .order_by(run_owners.c.owner_epoch)
)


def take_over(
    connection: Connection,
    *,
    run_id: str,
    chain_id: str,
    execution: Execution,
    takeover: Takeover | None,
    at: str,
) -> int:
    """Return the owner epoch of ``chain_id`` for a run, the next one where it is not the owner.

    Raises:
        UnknownThread: The log has no such run.
        RunTerminal: The run has ended.
        CorruptLog: An owner's row changed since it was written.
    """
    found = connection.execute(_RUN, {"run": run_id}).first()
    if found is None:
        raise UnknownThread(f"the log has no run {run_id!r} to take over")
    connection.execute(_LOCK, {"thread": found[0]})
    _, epoch, phase, last_ordinal = connection.execute(_RUN, {"run": run_id}).one()
    if phase == "ended":
        raise RunTerminal(f"run {run_id} has ended; there is nothing to take over")
    if any(
        (owner.owner_epoch, owner.chain_id) == (epoch, chain_id)
        for owner in read_owners(connection, run_id)
    ):
        return epoch
    row = owner_row(
        run_id, epoch + 1, chain_id, execution, at, last_ordinal=last_ordinal, takeover=takeover
    )
    connection.execute(insert(run_owners), row)
    connection.execute(update(runs).where(runs.c.run_id == run_id).values(owner_epoch=epoch + 1))
    return epoch + 1


def read_owners(connection: Connection, run_id: str) -> list[StoredOwner]:
    """Return who opened a run and who took it over, in order."""
    return [_owner(row) for row in connection.execute(_OWNERS, {"run": run_id}).mappings()]


def _owner(row: Mapping[Any, Any]) -> StoredOwner:
    where = f"owner {row['owner_epoch']} of run {row['run_id']}"
    verify_checksum(row, OWNER_CHECKED, where)
    return StoredOwner(
        owner_epoch=row["owner_epoch"],
        chain_id=row["chain_id"],
        execution=Execution(execution_run_id=row["execution_run_id"], namespace=row["namespace"]),
        at=row["at"],
        last_ordinal=row["last_ordinal"],
        takeover=_takeover(row, where),
    )


def _takeover(row: Mapping[Any, Any], where: str) -> Takeover | None:
    if row["start"] is None:
        return None
    return Takeover(
        start=load(row["start"], where), warnings=tuple(load_or_none(row["warnings"], where) or ())
    )
