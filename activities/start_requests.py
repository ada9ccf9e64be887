"""Requests that are refused before the thread is looked at."""

from seeding.errors import FermataError, InvalidRequest, StartRefused


def problem_of(code: str, message: str) -> FermataError:
    """Return the refusal that a published code names."""
    for kind in StartRefused.__subclasses__():
        if kind.code == code:
            return kind(message)
    return InvalidRequest(message)
