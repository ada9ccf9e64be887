"""Many generated graphs beside an interpreter that knows only the rules: pure ones, and live ones.

``make soak ARGS='-k generated_graphs --graphs 1000 --first-seed 0 --live-graphs 1000'``; without
``--live-graphs`` there are as many of them. A case that differed is named with the command that
makes it again.
"""

import time

import pytest
from temporalio.client import Client

from tests.engine.model_runs import agree_on_all
from tests.engine.stage import staged
from tests.model.graph_generator import Case, generate
from tests.model.graph_interpreter import Interpreter
from tests.model.graph_population import population
from tests.scheduler.model_runs import agree, drawn, restart


def test_generated_graphs_on_the_scheduler(
    pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    first, count = _asked(pytestconfig)
    agreed: list[Interpreter] = []
    differences: list[str] = []
    started = time.monotonic()
    for seed in range(first, first + count):
        try:
            agreed.append(_agree_in_every_way(generate(seed)))
        except AssertionError as error:
            differences.append(_again(str(error), seed, live=False))
    with capsys.disabled():
        _report("pure", agreed, differences, time.monotonic() - started)
    assert differences == []


async def test_generated_graphs_on_a_server(
    client: Client, log_url: str, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    first, count = _asked(pytestconfig)
    live = pytestconfig.getoption("--live-graphs")
    count = count if live is None else int(str(live))
    together = int(str(pytestconfig.getoption("--together")))
    started = time.monotonic()
    agreed: list[Interpreter] = []
    found: dict[int, str] = {}
    for hundred in range(first, first + count, 100):
        cases = (generate(seed) for seed in range(hundred, min(hundred + 100, first + count)))
        # Every second hundred continues as new again and again.
        events = 1000 if hundred // 100 % 2 else 30
        async with staged(client, log_url, continue_after=events) as stage:
            some, differ = await agree_on_all(stage, cases, together=together)
        agreed += some
        found |= differ
    differences = [_again(text, seed, live=True) for seed, text in sorted(found.items())]
    with capsys.disabled():
        _report("live", agreed, differences, time.monotonic() - started)
    assert differences == []


def _agree_in_every_way(case: Case) -> Interpreter:
    """Return the interpreter of a case on which every way of running it agreed."""
    one = agree(case)
    restored, other = agree(case, after_each=restart), agree(case.shuffled())
    assert restored.run.entries == one.run.entries, f"seed {case.seed}, restored"
    assert other.interpreter.trace == one.interpreter.trace, f"seed {case.seed}, shuffled"
    agree(case, drawn(case.seed))
    agree(case, drawn(case.seed + 1))
    return one.interpreter


def _asked(config: pytest.Config) -> tuple[int, int]:
    first, count = (int(str(config.getoption(name))) for name in ("--first-seed", "--graphs"))
    return first, count


def _again(difference: str, seed: int, *, live: bool) -> str:
    graphs = "--graphs 0 --live-graphs 1" if live else "--graphs 1 --live-graphs 0"
    command = f"make soak ARGS='-k generated_graphs {graphs} --first-seed {seed}'"
    return f"{difference}\n  again: {command}"


def _report(kind: str, agreed: list[Interpreter], differences: list[str], seconds: float) -> None:
    found = population(agreed)
    executions = found.pop("executions", 0)
    mean = executions / len(agreed) if agreed else 0
    print(
        f"\n{len(agreed) + len(differences)} {kind} graphs in {seconds:.0f} s, "
        f"{len(differences)} of them differ; {mean:.1f} executions each"
    )
    print("  " + ", ".join(f"{name}: {count}" for name, count in sorted(found.items())))
    print(*differences, sep="\n")
