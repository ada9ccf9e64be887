"""The log against its model: any history of actions leaves both the same (AW-1 to AW-32)."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.log_machine import LogMachine


def test_log_and_model_agree_after_every_action(log_url: str) -> None:
    run_state_machine_as_test(
        lambda: LogMachine(log_url),
        settings=settings(
            max_examples=20,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
