"""``fermata verify``, ``rebuild`` and ``events``: the log as a whole, for people and programs."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from command_runner import Answer
from written_log import TICKET, WrittenThread

Command = Callable[..., Answer]


@pytest.fixture
def change(log_url: str) -> Callable[[str], None]:
    """Changes the file past the log."""

    def execute(statement: str) -> None:
        with closing(sqlite3.connect(log_url.removeprefix("sqlite:///"))) as connection:
            connection.execute(statement)
            connection.commit()

    return execute


@pytest.fixture
def turns(alice: WrittenThread) -> WrittenThread:
    """An ended run and the turn after it."""
    alice.pause_in_loop()
    alice.answer_and_end()
    alice.open_next_turn()
    return alice


class TestVerify:
    def test_a_sound_log(self, fermata: Command, turns: WrittenThread) -> None:
        assert fermata("verify", "--json").document == []
        assert fermata("verify", "alice").out == "everything is as it was accepted\n"

    def test_each_finding_is_a_line_and_the_exit_code_1(
        self, fermata: Command, turns: WrittenThread, change: Callable[[str], None]
    ) -> None:
        change("UPDATE messages SET body = '{}' WHERE place = 1")
        change("DELETE FROM run_rows WHERE kind = 'result'")

        answer = fermata("verify")

        assert (answer.code, answer.err) == (1, "")
        assert answer.out.splitlines() == [
            "thread alice, version 5: row 1 of 2 is missing",
            "thread alice, version 10: message 0 is not what was written: its checksum is another",
        ]

    def test_findings_as_json(
        self, fermata: Command, turns: WrittenThread, change: Callable[[str], None]
    ) -> None:
        change("DELETE FROM tickets")
        what = (
            f"the row {TICKET} of tickets is not what the commits make (it is missing); fermata "
            "rebuild makes it again"
        )

        answer = fermata("verify", "alice", "--json")

        assert (answer.code, answer.err) == (1, "")
        expected = f'[\n  {{\n    "threadId": "alice",\n    "version": null,\n    "what": "{what}"'
        assert answer.out.startswith(expected)


class TestRebuild:
    def test_what_was_made_again_is_said(
        self, fermata: Command, turns: WrittenThread, change: Callable[[str], None]
    ) -> None:
        before = fermata("runs", "alice").out
        change("DELETE FROM runs")
        change("UPDATE threads SET version = 3")
        change(
            "INSERT INTO tickets SELECT 'X:gate:0:0', 'X', thread_id, body, opened_version, place, "
            "created_at, deadline, closed_version, closing FROM tickets"
        )

        answer = fermata("rebuild")

        assert (answer.code, answer.err) == (0, "")
        assert answer.out.splitlines() == [
            "thread alice: 1 of its head, 2 of its runs, 0 of its tickets made again",
            "the log: 1 ticket of no run removed",
        ]
        assert fermata("runs", "alice").out == before
        assert fermata("verify").code == 0

    def test_a_sound_log_is_left_alone(self, fermata: Command, turns: WrittenThread) -> None:
        assert fermata("rebuild").out == ("nothing to do, 1 thread looked at\n")
        assert fermata("rebuild", "alice", "--json").document == {
            "lookedAt": 1,
            "changed": [],
            "strayTickets": 0,
            "damaged": [],
        }

    def test_damaged_commits_are_named_and_the_exit_code_is_1(
        self, fermata: Command, turns: WrittenThread, change: Callable[[str], None]
    ) -> None:
        change("UPDATE commits SET result = NULL WHERE kind = 'Ended'")

        answer = fermata("rebuild")

        assert answer.code == 1
        assert answer.out.startswith("thread alice stays as it is: commit 9 of thread alice is not")

    def test_a_thread_that_lost_its_last_commit_is_named_and_its_lists_stay(
        self, fermata: Command, turns: WrittenThread, change: Callable[[str], None]
    ) -> None:
        before = fermata("threads").out
        change("DELETE FROM commits WHERE thread_version = 10")

        said = "commit 10 is missing: the thread was at version 10, and the last commit is 9"
        assert f"thread alice: {said}" in fermata("verify").out.splitlines()
        answer = fermata("rebuild")

        assert (answer.code, answer.out) == (
            1,
            f"thread alice stays as it is: {said}; its lists stay as they are\n",
        )
        assert fermata("threads").out == before


@pytest.mark.parametrize("verb", [("verify",), ("rebuild",), ("prune",), ("prune", "--apply")])
def test_a_file_that_holds_no_log_is_refused_and_stays_empty(
    fermata: Command, log_url: str, verb: tuple[str, ...]
) -> None:
    file = Path(log_url.removeprefix("sqlite:///"))
    file.touch()

    assert fermata(*verb).refusal.startswith(f"LogError: there is no log at {log_url}")
    assert file.stat().st_size == 0


class TestAMissingRow:
    def test_a_thread_that_is_not_in_the_list_is_listed_as_damaged(
        self, fermata: Command, turns: WrittenThread, change: Callable[[str], None]
    ) -> None:
        WrittenThread(turns.log, "bob").open("B")
        change("DELETE FROM threads WHERE thread_id = 'alice'")

        assert [
            (row["threadId"], row["phase"]) for row in fermata("threads", "--json").document
        ] == [("alice", "damaged"), ("bob", "running")]
        assert [line.split()[:2] for line in fermata("threads").out.splitlines()[1:]] == [
            ["alice", "damaged"],
            ["bob", "running"],
        ]
        said = (
            "CorruptLog: thread 'alice' has commits, and the lists of threads and runs do not "
            "lead to its latest run; fermata rebuild alice makes it again"
        )
        for verb in ("state", "runs", "messages", "tickets", "effects", "events", "checkpoints"):
            assert fermata(verb, "alice").refusal == said
        assert fermata("rebuild").code == 0
        assert fermata("state", "alice").code == 0

    def test_a_result_without_one_of_its_outputs_is_not_shown(
        self, fermata: Command, turns: WrittenThread, change: Callable[[str], None]
    ) -> None:
        change("DELETE FROM run_rows WHERE kind = 'output' AND node_id = 'gate'")

        assert fermata("runs", "alice").refusal == (
            "CorruptLog: run R has 5 outputs of 6; fermata verify says which are missing"
        )

    def test_checkpoints_without_a_commit_are_not_shown(
        self, fermata: Command, turns: WrittenThread, change: Callable[[str], None]
    ) -> None:
        change("DELETE FROM commits WHERE thread_version = 3")

        assert fermata("checkpoints", "alice").refusal == (
            "CorruptLog: run R of thread 'alice' has 8 commits of 9; fermata verify says which "
            "are missing"
        )


class TestEvents:
    def test_rows_have_the_shape_of_the_reference(
        self, fermata: Command, turns: WrittenThread
    ) -> None:
        rows = fermata("events", "alice", "--after", "6", "--limit", "2", "--json").document

        assert rows[0] == {
            "version": 7,
            "index": 0,
            "runId": "R",
            "ordinal": 6,
            "at": "2030-01-02T12:00:06.000Z",
            "kind": "run",
            "body": {"state": "Awaiting"},
        }
        assert [(row["version"], row["kind"]) for row in rows] == [(7, "run"), (7, "ticketOpened")]

    def test_people_see_each_on_a_line(self, fermata: Command, turns: WrittenThread) -> None:
        lines = fermata("events", "alice").out.splitlines()

        assert [" ".join(line.split()[3:]) for line in lines[1:]] == [
            "run Running",
            "stateChanged data.budget",
            "run Awaiting",
            f"ticketOpened {TICKET}",
            "run Resumed",
            f"ticketClosed {TICKET} answered approve",
            "run Completed NaturalEnd",
            "run Running",
            "audit provenance",
            "audit warning",
        ]

    def test_one_run_alone(self, fermata: Command, turns: WrittenThread) -> None:
        rows = fermata("events", "alice", "--run", "S", "--json").document

        assert [row["kind"] for row in rows] == ["run", "audit", "audit"]
        assert fermata("events", "alice", "--run", "Q").refusal == (
            "UnknownRun: thread 'alice' has no run 'Q'"
        )

    def test_the_end_is_an_empty_page(self, fermata: Command, turns: WrittenThread) -> None:
        assert fermata("events", "alice", "--after", "10", "--json").document == []
        assert fermata("events", "alice", "--limit", "0").out == "no events\n"
        assert fermata("events", "alice", "--limit", "-1").code == 2

    def test_a_version_that_no_log_can_have_is_refused(
        self, fermata: Command, turns: WrittenThread
    ) -> None:
        assert fermata("events", "alice", "--after", "9" * 20).refusal == (
            f"InvalidRequest: version {'9' * 20} is none: they go from 0 to 9223372036854775807"
        )
        assert fermata("events", "alice", "--after", "9223372036854775807").out == "no events\n"
