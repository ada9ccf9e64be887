"""What is said where a run that goes on is not in the log."""

from sqlalchemy import URL

from activities.log.dialect import shown
from seeding.errors import RunNotInLog


def not_in_log(url: URL, lacks: str) -> RunNotInLog:
    """Return the error of a log that is another one than the run began in, or has lost it.

    Args:
        url: Where the log is.
        lacks: What it does not have, as the end of a sentence about it.
    """
    return RunNotInLog(
        f"the log at {shown(url)} {lacks}. Unless it was deleted, another log has it: put that one "
        "there, or point FERMATA_LOG_URL at it, and what waits goes on"
    )
