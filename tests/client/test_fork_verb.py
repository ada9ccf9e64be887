"""``fermata fork``: a new thread that stands on a checkpoint of another and copies nothing."""

from collections.abc import Callable

import pytest
from command_runner import Answer
from written_log import WrittenThread

from activities.log import CommitLog

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
        for verb in ("state", "runs", "messages", "checkpoints", "provenance", "tickets"):
            assert fermata(verb, "bob").refusal == (
                "UnknownThread: thread 'bob' was forked and has no run yet; its first: fermata "
                "start bob GRAPH"
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
