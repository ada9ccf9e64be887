"""What the tests against a real server share: a queue, its worker, the command on both."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from command_runner import Answer, run
from temporalio.client import Client

from client.settings import Settings
from client.threads import Threads
from seeding.errors import FermataError
from seeding.model import JsonObject

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "temporal-dev"
REVIEW: JsonObject = {
    "graph": "expense-review",
    "message": "please check these",
    "input": {"items": {"value": [50, 150]}},
}
WITHIN_LIMIT: JsonObject = {"graph": "expense-review", "input": {"items": {"value": [50]}}}
FAILING: JsonObject = {
    "graph": {"id": "failing", "nodes": [{"id": "check", "type": "expense_policy"}], "edges": []}
}
SOON = 60.0


@dataclass(frozen=True)
class Served:
    """A worker on a queue of its own, and how to reach it."""

    threads: Threads
    client: Client
    configured: Settings

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if "TEMPORAL" not in name}
        return {
            **kept,
            "TEMPORAL_ADDRESS": self.client.service_client.config.target_host,
            "TEMPORAL_NAMESPACE": self.client.namespace,
            "TEMPORAL_CONFIG_FILE": os.devnull,
            "FERMATA_LOG_URL": self.configured.log_url,
            "FERMATA_TASK_QUEUE": self.configured.task_queue,
            "FERMATA_NODES": "sample_nodes",
            "FERMATA_GRAPHS": str(STAGE / "graphs"),
            "PYTHONPATH": os.pathsep.join((str(STAGE), str(ROOT))),
        }

    async def begin(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "client.command", *arguments),
            env=environment or self.environment(),
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def command(
        self, *arguments: str, environment: Mapping[str, str], folder: Path
    ) -> tuple[int, str, str]:
        process = await self.begin(*arguments, environment=environment, folder=folder)
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    async def answer(self, *arguments: str) -> Answer:
        """Run the command in this process, whose environment has to be this stage's."""
        return await asyncio.to_thread(run, *arguments)


async def in_phase(threads: Threads, thread: str, phase: str) -> JsonObject:
    for _ in range(200):
        run = (await threads.state(thread))["run"]
        if run["phase"] == phase:
            return run
        await asyncio.sleep(0.02)
    raise FermataError(f"thread {thread} never came to phase {phase}")
