"""``fermata worker``: serves until it is told to stop, or says on one line why it cannot."""

import asyncio
import signal
from pathlib import Path

import pytest
from live_stage import SOON, WITHIN_LIMIT, Served


async def test_it_says_when_it_polls_and_stops_by_signal(unserved: Served, thread: str) -> None:
    process = await unserved.begin("worker")
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), SOON)
    await unserved.threads.start(thread, WITHIN_LIMIT)
    result = await unserved.threads.result(thread, within=SOON)
    process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(process.communicate(), SOON)

    assert line == b"worker ready\n"
    assert result["status"] == "completed"
    assert process.returncode == 0


async def test_it_says_that_it_made_a_log_and_the_next_one_has_nothing_to_say(
    unserved: Served,
) -> None:
    said: list[bytes] = []
    for _ in range(2):
        process = await unserved.begin("worker")
        assert process.stdout is not None
        await asyncio.wait_for(process.stdout.readline(), SOON)
        process.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(process.communicate(), SOON)
        said.append(err)

    assert said == [
        f"WARNING:client.worker:made a new, empty log at {unserved.configured.log_url}; runs that "
        "began on another log wait for that one\n".encode(),
        b"",
    ]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("FERMATA_LOG_URL", "log.db", "LogError: FERMATA_LOG_URL 'log.db' is no URL; "),
        ("FERMATA_LOG_URL", "sqlite+nothing:///x", "LogError: FERMATA_LOG_URL 'sqlite+nothing"),
        ("FERMATA_NODES", "nowhere", "InvalidSettings: FERMATA_NODES names module 'nowhere', "),
        ("FERMATA_NODES", "broken", "InvalidSettings: FERMATA_NODES names module 'broken', "),
        ("FERMATA_NODES", "raising", "InvalidSettings: FERMATA_NODES names module 'raising', "),
        ("FERMATA_NODES", "greedy", "InvalidGraph: node type 'greedy': max_retries "),
        ("FERMATA_GRAPHS", "nowhere", "InvalidSettings: FERMATA_GRAPHS: the folder of graph "),
        ("TEMPORAL_NAMESPACE", "nowhere", "InvalidSettings: the Temporal server has no namespace "),
        ("TEMPORAL_ADDRESS", "127.0.0.1:1", "ServerUnreachable: no Temporal server answers at "),
    ],
)
async def test_what_it_cannot_work_with_is_one_line(
    unserved: Served, tmp_path: Path, name: str, value: str, said: str
) -> None:
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "raising.py").write_text("raise RuntimeError('no licence')\n")
    (tmp_path / "greedy.py").write_text(
        "from activities import node\n\n@node('greedy', max_retries=-1)\n"
        "def greedy(call):\n    return {}\n"
    )
    environment = {**unserved.environment(), name: value}

    code, out, err = await unserved.command("worker", environment=environment, folder=tmp_path)

    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(said)
