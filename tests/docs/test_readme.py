"""README, typed as it stands by somebody who has nothing else."""

import json
import re
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.docs.examples import example
from tests.docs.newcomer import Newcomer, clone

pytestmark = pytest.mark.xdist_group("docs")


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    return clone(tmp_path)


@pytest.fixture
def at_home(newcomer: Newcomer) -> Generator[Newcomer]:
    """A newcomer whose `make dev` runs in another terminal."""
    with newcomer.running(example("README.md", "dev").text, "ready") as said:
        second_terminal(newcomer, said)
        yield newcomer


def second_terminal(newcomer: Newcomer, said: list[str]) -> None:
    """Do in a second terminal what README asks for, with the line `make dev` printed."""
    [line] = [line for line in said if line.startswith("for other terminals: ")]
    told = newcomer.shell(
        f"{line.removeprefix('for other terminals: ')}\n{example('README.md', 'path').text}\n"
        'echo "$TEMPORAL_ADDRESS"; echo "$FERMATA_HOME"; echo "$PATH"'
    )
    names = ("TEMPORAL_ADDRESS", "FERMATA_HOME", "PATH")
    newcomer.environment |= dict(zip(names, told.stdout.splitlines(), strict=True))


def test_make_demo_holds_every_expectation(newcomer: Newcomer) -> None:
    said = newcomer.run(example("README.md", "demo"))

    assert said.splitlines()[-1] == "demo: every expectation holds"


def test_from_a_clone_to_an_answered_approval_and_the_next_turn(at_home: Newcomer) -> None:
    started = at_home.run(example("README.md", "start"))
    answered = at_home.run(example("README.md", "answer"))
    at_home.run(example("README.md", "temporal-start"))
    ticket = waits_for(at_home, "bob")
    shown = at_home.run(example("README.md", "temporal-query"))
    at_home.run(example("README.md", "temporal-answer"), ticket=ticket)
    endings = [ending(at_home, "alice"), ending(at_home, "bob")]
    at_home.run(example("README.md", "cancel"))
    cancelled = ending(at_home, "alice")
    queued = at_home.run(example("README.md", "queue"))
    turns = turns_of(at_home, "alice", 4)

    assert "Over the limit. Pay 150?" in started
    assert re.search(r"fermata resume alice --ticket \S+:gate:0:0 --decision approve", started)
    assert "the answer is taken" in answered
    assert "please check these" in answered
    assert ticket in shown
    assert endings == ["completed", "completed"]
    assert cancelled == "cancelled"
    assert "queued as turn 1 of thread alice; it starts when run " in queued
    assert "1 queued, 0 remembered" in queued
    assert turns == ["completed", "cancelled", "completed", "completed"]
    assert "please check these" in at_home.shell("fermata messages alice").stdout


def test_temporal_finds_everything_that_waits(at_home: Newcomer) -> None:
    at_home.run(example("README.md", "start"))

    assert "thread/alice" in at_home.run(example("docs/running.md", "waiting-runs"))


def test_a_node_of_ones_own_asks_and_goes_on(newcomer: Newcomer) -> None:
    newcomer.write(example("README.md", "my_nodes.py"))
    newcomer.write(example("README.md", "my_graphs/shopping.yaml"))
    with newcomer.running(example("README.md", "dev-with-my-nodes").text, "ready") as said:
        second_terminal(newcomer, said)
        newcomer.run(example("README.md", "shopping"))
        newcomer.shell("temporal workflow result --workflow-id thread/shop")
        messages = newcomer.shell("fermata messages shop").stdout

    assert messages == "assistant: Prices: [4,7]\n"


def test_make_worker_serves_a_server_that_runs_already(at_home: Newcomer) -> None:
    line = example("docs/running.md", "worker").text
    assert "TEMPORAL_ADDRESS=127.0.0.1:7233 " in line
    own = line.replace("127.0.0.1:7233", at_home.environment["TEMPORAL_ADDRESS"])
    at_home.write(example("README.md", "my_nodes.py"))
    at_home.write(example("README.md", "my_graphs/shopping.yaml"))
    # A queue and a log of its own: the worker of `make dev` serves the usual ones.
    at_home.environment |= {"FERMATA_TASK_QUEUE": "apart", "FERMATA_HOME": "apart"}

    with at_home.running(own, "worker ready"):
        at_home.shell("fermata start shop shopping --input 'articles.value=\"tea\"' --watch")
        said = at_home.shell("fermata messages shop").stdout

    assert said == "assistant: Prices: [4]\n"


def waits_for(newcomer: Newcomer, thread: str) -> str:
    """Wait until the thread's run waits, and return its ticket."""
    for _ in range(50):
        told = newcomer.shell(f"sleep 0.2; fermata tickets {thread} --json")
        if told.returncode == 0 and json.loads(told.stdout):
            return json.loads(told.stdout)[0]["ticket"]
    raise AssertionError(f"thread {thread} never waits")


def ending(newcomer: Newcomer, thread: str) -> str | None:
    """Return the status the thread's last run ended with, once its workflow is closed."""
    newcomer.shell(f"temporal workflow result --workflow-id thread/{thread}")
    return json.loads(newcomer.shell(f"fermata state {thread} --json").stdout)["status"]


def turns_of(newcomer: Newcomer, thread: str, count: int) -> list[str]:
    """Return the statuses of a thread's runs once so many have ended."""
    ended: list[str] = []
    for _ in range(50):
        rows = json.loads(newcomer.shell(f"sleep 0.2; fermata runs {thread} --json").stdout)
        ended = [row["result"]["status"] for row in rows if row["phase"] == "ended"]
        if len(ended) == count:
            return ended
    raise AssertionError(f"thread {thread} came to {ended}")
