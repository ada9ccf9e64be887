"""What the benchmarks say, and that each writes the thread it measures."""

import importlib
from pathlib import Path

import pytest

from activities.log import CommitLog
from bench.__main__ import SUBJECTS
from bench.figures import Figure, percentile
from bench.threads import THREAD, ThreadWriter


@pytest.mark.parametrize(
    ("value", "bar", "verdict"),
    [
        (1.9, 2.0, "ok"),
        (2.0, 2.0, "MISSED"),
        (2.1, 2.0, "MISSED"),
        (2.1, None, ""),
        (None, 2.0, ""),
    ],
)
def test_a_value_has_to_stay_below_its_bar(
    value: float | None, bar: float | None, verdict: str
) -> None:
    assert Figure(subject="s", name="n", value=value, unit="ms", bar=bar).verdict == verdict


def test_a_percentile_is_a_sample_that_so_many_do_not_exceed() -> None:
    samples = [float(number) for number in range(200, 0, -1)]

    assert (percentile(samples, 50), percentile(samples, 99)) == (100.0, 198.0)
    assert percentile([7.0], 99) == 7.0


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_subject_can_be_measured(name: str) -> None:
    assert callable(importlib.import_module(f"bench.{name}").measure)


@pytest.mark.parametrize("length", [10, 120])
def test_a_grown_thread_has_exactly_so_many_messages_in_ended_runs(
    tmp_path: Path, length: int
) -> None:
    with CommitLog.open(f"sqlite:///{tmp_path / 'log.db'}") as log:
        ThreadWriter(log).grow(length)

        assert len(log.messages(THREAD)) == length
        assert {run.phase for run in log.runs(THREAD)} == {"ended"}


def test_a_turn_records_its_effect_before_its_commit(tmp_path: Path) -> None:
    with CommitLog.open(f"sqlite:///{tmp_path / 'log.db'}") as log:
        writer = ThreadWriter(log)
        writer.append([writer.opening(100)])
        answered = writer.completion("answer", 100)
        writer.record_effect("answer", answered)
        writer.append([answered])

        assert [effect.status for effect in log.effects(THREAD)] == ["done"]
