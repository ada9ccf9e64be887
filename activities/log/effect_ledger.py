"""The effect ledger: intent before a call, its outcome after."""

from activities.log.log_writer import LogWriter


class EffectLedger(LogWriter):
    """A part of the log."""
