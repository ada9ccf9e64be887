"""How long the log waits for a lock that somebody else holds, on every database."""

from sqlalchemy import Connection, Engine

QUICK_WAIT = 200
"""Milliseconds a quick attempt waits for the lock."""

PATIENT_WAIT = 5_000
"""Milliseconds a patient attempt, and everything else, waits for the lock."""

_WAIT = "fermata_write_wait"


def writing(engine: Engine, *, quick: bool) -> Engine:
    """Return ``engine`` with every transaction a writing one, from its first statement on."""
    return engine.execution_options(**{_WAIT: QUICK_WAIT if quick else PATIENT_WAIT})


def write_wait(connection: Connection) -> int | None:
    """Return the milliseconds a writing transaction waits for a lock; None for one that reads."""
    wait = connection.get_execution_options().get(_WAIT)
    return None if wait is None else int(wait)
