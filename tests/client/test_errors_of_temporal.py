"""Every published code becomes the class that carries it, with what it has to tell."""

import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from client.errors_of_temporal import error_of_code, error_of_rpc, error_of_update
from seeding import errors
from seeding.errors import FermataError


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("InvalidRequest", errors.InvalidRequest),
        ("UnknownGraph", errors.UnknownGraph),
        ("PIPELINE_TERMINAL", errors.PipelineTerminal),
        ("INWARD_SIGNAL_ALREADY_PENDING", errors.SignalAlreadyPending),
        ("NO_ACTIVE_PAUSE", errors.NoActivePause),
        ("Fenced", errors.Fenced),
    ],
)
def test_a_code_names_its_class(code: str, kind: type[FermataError]) -> None:
    assert type(error_of_code(code, "said")) is kind


def test_where_a_code_names_several_classes_the_family_decides() -> None:
    assert type(error_of_code("ThreadBusy", "m", family=errors.CommandRefused)) is errors.RunBusy
    assert type(error_of_code("ThreadBusy", "m", family=errors.StartRefused)) is errors.ThreadBusy


def test_an_unknown_code_is_kept_in_the_message() -> None:
    error = error_of_code("Odd", "said", family=errors.StartRefused)

    assert type(error) is errors.CallRefused
    assert error.message == "Odd: said"


def test_the_details_of_a_refused_start_are_flattened() -> None:
    error = error_of_code(
        "ThreadBusy",
        "busy",
        {
            "code": "ThreadBusy",
            "message": "busy",
            "details": {"tickets": ["T"]},
            "lastRun": {"runId": "R"},
        },
    )

    assert error.message == "busy"
    assert error.details == {"tickets": ["T"], "lastRun": {"runId": "R"}}


def test_a_refused_update_raises_the_class_of_its_code_with_its_details() -> None:
    cause = ApplicationError("decided", {"winner": "bob"}, type="AlreadyDecided")

    error = error_of_update(WorkflowUpdateFailedError(cause), "alice")

    assert type(error) is errors.AlreadyDecided
    assert (error.message, error.details) == ("decided", {"winner": "bob"})


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (RPCStatusCode.NOT_FOUND, "workflow not found for ID: thread/x", errors.UnknownThread),
        (
            RPCStatusCode.NOT_FOUND,
            "workflow execution already completed",
            errors.PipelineTerminal,
        ),
        (
            RPCStatusCode.FAILED_PRECONDITION,
            "Workflow execution closed before WorkflowTaskStarted event",
            errors.PipelineTerminal,
        ),
        (RPCStatusCode.UNAVAILABLE, "tcp connect error", errors.ServerUnreachable),
        (
            RPCStatusCode.FAILED_PRECONDITION,
            "no poller seen for task queue recently",
            errors.NoWorker,
        ),
        (RPCStatusCode.INVALID_ARGUMENT, "Blob data size exceeds limit.", errors.CallRefused),
    ],
)
def test_a_failed_call_has_one_class_per_cause(
    status: RPCStatusCode, said: str, kind: type[FermataError]
) -> None:
    assert type(error_of_rpc(RPCError(said, status, b""), "x")) is kind
