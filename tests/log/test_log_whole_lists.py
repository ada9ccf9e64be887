"""A read of a list that lacks a row says so, and never answers with less than there was."""

from collections.abc import Callable

import pytest
from log_writer import Writer, change, dump, message, next_turn

from activities.log import CommitLog
from seeding.commits import RunRow
from seeding.errors import CorruptLog

AGAIN = "fermata rebuild t makes it again"


@pytest.fixture
def turns(running: Writer) -> Writer:
    """Run r1 of three commits, ended, and run r2 of two after it."""
    running.step()
    running.end()
    second = next_turn(running, "r2")
    second.step()
    return second


@pytest.fixture
def asking(running: Writer) -> Writer:
    """Run r1, which waits at two gates."""
    running.wait(running.ticket(), running.ticket("gate2"))
    return running


def of_run(log: CommitLog) -> list[Callable[[], object]]:
    return [
        lambda: log.latest_run("t"),
        lambda: log.state("t"),
        lambda: log.messages("t"),
    ]


class TestTheLatestRun:
    @pytest.mark.parametrize(
        "lost",
        [
            "DELETE FROM threads",
            "DELETE FROM runs WHERE run_id = 'r2'",
            "UPDATE threads SET head_run_id = 'r1'",
            "UPDATE threads SET version = 4",
            "UPDATE runs SET last_version = 4 WHERE run_id = 'r2'",
        ],
    )
    def test_that_the_lists_do_not_lead_to_is_not_another_one(
        self, turns: Writer, log_url: str, lost: str
    ) -> None:
        before = dump(log_url)
        change(log_url, lost)

        for read in of_run(turns.log):
            with pytest.raises(CorruptLog, match=AGAIN):
                read()
        assert turns.log.threads_without_head() == ["t"]
        assert turns.log.threads() == []
        turns.log.rebuild()
        assert dump(log_url) == before
        assert turns.log.threads_without_head() == []

    def test_a_thread_without_its_head_is_neither_new_nor_without_events(
        self, turns: Writer, log_url: str
    ) -> None:
        change(log_url, "DELETE FROM threads")
        for read in (turns.log.thread_version, turns.log.events, turns.log.checkpoints):
            with pytest.raises(CorruptLog, match=AGAIN):
                read("t")

    def test_a_thread_of_which_only_runs_are_left_is_named(
        self, turns: Writer, log_url: str
    ) -> None:
        change(log_url, "DELETE FROM threads", "DELETE FROM commits")
        assert turns.log.threads_without_head() == ["t"]
        with pytest.raises(CorruptLog, match="thread 't' has commits"):
            turns.log.latest_run("t")

    def test_a_forked_thread_without_a_run_is_none(self, turns: Writer) -> None:
        turns.log.fork("r1:2", "forked")
        assert turns.log.latest_run("forked") is None
        assert turns.log.threads_without_head() == []
        assert [branch.thread_id for branch in turns.log.forks()] == ["forked"]


def test_a_missing_run_is_no_shorter_list_of_runs(turns: Writer, log_url: str) -> None:
    assert [run.run_id for run in turns.log.runs("t")] == ["r1", "r2"]
    change(log_url, "DELETE FROM runs WHERE run_id = 'r1'")
    with pytest.raises(CorruptLog, match="have 2 commits, and its version is 5") as refused:
        turns.log.runs("t")
    assert AGAIN in refused.value.message
    with pytest.raises(CorruptLog, match="run r1 has commits and is not in the lists"):
        turns.log.run("r1")


class TestATicket:
    def test_that_is_missing_beside_another_is_missed_by_every_read(
        self, asking: Writer, log_url: str
    ) -> None:
        log = asking.log
        change(log_url, "DELETE FROM tickets WHERE ticket = 'r1:gate2:0:0'")
        missed = "ticket r1:gate2:0:0, which run r1 waits for, is not in the list of tickets"
        for read in (
            *of_run(log),
            lambda: log.open_tickets("t"),
            log.open_tickets,
            lambda: log.run("r1"),
            lambda: log.state("t", "r1:1"),
        ):
            with pytest.raises(CorruptLog, match=f"{missed}; {AGAIN}"):
                read()

    def test_of_another_thread_is_not_missed_by_the_reads_of_this_one(
        self, asking: Writer, log_url: str
    ) -> None:
        other = Writer(asking.log, "o1", "other")
        other.open()
        other.wait(other.ticket())
        change(log_url, "DELETE FROM tickets WHERE run_id = 'r1'")

        assert [item.body.ticket for item in asking.log.open_tickets("other")] == ["o1:gate:0:0"]
        with pytest.raises(CorruptLog, match="which run r1 waits for"):
            asking.log.open_tickets()

    def test_that_was_answered_and_is_missing_is_no_question_that_was_never_asked(
        self, asking: Writer, log_url: str
    ) -> None:
        asking.answer(asking.ticket())
        (closing,) = asking.log.answers("r1", "gate", 0, 1)
        assert closing.decision == "approve"
        change(log_url, "DELETE FROM tickets WHERE ticket = 'r1:gate:0:0'")
        with pytest.raises(CorruptLog, match="ticket r1:gate:0:0 was closed and is not in the"):
            asking.log.answers("r1", "gate", 0, 1)


def test_a_missing_output_is_no_shorter_result(running: Writer, log_url: str) -> None:
    def completed(node: str) -> RunRow:
        return RunRow(kind="output", node_id=node, occurrence=0, value={"outputs": {}})

    running.step(rows=(completed("a"),), node_id="a", checkpoint="node")
    running.step(rows=(completed("b"),), node_id="b", checkpoint="node")
    assert [row.node_id for row in running.log.completed_outputs("r1")] == ["a", "b"]
    change(log_url, "DELETE FROM run_rows WHERE node_id = 'a'")
    with pytest.raises(CorruptLog, match="run r1 has 1 output of 2"):
        running.log.completed_outputs("r1")


def test_what_a_run_goes_on_with_counts_for_its_result(running: Writer, log_url: str) -> None:
    row = RunRow(kind="output", node_id="a", occurrence=0, value={"outputs": {}})
    running.step(rows=(row,), node_id="a", checkpoint="node", messages=(message("m1"),))
    running.end()
    point = {"thread_id": "t", "branch": "main", "run_id": "r1", "up_to": 2}
    next_turn(running, "r2", continues=(point,))
    assert [found.node_id for found in running.log.completed_outputs("r2")] == ["a"]
    change(log_url, "DELETE FROM run_rows")
    with pytest.raises(CorruptLog, match="run r2 has 0 outputs of 1"):
        running.log.completed_outputs("r2")
