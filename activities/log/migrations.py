"""The schema's version and how an older log becomes a current one.

A new log is made at the current version at once. An older one is brought forward by the
numbered upgrades, one after the other, in one transaction; a newer one is refused, and so is a
database that is something else.
"""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, insert, inspect, select, update

from activities.log import upgrades
from activities.log.dialect import lock_name, open_reading_engine, shown, storage_errors
from activities.log.tables import SCHEMA_VERSION, commits, metadata, schema_version
from seeding.errors import CommitUnavailable, CorruptLog, LogError, NewerLog

UPGRADES: Mapping[int, Callable[[Connection], None]] = {
    1: upgrades.from_version_1,
    2: upgrades.from_version_2,
}
"""By the version they start from; each leaves the log at that version plus one."""


def prepare_schema(
    connection: Connection,
    *,
    version: int = SCHEMA_VERSION,
    upgrades: Mapping[int, Callable[[Connection], None]] = UPGRADES,
) -> bool:
    """Create or upgrade the tables; called inside a writing transaction.

    Returns:
        Whether there was no log and an empty one was made.

    Raises:
        NewerLog: The log is of a later version than this program knows.
        CorruptLog: The version is missing, no upgrade starts from it, or the database holds
            something else.
    """
    lock_name(connection, "schema")
    found = _version(connection, version)
    if found is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(schema_version), {"id": 1, "version": version})
        return True
    for step in range(found, version):
        if step not in upgrades:
            raise CorruptLog(f"the log's tables are of version {found}, which no upgrade knows")
        upgrades[step](connection)
    if found < version:
        connection.execute(update(schema_version).values(version=version))
    return False


def is_current(url: str) -> bool:
    """Look whether the log at ``url`` needs no preparing; nothing is written.

    Returns:
        False where there is no log, an older one, or one that somebody makes at this moment.

    Raises:
        NewerLog: The log is of a later version than this program knows.
        CorruptLog: The database is no log.
    """
    engine = open_reading_engine(url)
    try:
        with storage_errors(f"opening {shown(url)}"), engine.connect() as connection:
            return _version(connection, SCHEMA_VERSION) == SCHEMA_VERSION
    except CommitUnavailable:
        # No file, or locked while it is made: the writing transaction waits and looks again.
        return False
    finally:
        engine.dispose()


def check_readable(connection: Connection) -> None:
    """Pass a log whose tables are the ones this program reads.

    Raises:
        NewerLog: The log is of a later version than this program knows.
        CorruptLog: The database is no log.
        LogError: It is empty, or of a version that has to be brought forward first.
    """
    found = _version(connection, SCHEMA_VERSION)
    if found is None:
        raise LogError(
            f"there is no log at {_place(connection)} yet, the database is empty; a worker fills "
            "it, FERMATA_HOME or FERMATA_LOG_URL say where it is"
        )
    if found < SCHEMA_VERSION:
        raise LogError(
            f"the log's tables are of version {found}, this program reads version "
            f"{SCHEMA_VERSION}; start a worker of this program once, it brings them forward"
        )


def _version(connection: Connection, known: int) -> int | None:
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    if schema_version.name not in tables or commits.name not in tables:
        raise CorruptLog(
            f"{_place(connection)} is a database with other tables and no commit log; give "
            "another FERMATA_LOG_URL, nothing was changed"
        )
    found = connection.execute(select(schema_version.c.version)).scalar()
    if found is None:
        raise CorruptLog("the log does not say which version its tables are of")
    if found > known:
        raise NewerLog(
            f"the log's tables are of version {found}, this program knows version {known}; "
            "use the newer program, nothing was changed"
        )
    return found


def _place(connection: Connection) -> str:
    return shown(connection.engine.url)
