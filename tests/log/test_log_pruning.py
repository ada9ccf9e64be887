"""Pruning takes the inner parts of old runs and old branches, and nothing that anyone needs."""

from datetime import timedelta

import pytest
from log_writer import Writer, drop, dump, message, next_turn, opening, put

from activities.log import CommitLog
from seeding.commits import EndCause, Opening, RunRow
from seeding.errors import UnknownCheckpoint, UnknownThread

NOW = timedelta(0)


def turn(writer: Writer, number: int, *, steps: int = 3) -> None:
    """Write the completions of one turn, and its end."""
    for step in range(steps):
        writer.step(
            messages=(message(f"{writer.run_id}.m{step}"),),
            state=(
                put("same", number * 10 + step),
                put(f"own-{number}", step),
                put(f"node/n{step}", step, "position"),
            ),
            rows=(
                RunRow(kind="output", node_id="n", occurrence=step, value={"outputs": {"v": 1}}),
            ),
            node_id="n",
            checkpoint="node",
        )
    writer.end()


def turns(log: CommitLog, count: int, thread_id: str = "t") -> Writer:
    """Write ``count`` ended turns on one branch of a thread."""
    writer = Writer(log, f"{thread_id}-1", thread_id)
    writer.open(messages=(message(f"{thread_id}-1.m"),))
    turn(writer, 1)
    for number in range(2, count + 1):
        writer = next_turn(writer, f"{thread_id}-{number}", run_epoch=number)
        turn(writer, number)
    return writer


def pruned(
    log: CommitLog, keep: int = 0, thread_id: str | None = None
) -> list[tuple[str, int, bool]]:
    """Prune all that may go, and return branch, number of runs and whether it went whole."""
    report = log.prune(thread_id, older_than=NOW, keep=keep, apply=True)
    return [(item.branch, item.runs, item.whole) for item in report.branches]


class TestTheRule:
    def test_a_dry_run_says_what_would_go_and_writes_nothing(
        self, log: CommitLog, log_url: str
    ) -> None:
        turns(log, 3)
        before = dump(log_url)

        planned = log.prune(older_than=NOW, keep=0)

        assert dump(log_url) == before
        assert not planned.applied
        (only,) = planned.branches
        assert (only.thread_id, only.branch, only.whole) == ("t", "main", False)
        assert (only.runs, only.commits, only.checkpoints, only.messages) == (2, 6, 8, 0)
        assert only.floor == 10
        assert log.prune(older_than=NOW, keep=0, apply=True).branches == planned.branches

    def test_the_bytes_it_names_are_those_of_the_texts_that_went(
        self, log: CommitLog, log_url: str
    ) -> None:
        turns(log, 3)
        before = _bytes(log_url)

        (only,) = log.prune(older_than=NOW, keep=0, apply=True).branches

        floor_row = len("t") + len("main") + len("2030-01-02T12:00:00.000Z")
        assert only.bytes == before - _bytes(log_url) + floor_row

    def test_the_newest_runs_of_a_branch_stay(self, log: CommitLog) -> None:
        turns(log, 5)

        assert pruned(log, keep=3) == [("main", 2, False)]
        assert [run.pruned for run in log.runs("t")] == [True, True, False, False, False]

    def test_a_run_goes_where_it_ended_longer_ago_than_the_age(self, log: CommitLog) -> None:
        turns(log, 4)
        ends = [run.ended_at for run in log.runs("t")]
        assert ends[1] == "2030-01-02T12:00:09.000Z"

        # The clock is read once more by the prune itself: it is 20 seconds after noon.
        report = log.prune(older_than=timedelta(seconds=11), keep=0, apply=True)

        assert [item.runs for item in report.branches] == [1]
        assert [run.pruned for run in log.runs("t")] == [True, False, False, False]

    def test_pruning_twice_takes_nothing_more(self, log: CommitLog, log_url: str) -> None:
        turns(log, 3)
        pruned(log)
        before = dump(log_url)

        assert pruned(log) == []
        assert dump(log_url) == before

    def test_one_thread_is_pruned_alone_where_it_is_named(self, log: CommitLog) -> None:
        turns(log, 2)
        turns(log, 2, "other")

        assert pruned(log, thread_id="other") == [("main", 1, False)]
        assert [run.pruned for run in log.runs("t")] == [False, False]
        with pytest.raises(UnknownThread, match="nobody"):
            log.prune("nobody", older_than=NOW, keep=0)


