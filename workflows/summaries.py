"""Summaries that the Temporal UI shows on activities and timers, small enough for any server."""

MAX_BYTES = 200
"""The most bytes of a summary; the server refuses 400, and a refused command wedges the run."""


def summary(text: str) -> str:
    """Return ``text`` cut to what a summary may have."""
    return text.encode(errors="replace")[:MAX_BYTES].decode(errors="ignore")
