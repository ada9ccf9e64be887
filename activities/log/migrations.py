"""The schema's version and how an older log becomes a current one.

A new log is made at the current version at once. An older one is brought forward by the
numbered upgrades, one after the other, in one transaction; a newer one is refused.
"""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, insert, inspect, select, update

from activities.log.tables import SCHEMA_VERSION, metadata, schema_version
from seeding.errors import CorruptLog, NewerLog

UPGRADES: Mapping[int, Callable[[Connection], None]] = {}
"""By the version they start from; each leaves the log at that version plus one."""


def prepare_schema(
    connection: Connection,
    *,
    version: int = SCHEMA_VERSION,
    upgrades: Mapping[int, Callable[[Connection], None]] = UPGRADES,
) -> None:
    """Create or upgrade the tables; called inside a writing transaction.

    Raises:
        NewerLog: The log is of a later version than this program knows.
        CorruptLog: The version is missing, or no upgrade starts from it.
    """
    if not inspect(connection).has_table(schema_version.name):
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(schema_version), {"id": 1, "version": version})
        return
    found = connection.execute(select(schema_version.c.version)).scalar()
    if found is None:
        raise CorruptLog("the log does not say which version its tables are of")
    if found > version:
        raise NewerLog(
            f"the log's tables are of version {found}, this program knows version {version}; "
            "use the newer program, nothing was changed"
        )
    for step in range(found, version):
        if step not in upgrades:
            raise CorruptLog(f"the log's tables are of version {found}, which no upgrade knows")
        upgrades[step](connection)
    if found < version:
        connection.execute(update(schema_version).values(version=version))
