"""What a failure shows of the engine when a person reads it."""

from temporalio.api.failure.v1 import Failure
from temporalio.exceptions import ApplicationError

from client.failures import DATA_CONVERTER


def written(error: Exception) -> Failure:
    """What travels of an error that was raised."""
    failure = Failure()
    try:
        raise error
    except Exception as raised:
        DATA_CONVERTER.failure_converter.to_failure(
            raised, DATA_CONVERTER.payload_converter, failure
        )
    return failure


def test_an_error_raised_to_be_read_has_its_message_and_type_and_no_frames() -> None:
    failure = written(ApplicationError("no such graph", type="UnknownGraph"))
    assert failure.message == "no such graph"
    assert failure.application_failure_info.type == "UnknownGraph"
    assert failure.stack_trace == ""


def test_a_fault_of_the_engine_keeps_its_frames() -> None:
    assert "test_failures.py" in written(ValueError("a fault")).stack_trace
