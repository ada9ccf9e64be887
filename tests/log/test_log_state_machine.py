"""The log against its model: whatever happens, both say the same.

The same few histories every time; ``make soak`` makes up new ones and makes failing ones small.
"""

from tests.model.log_machine import drive


def test_log_and_model_agree_after_every_action(log_url: str) -> None:
    """AW-6, 7, 21, 22, 25 to 34, 59, 61 and 64, in any order and together."""
    # One machine is slower on a server, and the same on both databases.
    drive(log_url, histories=20 if log_url.startswith("sqlite") else 8, actions=40, new=False)
