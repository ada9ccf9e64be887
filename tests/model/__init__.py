"""What the product is held against: a model of the commit log, and an interpreter of graphs.

The log's model is written from what the log promises and knows nothing of how it is stored; a
machine drives both side by side. The interpreter is written from the rules of graphs and knows
nothing of how the scheduler keeps them; a generator names its cases by number. No test stands
here: ``tests/log``, ``tests/scheduler`` and ``tests/engine`` use them for seconds, ``tests/soak``
for as long as asked.
"""

import pytest

pytest.register_assert_rewrite("tests.model.log_machine")
