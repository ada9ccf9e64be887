"""Requests that are refused before the thread is looked at."""

from seeding.errors import FermataError, InvalidRequest, StartRefused
from seeding.request import RunRequest


def problem_of(code: str, message: str) -> FermataError:
    """Return the refusal that a published code names."""
    for kind in StartRefused.__subclasses__():
        if kind.code == code:
            return kind(message)
    return InvalidRequest(message)


def check_available(request: RunRequest) -> None:
    """Refuse by name what the contract documents and this version does not do yet."""
    later = {
        f"config.onBusy {request.config.on_busy!r}": request.config.on_busy != "reject",
    }
    for name, asked_for in later.items():
        if asked_for:
            raise InvalidRequest(f"{name} is not available in this version; leave it out")
