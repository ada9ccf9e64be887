"""A log that is only read: by people and programs beside the workers that write it."""

from typing import Self

from activities.log.async_reader import AsyncLogReader
from activities.log.dialect import open_reading_engine, shown, storage_errors
from activities.log.migrations import check_readable


class ReadOnlyLog(AsyncLogReader):
    """The reads of a log, on a file that is opened so that nothing can be written.

    It needs no lock: it opens and reads while another process writes.
    """

    @classmethod
    def open(cls, url: str) -> Self:
        """Open the log at ``url``, which exists.

        Args:
            url: An SQLAlchemy URL, such as ``sqlite:///.fermata/log.db``.

        Raises:
            LogError: The URL names no file or a database that is not known yet, or the file
                holds no log yet, or one that has to be brought forward first.
            NewerLog: A newer version of this project wrote the log.
            CommitUnavailable: The file cannot be opened.
            CorruptLog: The file is no log.
        """
        log = cls(open_reading_engine(url))
        try:
            with storage_errors(f"opening {shown(url)}"), log._engine.connect() as connection:
                check_readable(connection)
        except BaseException:
            log.close()
            raise
        return log
