"""Opening the commit log that the environment names."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from activities.log import CommitLog, ReadOnlyLog
from activities.log.dialect import shown
from seeding.errors import LogError

_Log = TypeVar("_Log", CommitLog, ReadOnlyLog)

EXAMPLE = "sqlite:///.fermata/log.db"


@contextmanager
def log_at(url: str) -> Generator[CommitLog]:
    """Open the log at ``url``, made where there is none, and close it again.

    Raises:
        LogError: It is no URL, or one of a database that is not known.
        NewerLog: A newer version of this project wrote it.
        CommitUnavailable: It does not answer.
    """
    with _opened(CommitLog.open, url) as log:
        yield log


@contextmanager
def open_log(url: str) -> Generator[ReadOnlyLog]:
    """Open a log that exists and close it again; a reader makes none and changes none.

    Raises:
        LogError: There is no log at ``url``, or it is no URL.
        NewerLog: A newer version of this project wrote it.
        CommitUnavailable: It does not answer.
        CorruptLog: The file is something else.
    """
    _check_exists(url)
    with _opened(ReadOnlyLog.open, url) as log:
        yield log


@contextmanager
def open_writable_log(url: str) -> Generator[CommitLog]:
    """Open a log that exists so that it can be written, and close it again.

    Raises:
        LogError: There is no log at ``url``, or it is no URL.
        NewerLog: A newer version of this project wrote it.
        CommitUnavailable: It does not answer.
        CorruptLog: The file is something else.
    """
    with open_log(url):
        pass  # An empty database or an older log is a worker's to make or to bring forward.
    with log_at(url) as log:
        yield log


def _check_exists(url: str) -> None:
    database = _database(url)
    if url.startswith("sqlite") and database and not Path(database).is_file():
        raise LogError(
            f"there is no log at {database}; a worker makes it, FERMATA_HOME or FERMATA_LOG_URL "
            "say where"
        )


def _opened(opening: Callable[[str], _Log], url: str) -> _Log:
    _database(url)
    try:
        return opening(url)
    except (ArgumentError, ImportError) as error:
        # The dialect or its driver is missing.
        raise LogError(f"FERMATA_LOG_URL {shown(url)!r} cannot be used: {error}") from error


def _database(url: str) -> str | None:
    try:
        return make_url(url).database
    except (ArgumentError, ValueError) as error:
        raise LogError(
            f"FERMATA_LOG_URL {shown(url)!r} is no URL; give one such as {EXAMPLE}"
        ) from error
