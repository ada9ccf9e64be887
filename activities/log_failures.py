"""What an activity fails with where the log does not answer, so that people can read it."""

from collections.abc import Generator
from contextlib import contextmanager

from temporalio.exceptions import ApplicationError

from seeding.errors import LogError

SHOWN_CHARACTERS = 1000
"""A server shows at most 4 KB of a pending activity's failure; above that it shows none of it."""


@contextmanager
def log_failures() -> Generator[None]:
    """Raise an error of the log as a failure that is retried and says what the log said.

    The chain of causes, which names every layer down to the database, stays with the worker:
    the server would replace the whole failure for its size.

    Raises:
        ApplicationError: For a ``LogError``, with its code as type.
    """
    try:
        yield
    except LogError as error:
        said = error.message
        if len(said) > SHOWN_CHARACTERS:
            said = f"{said[:SHOWN_CHARACTERS]} (and more)"
        raise ApplicationError(said, type=error.code) from None
