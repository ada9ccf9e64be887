"""Moments as they travel: ISO 8601 text, UTC. No clock is read here; moments are passed in."""

from datetime import UTC, datetime

Moment = str | datetime
"""A moment as callers have it; without an offset it is read as UTC."""


def read_moment(value: Moment) -> datetime:
    """Return ``value`` as a moment in UTC.

    Raises:
        ValueError: The text is not an ISO 8601 date and time, or lies outside the calendar.
    """
    moment = value if isinstance(value, datetime) else _read_text(value)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{value!r} lies outside the calendar") from error


def show_moment(value: Moment) -> str:
    """Return ``value`` as ISO 8601 text in UTC, ending in ``Z``."""
    return read_moment(value).isoformat().replace("+00:00", "Z")


def _read_text(text: str) -> datetime:
    if len(text) > 40 or "T" not in text.upper():
        raise ValueError(f"{text[:40]!r} is not a date and a time such as 2026-03-01T12:00:00Z")
    return datetime.fromisoformat(text.upper())
