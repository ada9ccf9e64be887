"""How an execution ends, and how that reaches Temporal (contract, section 3)."""

from dataclasses import dataclass, field

from seeding.commits import EndCause
from seeding.model import JsonObject

RESULT_STATUS = {
    "NaturalEnd": "completed",
    "Stopped": "completed",
    "MaxIterations": "max_iterations_exceeded",
    "Cancelled": "cancelled",
    "Error": "failed",
    "FailedVerification": "failed",
    "Indeterminate": "failed",
}
"""The result's status for each cause."""

CANCEL_CAUSES = ("Cancelled",)
FAILURE_CAUSES = ("Error", "FailedVerification", "Indeterminate")


@dataclass(frozen=True)
class Ended:
    """The run ended; the log's cause is the truth. ``queued``: turns wait for it to close."""

    cause: EndCause
    result: JsonObject
    queued: bool = False


@dataclass(frozen=True)
class GoesOn:
    """The run goes on in a new execution of the same chain."""


@dataclass(frozen=True)
class Refused:
    """The start was refused; nothing was written."""

    code: str
    message: str
    details: JsonObject = field(default_factory=JsonObject)


Outcome = Ended | GoesOn | Refused
