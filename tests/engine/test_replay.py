"""Replay: no history, under no hash seed, leads anywhere but where it led."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from temporalio.client import Client

from tests.engine.stage import Handle, Stage, until

ROOT = Path(__file__).resolve().parents[2]
HISTORIES = ROOT / "tests" / "histories"

PARALLEL: dict[str, Any] = {
    "id": "parallel",
    "nodes": [
        {"id": "start", "type": "no_op"},
        *({"id": name, "type": "noop"} for name in ("delta", "alpha", "gamma", "beta")),
        {"id": "gate", "type": "gate", "config": {"kind": "approval", "message": "{delta}?"}},
        {"id": "join", "type": "noop"},
    ],
    "edges": [
        *(f"start.value -> {name}.{name}" for name in ("gamma", "alpha", "delta", "beta")),
        *(f"{name}.value -> gate.{name}" for name in ("beta", "delta", "alpha", "gamma")),
        "gate.approve -> join.everything",
    ],
}


def replayed(seed: int, *paths: Path) -> list[Any]:
    """What stored histories show at their end, replayed under a hash seed."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.replay_process", *map(str, paths)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


async def recorded_run(stage: Stage, client: Client, thread: str) -> Handle:
    handle = await stage.start(thread, graph=PARALLEL, message="hello", data={"b": 1, "a": 2})
    state = await until(handle, "awaiting")
    await handle.signal("resmue", {})
    ticket = state["run"]["waitingFor"][0]["ticket"]
    await handle.signal("resume", {"ticket": ticket, "decision": "approve"})
    await handle.result()
    return handle


async def test_a_run_with_parallel_nodes_and_local_commits_replays_the_same_under_any_hash_seed(
    stage: Stage, client: Client, tmp_path: Path
) -> None:
    handle = await recorded_run(stage, client, "replayed")
    path = tmp_path / "history.json"
    path.write_text((await handle.fetch_history()).to_json())
    shown = [replayed(seed, path) for seed in (0, 1, 77)]
    assert shown[0] == shown[1] == shown[2]
    state = shown[0][0]["state"]
    assert state == {**await handle.query("state"), "threadId": "replayed"}
    assert shown[0][0]["progress"]["join"] == {"status": "completed", "executions": 1}


def test_the_histories_of_every_release_replay_under_any_hash_seed() -> None:
    paths = sorted(HISTORIES.glob("*.json"))
    assert paths, "there is at least one stored history"
    shown = [replayed(seed, *paths) for seed in (0, 1, 77)]
    assert shown[0] == shown[1] == shown[2]
    runs = [item for item in shown[0] if "queue" not in item]
    assert all(item["state"]["run"]["phase"] == "ended" for item in runs)
    assert len(shown[0]) - len(runs) == 1
