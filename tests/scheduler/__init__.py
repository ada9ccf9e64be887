"""Tests of the pure engine core: loops, readiness, the scheduler and the control nodes."""
