"""Making the projections again from what is true."""

from activities.log.log_writer import LogWriter


class Rebuilding(LogWriter):
    """A part of the log."""
