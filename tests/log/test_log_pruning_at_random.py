"""Whatever is pruned and whenever: every next turn starts from what it would have started from."""

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from log_writer import Clock, Writer, drop, message, opening, put

from activities.log import CommitLog
from activities.log.pruning_plan import PruneRule
from seeding.commits import RunRow
from seeding.identity import parse_checkpoint_id

THREADS = ("t", "u", "v")
KEYS = ("a", "b", "c")

turns = st.tuples(
    st.just("turn"),
    st.sampled_from(THREADS),
    st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 2)), max_size=4),
)
branchings = st.tuples(st.just("branch"), st.sampled_from(THREADS), st.integers(0, 40))
prunings = st.tuples(st.just("prune"), st.integers(0, 30), st.integers(0, 2))
stories = st.lists(turns | branchings | prunings, min_size=4, max_size=16)


class Story:
    """Plays a story on two logs, of which one is never pruned."""

    def __init__(self, folder: Path) -> None:
        self.logs = [
            CommitLog.open(f"sqlite:///{folder / name}", clock=Clock())
            for name in ("pruned.db", "whole.db")
        ]
        self.runs = 0

    def close(self) -> None:
        for log in self.logs:
            log.close()

    def turn(self, thread_id: str, changes: Any, **how: Any) -> None:
        """Play one ended turn."""
        self.runs += 1
        run_id = f"r{self.runs}"
        for log in self.logs:
            latest = log.latest_run(thread_id)
            given = {"branch": latest.branch if latest else "main", **how}
            writer = Writer(log, run_id, thread_id)
            writer.open(
                how=opening(run_epoch=self.runs, chain_id=run_id, **given),
                messages=(message(f"{run_id}.m"),),
            )
            for number, (key, kind) in enumerate(changes):
                value = {"v": [self.runs, number]}
                command = (
                    drop(key)
                    if kind == 0
                    else put(key, value, policy="commutative" if kind == 1 else "disjoint")
                )
                writer.step(
                    state=(command, put(key, number, "position")),
                    rows=(RunRow(kind="output", node_id="n", occurrence=number, value=number),),
                    checkpoint="node",
                )
            writer.end()

    def branch(self, thread_id: str, number: int) -> None:
        """Open a branch on a checkpoint that the pruned log still lists, of any thread."""
        log = self.logs[0]
        listed = [row.id for thread in log.threads() for row in log.checkpoints(thread.thread_id)]
        if not listed:
            return
        point = log.checkpoint(listed[number % len(listed)])
        assert point is not None
        lineage = log.lineage(point.thread_id, point.branch, point.version)
        count = log.branch_count(thread_id)
        name = f"b{count + 1}" if count else "main"
        self.turn(thread_id, [("a", 1)], branch=name, lineage=lineage)

    def prune(self, age: int, keep: int) -> None:
        self.logs[0].prune(older_than=timedelta(seconds=age), keep=keep, apply=True)

    def compare(self) -> None:
        """Everything that is still named reads the same on both logs."""
        log, whole = self.logs
        assert [thread.version for thread in log.threads()] == [
            thread.version for thread in whole.threads()
        ]
        for thread in log.threads():
            name = thread.thread_id
            assert _plain(log.state(name)) == _plain(whole.state(name))
            assert log.messages(name) == whole.messages(name)
            assert log.highest_epoch(name) == whole.highest_epoch(name)
            assert log.branch_count(name) == whole.branch_count(name)
            assert [_unpruned(run) for run in log.runs(name)] == [
                _unpruned(run) for run in whole.runs(name)
            ]
            kept = {row.id for row in log.checkpoints(name)}
            for row in whole.checkpoints(name):
                assert (row.id in kept) != log.is_pruned(row.id)
                if row.id in kept:
                    assert _plain(log.state(name, row.id)) == _plain(whole.state(name, row.id))
                    parsed = parse_checkpoint_id(row.id)
                    assert parsed is not None
                    assert log.position(*parsed) == whole.position(*parsed)


def _plain(view: Any) -> Any:
    return view.model_copy(update={"run": None})


def _unpruned(run: Any) -> Any:
    # Each log has a clock of its own, which pruning reads as well.
    return run.model_copy(update={"pruned": False, "opened_at": "", "ended_at": ""})


@settings(max_examples=15, deadline=None)
@given(stories)
def test_every_next_turn_starts_from_the_same_state(story: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        played = Story(Path(folder))
        try:
            for name, *given_ in story:
                getattr(played, name)(*given_)
            played.compare()
            # What one thread lets go of may free what another holds: at most once a thread.
            for _ in range(len(THREADS)):
                played.prune(0, 0)
            played.compare()
            assert played.logs[0].prunable(PruneRule(before="9", keep=0)).branches == ()
            assert list(played.logs[0].verify()) == []
        finally:
            played.close()
