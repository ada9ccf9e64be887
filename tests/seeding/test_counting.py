"""What is counted reads right, also where there is one."""

import pytest
from thread_facts import facts, opened, request, run_fact

from seeding.counting import counted


@pytest.mark.parametrize(("count", "said"), [(0, "0 threads"), (1, "1 thread"), (2, "2 threads")])
def test_one_is_singular_and_none_is_plural(count: int, said: str) -> None:
    assert counted(count, "thread") == said


@pytest.mark.parametrize(("takeovers", "said"), [(1, "1 time"), (4, "4 times")])
def test_a_lost_run_tells_how_often_it_was_taken_over(takeovers: int, said: str) -> None:
    lost = facts(run_fact(phase="running", takeovers=takeovers, lost_because="terminated"))
    (warning,) = opened(request(), lost).warnings
    assert f"(reason: terminated, taken over {said} without a commit)" in warning.message