class TestWhatStays:
    def test_the_state_the_next_turn_starts_from_is_the_same(self, log: CommitLog) -> None:
        turns(log, 4)
        state, messages = log.state("t"), log.messages("t")

        pruned(log)

        assert log.state("t") == state
        assert log.messages("t") == messages

    def test_the_runs_with_their_causes_and_reports_are_listed_as_before(
        self, log: CommitLog
    ) -> None:
        writer = turns(log, 2)
        writer = next_turn(writer, "t-3", run_epoch=3)
        cause = EndCause(kind="Error", message="broken")
        ended = writer.commit("Ended", cause=cause, checkpoint="end", result={"status": "failed"})
        writer.send(writer.make(ended))
        turn(next_turn(writer, "t-4", run_epoch=4), 4)
        before = log.runs("t")

        pruned(log)

        after = log.runs("t")
        assert [run.pruned for run in after] == [True, True, True, False]
        assert [run.model_copy(update={"pruned": False}) for run in after] == before

    def test_of_a_pruned_run_the_first_and_the_last_commit_stay(
        self, log: CommitLog, log_url: str
    ) -> None:
        turns(log, 2)

        pruned(log)

        assert _commits(log_url) == [1, 5, 6, 7, 8, 9, 10]

    def test_a_run_that_has_not_ended_stays_whole(self, log: CommitLog) -> None:
        writer = next_turn(turns(log, 1), "t-2")
        ticket = writer.ticket()
        writer.wait(ticket, checkpoint="pause")

        assert pruned(log) == [("main", 1, False)]

        assert [item.body.ticket for item in log.open_tickets("t")] == [ticket.ticket]
        assert log.checkpoint("t-2:1") is not None

    def test_a_thread_without_anything_to_take_is_not_touched(
        self, log: CommitLog, log_url: str
    ) -> None:
        turns(log, 1)
        before = dump(log_url)

        assert pruned(log) == []
        assert dump(log_url) == before

    def test_a_removed_value_stays_removed(self, log: CommitLog) -> None:
        writer = Writer(log)
        writer.open(state=(put("k", 1),))
        writer.step(state=(drop("k"),))
        writer.end()
        turn(next_turn(writer, "r2"), 2)

        pruned(log)

        assert "k" not in log.state("t").state.data

    def test_a_late_commit_of_a_pruned_run_is_refused(self, log: CommitLog) -> None:
        first = Writer(log)
        first.open()
        late = first.make(first.commit("Running", messages=(message("late"),)))
        again = first.make(first.commit("Running"))
        first.send(again)
        last = first.ending()
        first.send(last)
        turn(next_turn(first, "r2"), 2)
        pruned(log)

        for zombie in (late, again):
            refusal = log.append([zombie]).refusal
            assert refusal is not None
            assert refusal.code == "RunTerminal"
        repeated = log.append([last]).receipt
        assert repeated is not None
        assert (repeated.duplicate, repeated.last) == (True, True)


class TestWhatIsPrunedSaysSo:
    @pytest.mark.parametrize("ordinal", [0, 1, 4], ids=["opening", "inner", "end"])
    def test_a_pruned_checkpoint_is_unknown_and_its_refusal_says_why(
        self, log: CommitLog, ordinal: int
    ) -> None:
        turns(log, 2)
        name = f"t-1:{ordinal}"
        assert log.state("t", name).ordinal == ordinal

        pruned(log)

        assert log.checkpoint(name) is None
        assert log.is_pruned(name)
        for read in (lambda: log.state("t", name), lambda: log.messages("t", name)):
            with pytest.raises(UnknownCheckpoint, match="was pruned") as refused:
                read()
            assert refused.value.details == {"checkpointId": name, "pruned": True}

    def test_a_position_is_not_read_from_what_is_left(self, log: CommitLog) -> None:
        turns(log, 2)
        pruned(log)

        with pytest.raises(UnknownCheckpoint, match="was pruned"):
            log.position("t-1")

    @pytest.mark.parametrize("name", ["t-2:1", "t-1:99", "nobody:1", "no name"])
    def test_what_is_kept_or_never_was_is_not_called_pruned(
        self, log: CommitLog, name: str
    ) -> None:
        turns(log, 2)
        pruned(log)

        assert not log.is_pruned(name)

    def test_pruned_checkpoints_are_not_listed_and_the_first_that_is_has_no_parent(
        self, log: CommitLog
    ) -> None:
        turns(log, 2)

        pruned(log)

        listed = [(row.id, row.parent) for row in log.checkpoints("t")]
        assert listed == [
            ("t-2:1", None),
            ("t-2:2", "t-2:1"),
            ("t-2:3", "t-2:2"),
            ("t-2:4", "t-2:3"),
        ]


