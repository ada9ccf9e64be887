"""The reading verbs: the log alone answers, in the shapes of the contract."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from command_runner import Answer
from sqlalchemy.engine import make_url
from written_log import GRAPH, PASSED_OVER, TICKET, WrittenThread

from seeding.commits import Disposition, EndCause
from seeding.tickets import Ticket

Command = Callable[..., Answer]

WAITING_FOR = {
    "ticket": TICKET,
    "nodeId": "gate",
    "occurrence": 0,
    "kind": "approval",
    "message": "Over the limit. Pay 150?",
    "input": {"item": 150},
    "schema": None,
    "allowed": ["approve", "deny"],
    "createdAt": "2030-01-02T12:00:06.000Z",
    "deadline": None,
}
READING = (
    ("state", "alice"),
    ("runs", "alice"),
    ("messages", "alice"),
    ("checkpoints", "alice"),
    ("provenance", "alice"),
    ("effects", "alice"),
    ("tickets",),
    ("threads",),
)
MESSAGE = {"id": "R:0:0", "role": "user", "content": "please check these"}


class TestState:
    def test_a_run_paused_inside_a_loop_has_the_shape_of_contract_4(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()

        assert fermata("state", "alice", "--json").document == {
            "status": None,
            "isComplete": False,
            "error": None,
            "messages": [MESSAGE],
            "data": {"budget": 500},
            "metadata": {},
            "threadId": "alice",
            "currentNodeId": "gate",
            "iterationCount": 2,
            "iterator": {"items": [50, 150], "index": 1, "results": [50]},
            "run": {
                "runId": "R",
                "runEpoch": 1,
                "phase": "awaiting",
                "pausedReason": None,
                "graph": GRAPH,
                "branch": "main",
                "checkpointId": "R:6",
                "waitingFor": [WAITING_FOR],
            },
        }

    def test_an_ended_run_shows_its_outcome_and_workflow_end(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()

        state = fermata("state", "alice", "--json").document

        assert (state["status"], state["isComplete"], state["iterationCount"]) == (
            "completed",
            True,
            2,
        )
        assert state["run"]["checkpointId"] == "workflow_end"
        assert (state["run"]["phase"], state["run"]["cause"]) == ("ended", "NaturalEnd")
        assert state["run"]["waitingFor"] == []

    def test_a_failed_run_shows_its_error(self, fermata: Command, alice: WrittenThread) -> None:
        alice.open()
        alice.end("R", EndCause(kind="Error", message="no such account"), "failed")

        state = fermata("state", "alice", "--json").document

        assert (state["status"], state["error"]) == ("failed", "no such account")

    def test_an_open_pause_makes_the_phase_paused_and_names_its_reason(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open()
        pause = Ticket(
            ticket="R::0:0",
            run_id="R",
            thread_id="alice",
            node_id="",
            occurrence=0,
            kind="pause",
            reason="checking",
        )
        alice.append(
            "R",
            Disposition(kind="Awaiting", tickets=(pause.reference,)),
            opened=(pause,),
            checkpoint="pause",
        )

        run = fermata("state", "alice", "--json").document["run"]

        assert (run["phase"], run["pausedReason"]) == ("paused", None)
        assert run["waitingFor"][0]["reason"] == "checking"

    def test_a_checkpoint_shows_the_state_as_it_was_then(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()

        state = fermata("state", "alice", "--checkpoint", "R:6", "--json").document

        assert (state["status"], state["currentNodeId"]) == (None, "gate")
        assert state["run"]["checkpointId"] == "R:6"
        assert state["run"]["waitingFor"] == [WAITING_FOR]

    def test_data_beyond_64_kb_is_shown_by_reference_and_whole_with_full(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        large = {f"part{index}": "x" * 30_000 for index in range(3)}
        alice.open(
            state=tuple(
                {"op": "set", "scope": "thread", "cell": "data", "key": key, "value": value}
                for key, value in large.items()
            )
        )

        shown = fermata("state", "alice", "--json").document["data"]
        whole = fermata("state", "alice", "--full", "--json").document["data"]

        assert shown["part0"] == {"$ref": "data/part0", "bytes": 30_002}
        assert whole == large

    def test_an_unknown_thread_exits_1_by_name(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open()

        assert fermata("state", "bob").refusal == (
            "UnknownThread: the log has no run of thread 'bob'"
        )

    def test_an_unknown_checkpoint_exits_1_by_name(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open()

        answer = fermata("state", "alice", "--checkpoint", "R:9", "--json")

        assert answer.refusal == "UnknownCheckpoint: thread 'alice' has no checkpoint 'R:9'"

    def test_people_read_where_it_stands_and_the_line_that_answers(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()

        out = fermata("state", "alice").out

        assert "thread alice" in out
        assert "awaiting" in out
        assert "item 2 of 2 in its loop" in out
        assert f"fermata resume alice --ticket {TICKET} --decision approve" in out
        assert "budget = 500" in out
        assert "user: please check these" in out

    def test_text_that_would_steer_the_terminal_is_defused(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open(messages=({"id": "m", "role": "user", "content": "\x1b[2J[bold]hi"},))

        assert "user: \N{REPLACEMENT CHARACTER}[2J[bold]hi" in fermata("state", "alice").out

    def test_an_argument_that_is_no_unicode_is_refused(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open()

        refusal = fermata("state", "\udcff").refusal

        assert refusal == "InvalidRequest: an argument is no Unicode text: '\\udcff'"


class TestLists:
    def test_runs_carry_the_results_of_ended_ones(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()
        alice.open_next_turn()

        first, second = fermata("runs", "alice", "--json").document

        assert (first["runId"], first["runEpoch"], first["phase"]) == ("R", 1, "ended")
        assert first["cause"] == {"kind": "NaturalEnd", "message": None, "details": {}}
        assert first["result"]["status"] == "completed"
        assert first["result"]["results"]["gate"] == {"answer": "approve"}
        assert (second["runId"], second["phase"], second["result"]) == ("S", "running", None)

    def test_threads_show_where_their_latest_run_stands(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()

        assert fermata("threads", "--json").document == [
            {
                "threadId": "alice",
                "version": 7,
                "runId": "R",
                "runEpoch": 1,
                "phase": "awaiting",
                "graph": GRAPH,
                "tickets": [TICKET],
                "openedAt": "2030-01-02T12:00:00.000Z",
                "endedAt": None,
            }
        ]

    def test_messages_are_whole_and_in_order(self, fermata: Command, alice: WrittenThread) -> None:
        alice.open()
        alice.end("R")
        alice.open_next_turn()

        assert fermata("messages", "alice", "--json").document == [
            MESSAGE,
            {"id": "S:0:0", "role": "user", "content": "please check these"},
        ]

    def test_checkpoints_leave_out_the_opening_and_name_the_end(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()

        rows = fermata("checkpoints", "alice", "--json").document

        assert [row["kind"] for row in rows] == [*["node"] * 5, "pause", "node", "end"]
        assert rows[0]["id"] == "R:1"
        assert rows[-1] == {
            "id": "R:8",
            "name": "workflow_end",
            "parent": "R:7",
            "runId": "R",
            "branch": "main",
            "ordinal": 8,
            "nodeId": None,
            "kind": "end",
            "createdAt": "2030-01-02T12:00:08.000Z",
        }

    @pytest.mark.parametrize("verb", ["runs", "messages", "checkpoints", "tickets", "provenance"])
    def test_an_unknown_thread_exits_1_with_one_line(
        self, fermata: Command, alice: WrittenThread, verb: str
    ) -> None:
        alice.open()

        assert fermata(verb, "bob").refusal.startswith("UnknownThread: ")

    @pytest.mark.parametrize(
        "verb", ["state", "runs", "messages", "checkpoints", "tickets", "provenance"]
    )
    def test_people_get_text_for_every_verb(
        self, fermata: Command, alice: WrittenThread, verb: str
    ) -> None:
        alice.pause_in_loop()

        answer = fermata(verb, "alice")

        assert (answer.code, answer.err) == (0, "")
        assert answer.out.strip()


class TestTickets:
    def test_open_tickets_are_of_unknown_liveness_where_no_server_answers(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()

        for arguments in (("tickets",), ("tickets", "alice")):
            assert fermata(*arguments, "--json").document == [
                {"threadId": "alice", "runId": "R", **WAITING_FOR, "live": "unknown"}
            ]

    def test_an_answered_ticket_is_not_listed(self, fermata: Command, alice: WrittenThread) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()

        assert fermata("tickets", "alice", "--json").document == []


class TestProvenance:
    def test_it_shows_the_source_what_was_passed_over_cleared_and_warned_of(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.pause_in_loop()
        alice.answer_and_end()
        alice.open_next_turn()

        assert fermata("provenance", "alice", "--json").document == {
            "threadId": "alice",
            "runId": "S",
            "runEpoch": 2,
            "graph": GRAPH,
            "branch": "main",
            "openedAt": "2030-01-02T12:00:09.000Z",
            "start": {"source": "thread", "passedOver": PASSED_OVER},
            "cleared": {"status": "completed", "isComplete": True, "iterationCount": 2},
            "warnings": [{"code": "pinned_graph", "message": "kept"}],
            "takeovers": [],
        }

    def test_it_is_found_from_later_commits_of_the_run_too(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open()
        alice.end("R")
        alice.open_next_turn()
        alice.end("S")

        document = fermata("provenance", "alice", "--json").document

        assert document["cleared"] == {
            "status": "completed",
            "isComplete": True,
            "iterationCount": 2,
        }


class TestNoLog:
    def test_a_log_that_does_not_exist_is_named_and_not_made(
        self, fermata: Command, log_url: str
    ) -> None:
        path = make_url(log_url).database

        answer = fermata("threads", "--json")

        assert answer.refusal.startswith(f"LogError: there is no log at {path}; ")
        assert not Path(str(path)).exists()

    def test_a_folder_that_does_not_exist_is_not_made(
        self, fermata: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("FERMATA_LOG_URL")
        monkeypatch.setenv("FERMATA_HOME", str(tmp_path / "nowhere"))

        assert fermata("state", "alice").refusal.startswith("LogError: there is no log at ")
        assert not (tmp_path / "nowhere").exists()

    def test_a_log_url_that_is_none_is_refused(
        self, fermata: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FERMATA_LOG_URL", "log.db")

        assert fermata("threads").refusal.startswith("LogError: FERMATA_LOG_URL 'log.db' is no URL")


class TestBesideAWriter:
    @pytest.mark.parametrize("verb", READING, ids=[verb[0] for verb in READING])
    def test_a_log_that_is_locked_is_read_at_once(
        self, fermata: Command, alice: WrittenThread, log_url: str, verb: tuple[str, ...]
    ) -> None:
        alice.pause_in_loop()
        path = log_url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            begun = time.monotonic()
            answer = fermata(*verb)
            other.execute("ROLLBACK")

        assert (answer.code, answer.err) == (0, "")
        assert time.monotonic() - begun < 4.0

    @pytest.mark.parametrize("verb", READING, ids=[verb[0] for verb in READING])
    def test_an_empty_file_stays_one(
        self, fermata: Command, log_url: str, verb: tuple[str, ...]
    ) -> None:
        file = Path(log_url.removeprefix("sqlite:///"))
        file.touch()

        assert fermata(*verb).refusal.startswith("LogError: there is no log at sqlite:///")
        assert file.read_bytes() == b""
