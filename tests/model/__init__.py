"""The commit log's model, and the machine that drives log and model side by side.

The model is written from what the log promises and knows nothing of how it is stored. No test
stands here: ``tests/log`` runs the machine for seconds, ``tests/soak`` for as long as asked.
"""

import pytest

pytest.register_assert_rewrite("tests.model.log_machine")
