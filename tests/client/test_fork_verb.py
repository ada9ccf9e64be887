"""``fermata fork``: a new thread that stands on a checkpoint of another and copies nothing."""

from collections.abc import Callable

import pytest
from command_runner import Answer
from written_log import WrittenThread

from activities.log import CommitLog
from tests.log.log_writer import change

Fermata = Callable[..., Answer]


@pytest.fixture
def answered(alice: WrittenThread) -> WrittenThread:
    alice.pause_in_loop()
    return alice


@pytest.mark.usefixtures("answered")
class TestFork:
    def test_it_opens_a_branch_and_starts_nothing(self, fermata: Fermata, log: CommitLog) -> None:
        commits = log.commits("alice")
        named = log.state("alice").checkpoint_id

        made = fermata("fork", "alice", "--at", named, "--to", "bob", "--json").document

        version = log.thread_version("alice")
        assert made == {
            "threadId": "bob",
            "branch": "main",
            "checkpointId": named,
            "lineage": [{"threadId": "alice", "branch": "main", "upTo": version}],
        }
        assert log.commits("alice") == commits
        assert log.runs("bob") == []
        assert fermata("fork", "alice", "--at", named, "--to", "bob", "--json").document == made

    def test_the_new_thread_is_listed_until_its_first_run(
        self, fermata: Fermata, log: CommitLog
    ) -> None:
        named = log.state("alice").checkpoint_id
        printed = fermata("fork", "alice", "--at", named, "--to", "bob")
        assert printed.out == (
            f"thread bob stands on {named}; its first run: fermata start bob GRAPH\n"
        )
        assert fermata("threads", "--json").document[1] == {
            "threadId": "bob",
            "version": 0,
            "runId": None,
            "runEpoch": 0,
            "phase": "forked",
            "graph": None,
            "tickets": [],
            "openedAt": None,
            "endedAt": None,
            "forkedFrom": named,
        }
        assert "forked" in fermata("threads").out
        assert fermata("provenance", "bob").refusal == (
            "UnknownThread: thread 'bob' was forked and has no run yet; its first: fermata "
            "start bob GRAPH"
        )

    def test_a_forked_thread_shows_what_it_stands_on(
        self, fermata: Fermata, log: CommitLog
    ) -> None:
        named = log.state("alice").checkpoint_id
        there = fermata("state", "alice", "--json").document
        fermata("fork", "alice", "--at", named, "--to", "bob")

        assert fermata("state", "bob", "--json").document == {
            **there,
            "threadId": "bob",
            "run": {
                "runId": None,
                "runEpoch": 0,
                "phase": "forked",
                "pausedReason": None,
                "graph": None,
                "branch": "main",
                "checkpointId": None,
                "waitingFor": [],
                "forkedFrom": named,
            },
        }
        messages = fermata("messages", "alice", "--json").document
        assert fermata("messages", "bob", "--json").document == messages
        for verb in ("runs", "checkpoints", "tickets"):
            assert fermata(verb, "bob", "--json").document == []
        for verb in ("state", "messages", "runs", "checkpoints", "tickets"):
            assert fermata(verb, "bob").code == 0
        assert f"forked from {named}, no run yet" in fermata("state", "bob").out
        assert fermata("checkpoints", "bob").out == (
            f"branch main on {named}, without a checkpoint of its own\n"
        )
        assert fermata("threads", "--json").document[1]["forkedFrom"] == named

    def test_forked_at_an_end_it_shows_what_the_next_turn_keeps(
        self, fermata: Fermata, log: CommitLog, alice: WrittenThread
    ) -> None:
        alice.answer_and_end()
        ended = fermata("state", "alice", "--json").document
        assert (ended["status"], ended["isComplete"]) == ("completed", True)

        fermata("fork", "alice", "--at", "workflow_end", "--to", "bob")

        state = fermata("state", "bob", "--json").document
        assert (state["status"], state["isComplete"], state["currentNodeId"]) == (None, False, "")
        assert (state["data"], state["messages"]) == (ended["data"], ended["messages"])

    @pytest.mark.parametrize("verb", ["state", "messages", "checkpoints"])
    def test_a_lost_point_is_not_taken_for_what_the_other_thread_came_to_since(
        self, fermata: Fermata, log: CommitLog, log_url: str, verb: str
    ) -> None:
        point = log.checkpoint("R:3")
        assert point is not None
        fermata("fork", "alice", "--at", "R:3", "--to", "bob")
        change(log_url, "DELETE FROM commits WHERE run_id = 'R' AND ordinal = 3")

        assert fermata(verb, "bob").refusal == (
            f"CorruptLog: thread 'bob' was forked from thread 'alice' at its commit "
            f"{point.version}, which is missing; see `fermata verify alice`"
        )

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("nobody", "--at", "R:1", "--to", "bob"), "UnknownThread: "),
            (("alice", "--at", "R:99", "--to", "bob"), "UnknownCheckpoint: "),
            (("alice", "--at", "workflow_end", "--to", "bob"), "UnknownCheckpoint: "),
            (("alice", "--at", "R:1", "--to", "alice"), "InvalidRequest: thread 'alice' is there"),
            (("alice", "--at", "R:1", "--to", "a/b"), "InvalidRequest: "),
        ],
    )
    def test_what_cannot_be_forked_is_refused_by_name(
        self, fermata: Fermata, log: CommitLog, arguments: tuple[str, ...], said: str
    ) -> None:
        assert fermata("fork", *arguments).refusal.startswith(said)
        assert log.forks() == []
