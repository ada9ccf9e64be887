"""``fermata prune`` shows what would go, and takes it with ``--apply``."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from command_runner import Answer
from written_log import Clock, WrittenThread

from activities.log import CommitLog
from seeding.commits import RunRow

Command = Callable[..., Answer]
OF_R = {
    "threadId": "alice",
    "branch": "main",
    "whole": False,
    "floor": 9,
    "runs": 1,
    "commits": 7,
    "checkpoints": 8,
    "messages": 0,
}


@pytest.fixture
def log(log_url: str) -> Generator[CommitLog]:
    """The log, with a clock that is far in the past."""
    clock = Clock()
    clock.moment = clock.moment.replace(year=2020)
    with CommitLog.open(log_url, clock=clock) as opened:
        yield opened


@pytest.fixture
def two_turns(alice: WrittenThread) -> WrittenThread:
    """Run R with its answered gate, ended, and run S after it, ended as well."""
    alice.pause_in_loop()
    alice.answer_and_end()
    alice.open_next_turn()
    alice.end("S")
    return alice


def test_without_apply_it_writes_nothing_and_names_what_would_go(
    fermata: Command, two_turns: WrittenThread, log_url: str
) -> None:
    before = _content(log_url)

    shown = fermata("prune", "alice", "--older-than", "0", "--keep", "0", "--json").document

    (only,) = shown["branches"]
    assert only.pop("bytes") > 1000
    assert only == OF_R
    assert (shown["applied"], shown["shrunk"]) == (False, None)
    assert _content(log_url) == before


def test_people_are_told_how_to_carry_it_out(fermata: Command, two_turns: WrittenThread) -> None:
    said = fermata("prune", "--older-than", "0", "--keep", "0")

    assert (said.code, said.err) == (0, "")
    header, row, hint = said.out.splitlines()
    assert header.split() == [
        "thread",
        "branch",
        "goes",
        "runs",
        "commits",
        "checkpoints",
        "messages",
        "bytes",
    ]
    assert row.split()[:8] == ["alice", "main", "in", "part", "1", "7", "8", "0"]
    assert hint == "nothing was written; add --apply to remove it"


def test_with_apply_it_is_gone_and_the_runs_say_so(
    fermata: Command, two_turns: WrittenThread
) -> None:
    rule = ("--older-than", "0", "--keep", "0")
    taken = fermata("prune", "alice", *rule, "--apply", "--json").document

    assert (taken["applied"], taken["branches"][0]["runs"]) == (True, 1)
    first, second = fermata("runs", "alice", "--json").document
    assert (first["runId"], first["cause"]["kind"]) == ("R", "NaturalEnd")
    assert (first["result"]["results"], first["result"]["pruned"]) == ({}, True)
    assert "pruned" not in second["result"]
    assert [row["id"] for row in fermata("checkpoints", "alice", "--json").document] == ["S:1"]
    assert fermata("prune", *rule, "--apply").out == "nothing is old enough to go\n"


def test_a_pruned_checkpoint_says_that_it_was_pruned(
    fermata: Command, two_turns: WrittenThread
) -> None:
    fermata("prune", "--older-than", "0", "--keep", "0", "--apply")

    refusal = fermata("state", "alice", "--checkpoint", "R:6").refusal

    assert refusal.startswith("UnknownCheckpoint: checkpoint 'R:6' was pruned")
    refusal = fermata("fork", "alice", "--at", "R:6", "--to", "bob").refusal
    assert refusal.startswith("UnknownCheckpoint: checkpoint 'R:6' was pruned")


def test_by_default_what_is_young_or_among_the_newest_ten_stays(
    fermata: Command, two_turns: WrittenThread
) -> None:
    for few in ((), ("--older-than", "0"), ("--older-than", "36500d", "--keep", "0")):
        assert fermata("prune", "--apply", *few).out == "nothing is old enough to go\n"


def test_shrinking_makes_the_file_smaller(
    fermata: Command, log: CommitLog, log_url: str, alice: WrittenThread
) -> None:
    file = Path(log_url.removeprefix("sqlite:///"))
    alice.open()
    for number in range(30):
        alice.append("R", rows=(_large(number),))
    alice.end("R")
    alice.open_next_turn()
    alice.end("S")
    log.write_anew()
    before = file.stat().st_size

    rule = ("--older-than", "0", "--keep", "0")
    taken = fermata("prune", *rule, "--apply", "--shrink", "--json").document

    assert taken["shrunk"] is True
    assert file.stat().st_size < before - 30 * 30_000


def test_shrinking_says_that_a_server_uses_its_space_again_by_itself(
    fermata: Command, monkeypatch: pytest.MonkeyPatch, postgresql_url: str
) -> None:
    with CommitLog.open(postgresql_url) as log:
        WrittenThread(log).open()
    monkeypatch.setenv("FERMATA_LOG_URL", postgresql_url)

    said = fermata("prune", "--apply", "--shrink").out.splitlines()

    assert said[-1] == "nothing is written anew on a server, which uses the space again by itself"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--older-than", "soon"), "is not a duration"),
        (("--keep", "-1"), "greater than or equal to 0"),
        (("--shrink",), "only together with --apply"),
    ],
)
def test_a_rule_that_cannot_be_read_is_a_wrong_use(
    fermata: Command, alice: WrittenThread, arguments: tuple[str, ...], said: str
) -> None:
    alice.open()

    assert said in fermata("prune", *arguments).usage_error


def _large(number: int) -> RunRow:
    value = {"outputs": {"text": f"{number:02}" * 15_000}}
    return RunRow(kind="output", node_id="n", occurrence=number, value=value)


def _content(url: str) -> bytes:
    file = Path(url.removeprefix("sqlite:///"))
    return file.read_bytes() + file.with_name(f"{file.name}-wal").read_bytes()
