"""Specification of the doors of a run: commands, judging, the inbox."""
