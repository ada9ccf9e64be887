"""What leaves the log: pruning and deleting."""

from activities.log.log_writer import LogWriter


class Retention(LogWriter):
    """A part of the log."""
