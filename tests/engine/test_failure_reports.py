"""What a call that failed as an activity comes to: a text that names its node."""

import pytest
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    RetryState,
    TimeoutError,
    TimeoutType,
)

from workflows.completion import NodeFailureReport
from workflows.effects import failure_report
from workflows.graph.model import NodeType
from workflows.wire import NodeCallInput

CALL = NodeCallInput(
    type="slow",
    thread_id="t",
    run_id="r",
    node_id="x",
    occurrence=0,
    effect_key="0" * 40,
    ordinal=0,
)
KIND = NodeType(name="slow", kind="effect", timeout=2)


def report_of(cause: BaseException) -> NodeFailureReport:
    error = ActivityError(
        "activity failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="worker",
        activity_type="run_node",
        activity_id="1",
        retry_state=RetryState.MAXIMUM_ATTEMPTS_REACHED,
    )
    error.__cause__ = cause
    return failure_report(error, CALL, KIND)


def timed_out(kind: TimeoutType) -> TimeoutError:
    return TimeoutError("timed out", type=kind, last_heartbeat_details=[])


def test_a_timeout_is_a_node_level_failure_and_names_the_node() -> None:
    assert report_of(timed_out(TimeoutType.START_TO_CLOSE)) == NodeFailureReport(
        message="node 'x' took longer than its timeout of 2 s", code="timeout", routable=True
    )


@pytest.mark.parametrize(
    "cause",
    [
        timed_out(TimeoutType.HEARTBEAT),
        timed_out(TimeoutType.SCHEDULE_TO_START),
        ApplicationError("the worker stopped", type="WorkerStopped"),
        CancelledError("Cancelled"),
    ],
)
def test_a_worker_lost_for_good_fails_the_run_and_names_the_node(cause: BaseException) -> None:
    assert report_of(cause) == NodeFailureReport(
        message="the worker of node 'x' was lost 6 times", code="worker_lost", routable=False
    )


@pytest.mark.parametrize(
    ("message", "kind", "text", "code"),
    [
        ("no number", "TypeError", "TypeError: no number", "TypeError"),
        ("TypeError: no number", "TypeError", "TypeError: no number", "TypeError"),
        ("TypeError", "TypeError", "TypeError", "TypeError"),
        ("it broke", None, "it broke", "Exception"),
    ],
)
def test_an_exception_is_shown_with_its_type_once(
    message: str, kind: str | None, text: str, code: str
) -> None:
    assert report_of(ApplicationError(message, type=kind)) == NodeFailureReport(
        message=text, code=code, routable=False, cause=text
    )
