"""Lists as people see them: ids stay whole on any terminal, branches are a tree."""

from collections.abc import Callable
from typing import Any

import pytest
from command_runner import Answer
from written_log import WrittenThread

from seeding.commits import Disposition, Opening, PositionHead

Command = Callable[..., Answer]

FIRST = "01234567-89ab-cdef-0123-456789abcdef"
SECOND = "fedcba98-7654-3210-fedc-ba9876543210"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the command see a terminal of this many columns."""

    def see(columns: int) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(columns))

    return see


@pytest.fixture
def two_runs(alice: WrittenThread) -> WrittenThread:
    alice.open(FIRST)
    alice.end(FIRST)
    alice.open(SECOND, epoch=2, source="thread")
    return alice


@pytest.mark.usefixtures("two_runs")
class TestRuns:
    def test_a_terminal_too_narrow_for_the_table_gets_one_value_a_line(
        self, fermata: Command, terminal: Callable[[int], None]
    ) -> None:
        terminal(120)

        assert fermata("runs", "alice").out.splitlines() == [
            "turn    1",
            f"run     {FIRST}",
            "phase   ended",
            "cause   NaturalEnd",
            "graph   expense-review@abababababababab",
            "from    fresh",
            "opened  2030-01-02T12:00:00.000Z",
            "ended   2030-01-02T12:00:01.000Z",
            "",
            "turn    2",
            f"run     {SECOND}",
            "phase   running",
            "graph   expense-review@abababababababab",
            "from    thread",
            "opened  2030-01-02T12:00:02.000Z",
        ]

    def test_a_wide_terminal_gets_the_table(
        self, fermata: Command, terminal: Callable[[int], None]
    ) -> None:
        terminal(200)

        lines = fermata("runs", "alice").out.splitlines()

        assert [FIRST in lines[1], SECOND in lines[2], len(lines)] == [True, True, 3]

    def test_what_is_no_terminal_gets_each_run_on_one_line(self, fermata: Command) -> None:
        lines = fermata("runs", "alice").out.splitlines()

        assert lines[1].split()[:4] == ["1", FIRST, "ended", "NaturalEnd"]
        assert lines[2].split()[:3] == ["2", SECOND, "running"]


def step(thread: WrittenThread, run: str, node: str) -> None:
    thread.append(run, position=PositionHead(), node_id=node, checkpoint="node")


def open_branch(thread: WrittenThread, run: str, epoch: int, branch: str, at: str) -> None:
    """Open a run on a branch of its own that stands on a checkpoint."""
    point = thread.log.checkpoint(at)
    assert point is not None
    how: dict[str, Any] = {
        "run_epoch": epoch,
        "chain_id": run,
        "graph_id": "expense-review",
        "graph_digest": "ab" * 32,
        "branch": branch,
        "lineage": thread.log.lineage(thread.thread_id, point.branch, point.version),
    }
    thread.append(run, Disposition(kind="Running"), opening=Opening(**how))


class TestCheckpoints:
    def test_each_branch_hangs_below_the_checkpoint_it_stands_on(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open("R")
        step(alice, "R", "draft")
        step(alice, "R", "check")
        alice.end("R")
        open_branch(alice, "S", 2, "b2", "R:1")
        step(alice, "S", "again")
        alice.end("S")
        open_branch(alice, "T", 3, "b3", "S:1")
        step(alice, "T", "once-more")
        alice.end("T")
        open_branch(alice, "U", 4, "b4", "R:1")
        step(alice, "U", "other")

        assert fermata("checkpoints", "alice").out.splitlines() == [
            "branch main",
            "├── R:1  node  draft  2030-01-02T12:00:01.000Z",
            "│   ├── branch b2",
            "│   │   ├── S:1  node  again  2030-01-02T12:00:05.000Z",
            "│   │   │   └── branch b3",
            "│   │   │       ├── T:1  node  once-more  2030-01-02T12:00:08.000Z",
            "│   │   │       └── T:2  workflow_end  2030-01-02T12:00:09.000Z",
            "│   │   └── S:2  workflow_end  2030-01-02T12:00:06.000Z",
            "│   └── branch b4",
            "│       └── U:1  node  other  2030-01-02T12:00:11.000Z",
            "├── R:2  node  check  2030-01-02T12:00:02.000Z",
            "└── R:3  workflow_end  2030-01-02T12:00:03.000Z",
        ]

    def test_a_branch_on_another_threads_checkpoint_names_it(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open("R")
        step(alice, "R", "draft")
        bob = WrittenThread(alice.log, "bob")
        point = alice.log.checkpoint("R:1")
        assert point is not None
        bob.open("B", opening=opening_on(alice, point.version))
        step(bob, "B", "draft")

        assert fermata("checkpoints", "bob").out.splitlines() == [
            "branch main on R:1",
            "└── B:1  node  draft  2030-01-02T12:00:03.000Z",
        ]

    def test_as_json_the_list_is_flat_and_names_parents(
        self, fermata: Command, alice: WrittenThread
    ) -> None:
        alice.open("R")
        step(alice, "R", "draft")
        alice.end("R")
        open_branch(alice, "S", 2, "b2", "R:1")
        step(alice, "S", "again")

        rows = fermata("checkpoints", "alice", "--json").document

        assert [(row["id"], row["parent"], row["branch"]) for row in rows] == [
            ("R:1", None, "main"),
            ("R:2", "R:1", "main"),
            ("S:1", "R:1", "b2"),
        ]

    def test_a_long_id_stays_on_one_line_of_a_narrow_terminal(
        self, fermata: Command, alice: WrittenThread, terminal: Callable[[int], None]
    ) -> None:
        alice.open(FIRST)
        step(alice, FIRST, "a-node-with-a-long-name" * 5)
        terminal(60)

        (line,) = fermata("checkpoints", "alice").out.splitlines()[1:]

        assert f"{FIRST}:1  node  a-node" in line


def opening_on(thread: WrittenThread, version: int) -> Opening:
    return Opening(
        run_epoch=1,
        chain_id="B",
        graph_id="expense-review",
        graph_digest="ab" * 32,
        lineage=thread.log.lineage(thread.thread_id, "main", version),
    )
