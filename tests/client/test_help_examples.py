"""Every example that a help names works as it is printed."""

import asyncio
import os
import re
import shlex
import signal
import sys
from pathlib import Path

import pytest
from command_runner import run
from live_stage import ROOT, SOON, Served, in_phase

from activities.log import CommitLog
from seeding.model import JsonObject

VERBS = (
    (),
    *((verb,) for verb in ("start", "watch", "send", "resume", "pause", "cancel", "tickets")),
    *((verb,) for verb in ("state", "messages", "threads", "runs", "checkpoints", "provenance")),
    *(("prune",), ("delete",), ("verify",), ("rebuild",), ("events",)),
    *(("fork",), ("reconcile",), ("queue",)),
    *(("effects",), ("worker",), ("graph",), ("graph", "check"), ("graph", "show")),
)
WORKER = "FERMATA_NODES=my_nodes FERMATA_GRAPHS=my_graphs fermata worker"

# One story in the order a person would type it. A line in brackets waits for the run to come to
# that phase, as a person would see it.
STORY = (
    "fermata graph check temporal-dev/graphs/expense-review.yaml",
    "fermata graph show temporal-dev/graphs/expense-review.yaml",
    "fermata start alice expense-review --input 'items.value=[50, 150]'",
    "fermata watch alice",
    "fermata watch alice --timeout 60 --json",
    "fermata tickets",
    "fermata tickets alice --json",
    "fermata pause alice --reason 'checking the numbers'",
    "[alice paused]",
    "fermata resume alice  # lifts a pause",
    "[alice awaiting]",
    "fermata resume alice --decision approve --actor carol",
    "[alice ended]",
    "fermata state alice",
    "fermata state alice --full --json",
    "fermata messages alice",
    "fermata threads",
    "fermata checkpoints alice",
    "fermata provenance alice",
    "fermata effects alice",
    "fermata events alice",
    "fermata events alice --after 5 --limit 100 --json",
    "fermata start alice expense-review --input 'items.value=[50, 150]'",
    "[alice awaiting]",
    "fermata resume alice --decision approve",
    "[alice ended]",
    "fermata start alice expense-review --input 'items.value=[50, 150]'",
    "[alice awaiting]",
    "fermata send alice 'and this when you are done' --on-busy queue",
    "fermata queue alice",
    "fermata queue alice --withdraw 1",
    "fermata cancel alice --reason 'not needed any more'",
    "fermata runs alice",
    "fermata runs alice --json",
    "fermata start bob fruit-loop --message 'what is in the basket?' --watch",
    "fermata send bob 'and once more, please' --watch",
    "fermata start carol temporal-dev/graphs/expense-review.yaml "
    "--input 'items.value=[50]' --config '{\"maxIterations\": 100}'",
    "[carol ended]",
    "fermata prune",
    "fermata prune alice --older-than 7d --keep 3",
    "fermata verify alice",
    "fermata prune --apply --shrink",
    "fermata verify",
    "fermata rebuild",
    "fermata rebuild alice",
    "fermata fork alice --at workflow_end --to alice-again",
    "fermata reconcile",
    "fermata reconcile alice --repair",
    "fermata delete carol --yes",
)


def examples_of(verb: tuple[str, ...]) -> list[str]:
    """Return the lines under ``Examples:`` of a help."""
    answer = run(*verb, "--help")
    assert (answer.code, answer.err) == (0, "")
    _, found, below = answer.out.partition("\n  Examples:\n")
    assert found, f"the help of {' '.join(verb) or 'fermata'} names no example"
    return [line.strip() for line in below.splitlines() if line.strip()]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_help_names_an_example_that_the_story_plays(verb: tuple[str, ...]) -> None:
    for line in examples_of(verb):
        assert line in (*STORY, WORKER)
        assert verb == () or f"fermata {' '.join(verb)}" in line


def test_every_verb_has_such_a_help() -> None:
    listed = re.findall(r"^  (\w+)  ", run("--help").out.partition("Commands:\n")[2], re.MULTILINE)

    assert sorted(listed) == sorted({verb[0] for verb in VERBS if verb})


async def test_the_examples_play_one_after_the_other(
    here: Served, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    for line in STORY:
        # The server is shared with other tests, so every person gets a thread of this test.
        typed = re.sub(r"\b(alice|bob|carol)\b", rf"\1-{thread}", line)
        if typed.startswith("["):
            name, phase = typed.strip("[]").split()
            await in_phase(here.threads, name, phase)
            continue
        program, *arguments = shlex.split(typed, comments=True)
        answer = await here.answer(*arguments)

        assert (program, answer.code) == ("fermata", 0), (line, answer)
        assert answer.out.strip(), line
    assert _statuses(here, f"alice-{thread}") == ["completed", "completed", "cancelled"]
    assert _statuses(here, f"bob-{thread}") == ["completed", "completed"]


def _statuses(here: Served, thread: str) -> list[str | None]:
    with CommitLog.open(here.configured.log_url) as log:
        return [_status(run.result) for run in log.runs(thread)]


def _status(result: JsonObject | None) -> str | None:
    return None if result is None else result["status"]


async def test_the_example_of_the_worker_finds_modules_in_the_folder_it_is_typed_in(
    unserved: Served, tmp_path: Path
) -> None:
    (tmp_path / "my_nodes.py").write_text("import sample_nodes\n")
    (tmp_path / "my_graphs").mkdir()
    beside_python = str(Path(sys.executable).parent)
    search = os.pathsep.join((beside_python, os.environ["PATH"]))
    (line,) = examples_of(("worker",))

    # `exec`: a signal then reaches the command itself, not the shell.
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", line.replace("fermata worker", "exec fermata worker")),
        env={**unserved.environment(), "PATH": search},
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    said = await asyncio.wait_for(process.stdout.readline(), SOON)
    process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(process.communicate(), SOON)

    assert (said, process.returncode) == (b"worker ready\n", 0)
