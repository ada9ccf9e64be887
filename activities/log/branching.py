"""Branches that no run has opened: forks."""

from activities.log.log_writer import LogWriter


class Branching(LogWriter):
    """A part of the log."""