class TestBranches:
    def test_nothing_that_a_branch_stands_on_goes(self, log: CommitLog) -> None:
        """Of three runs on main the second is stood on in its middle."""
        writer = turns(log, 3)
        point = log.checkpoint("t-2:2")
        assert point is not None
        fork = next_turn(
            writer, "f-1", branch="b2", lineage=log.lineage("t", "main", point.version), run_epoch=4
        )
        turn(fork, 4)
        state, messages = log.state("t"), log.messages("t")

        assert pruned(log) == [("main", 1, False)]

        assert (log.state("t"), log.messages("t")) == (state, messages)
        assert log.checkpoint("t-2:2") == point
        assert log.checkpoints("t")[0].id == "t-2:1"

    def test_a_branch_of_another_thread_holds_back_as_well(self, log: CommitLog) -> None:
        turns(log, 3)
        point = log.checkpoint("t-1:4")
        assert point is not None
        other = Writer(log, "o-1", "other%_")
        other.open(how=_standing(log, point.version))
        other.end()

        assert pruned(log) == []

        turn(next_turn(other, "o-2"), 2)
        assert pruned(log) == [("main", 1, False)]
        assert [run.pruned for run in log.runs("other%_")] == [True, False]

    def test_an_ended_branch_that_nothing_stands_on_goes_whole(
        self, log: CommitLog, log_url: str
    ) -> None:
        left, fork = _left_behind(log)

        assert pruned(log) == [("main", 1, False), ("b2", 1, True)]

        assert [branch.name for branch in log.branches("t")] == ["main", "b3"]
        assert [row for row in dump(log_url)["messages"] if row[1] == "b2"] == []
        assert [row for row in dump(log_url)["cells"] if row[1] == "b2"] == []
        assert [row.branch for row in log.checkpoints("t")] == ["main"] * 4 + ["b3"] * 4
        assert {run.run_id: run.pruned for run in log.runs("t")} == {
            "t-1": True,
            "t-2": False,
            left.run_id: True,
            fork.run_id: False,
        }

    def test_the_newest_runs_of_a_branch_left_behind_hold_it(self, log: CommitLog) -> None:
        _left_behind(log)

        assert pruned(log, keep=1) == [("main", 1, False)]

    def test_no_later_branch_gets_the_name_of_one_that_went(self, log: CommitLog) -> None:
        _left_behind(log)
        assert log.branch_count("t") == 3

        pruned(log)

        assert log.branch_count("t") == 3

    def test_what_only_a_branch_that_goes_stood_on_goes_with_it(self, log: CommitLog) -> None:
        first = turns(log, 1)
        second = next_turn(first, "b-1", branch="b2", lineage=(), run_epoch=2)
        turn(second, 2)
        third = next_turn(
            second, "b-2", branch="b3", lineage=log.lineage("t", "b2", second.version), run_epoch=3
        )
        turn(third, 3)
        turn(next_turn(third, "b-3", branch="b4", lineage=(), run_epoch=4), 4)

        assert pruned(log) == [("main", 1, True), ("b2", 1, True), ("b3", 1, True)]
        assert [branch.name for branch in log.branches("t")] == ["b4"]

    def test_an_opening_on_a_point_that_went_meanwhile_seeds_again(self, log: CommitLog) -> None:
        writer = turns(log, 2)
        lineage = log.lineage("t", "main", 5)
        pruned(log)
        late = Writer(log, "late")
        how = opening(run_epoch=3, chain_id="late", branch="b2", lineage=lineage)

        refusal = log.append([late.make(late.commit(opening=how))]).refusal

        assert refusal is not None
        assert refusal.code == "ThreadVersionConflict"
        assert "was pruned" in refusal.message
        assert writer.version == log.thread_version("t")


def _standing(log: CommitLog, version: int) -> Opening:
    return opening(chain_id="o", lineage=log.lineage("t", "main", version))


def _left_behind(log: CommitLog) -> tuple[Writer, Writer]:
    """Two turns on main, a branch b2 from the second's middle, and b3 from there as well."""
    writer = turns(log, 2)
    lineage = log.lineage("t", "main", 7)
    left = next_turn(writer, "left", branch="b2", lineage=lineage, run_epoch=3)
    turn(left, 3)
    fork = next_turn(left, "fork", branch="b3", lineage=lineage, run_epoch=4)
    turn(fork, 4)
    return left, fork


def _commits(url: str) -> list[int]:
    return sorted(row[1] for row in dump(url)["commits"])


def _bytes(url: str) -> int:
    return sum(
        len(value.encode())
        for rows in dump(url).values()
        for row in rows
        for value in row
        if isinstance(value, str)
    )
