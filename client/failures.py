"""How failures travel: without stack traces of what was refused or failed on purpose.

A refusal, or a run that failed, is something a person reads with ``temporal workflow result``;
the frames of this engine below its message tell them nothing.
"""

from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter, DefaultFailureConverter, PayloadConverter
from temporalio.exceptions import ApplicationError


class QuietFailureConverter(DefaultFailureConverter):
    """Leaves out the stack trace of an error that was raised to be read."""

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        """Write ``exception`` as the SDK does, an ``ApplicationError`` without its frames."""
        super().to_failure(exception, payload_converter, failure)
        if isinstance(exception, ApplicationError):
            failure.stack_trace = ""


DATA_CONVERTER = DataConverter(
    payload_converter_class=pydantic_data_converter.payload_converter_class,
    failure_converter_class=QuietFailureConverter,
)
"""The converter of the ``fermata`` command and its worker; JSON, like the SDK's own."""
