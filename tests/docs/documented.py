"""A stage that serves exactly what the reference shows, and the commands people type at it."""

import base64
import json
import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from child_process import StopRequest
from seeding.model import Json, JsonObject
from server import Ports, dev_server, free_port
from tests.docs.examples import PROJECT, Example, example
from worker import stage_worker, worker_environment

DRAFTING = '''
from activities import NodeCall, node

@node("drafting", branches=("again", "late"))
async def drafting(call: NodeCall) -> dict:
    """Draft twice; what is behind `late` is never reached."""
    again = ["again"] if call.occurrence == 0 else ["enough"]
    return {"text": f"draft {call.occurrence}", "active_branches": again}
'''
"""The node behind the example of a result: not a part of the reference itself."""

PATIENCE = 30.0
EXACTLY = "--output json --no-json-shorthand-payloads"


@dataclass(frozen=True)
class Documented:
    """A server and a worker, reached by the commands of the reference."""

    environment: dict[str, str]
    folder: Path

    def shell(self, text: str) -> subprocess.CompletedProcess[str]:
        """Type some lines; the first that fails ends them."""
        return subprocess.run(
            ["bash", "-euc", text],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def typed(self, shown: Example, thread: str, **filled_in: str) -> str:
        """Type an example for another thread than alice; it must succeed."""
        text = shown.text.replace("thread/alice", f"thread/{thread}")
        for name, value in filled_in.items():
            text = text.replace(f"<{name}>", value)
        done = self.shell(text)
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def fermata(self, words: str) -> Json:
        """Return the document of a reading verb."""
        done = self.shell(f"fermata {words} --json")
        assert (done.returncode, done.stderr) == (0, ""), words
        return json.loads(done.stdout)

    def start(self, thread: str, request: JsonObject) -> str:
        """Start a run as people do and return its id."""
        file = self.folder / f"{thread}.json"
        file.write_text(json.dumps(request), encoding="utf-8")
        done = self.shell(
            "temporal workflow start --type Run --task-queue fermata --fail-existing "
            f"--workflow-id thread/{thread} --input-file {file} --output json"
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["runId"]

    def query(self, thread: str, name: str) -> Json:
        """Return what the thread's newest run answers to a query."""
        done = self.shell(
            f"temporal workflow query --workflow-id thread/{thread} --type {name} {EXACTLY}"
        )
        assert done.returncode == 0, done.stderr
        return _decoded(json.loads(done.stdout)["queryResult"]["payloads"][0])

    def update(self, thread: str, name: str, payload: JsonObject) -> JsonObject:
        """Send an update and return its answer."""
        done = self.shell(
            f"temporal workflow update execute --workflow-id thread/{thread} --name {name} "
            f"--input '{json.dumps(payload)}' {EXACTLY}"
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["result"]

    def signal(self, thread: str, name: str, payload: JsonObject) -> None:
        """Send a signal."""
        done = self.shell(
            f"temporal workflow signal --workflow-id thread/{thread} --name {name} "
            f"--input '{json.dumps(payload)}'"
        )
        assert done.returncode == 0, done.stderr

    def result(self, thread: str) -> JsonObject:
        """Wait for the end of the thread's run and return its result."""
        done = self.shell(f"temporal workflow result --workflow-id thread/{thread} {EXACTLY}")
        assert done.returncode == 0, done.stdout
        return _decoded(json.loads(done.stdout)["result"])

    def until(self, thread: str, phase: str) -> JsonObject:
        """Wait until the thread's run is in a phase, and return its state."""
        state: JsonObject = {}
        for _ in range(100):
            state = self.query(thread, "state")
            if state["run"]["phase"] == phase:
                return state
            time.sleep(0.1)
        raise AssertionError(f"never {phase}: {state}")

    def calls(self, thread: str) -> list[JsonObject]:
        """Return the arguments of the run's node calls, in the order they were scheduled."""
        done = self.shell(f"temporal workflow show --workflow-id thread/{thread} --output json")
        scheduled = [
            event["activityTaskScheduledEventAttributes"]
            for event in json.loads(done.stdout)["events"]
            if "activityTaskScheduledEventAttributes" in event
        ]
        return [
            _decoded(one["input"]["payloads"][0])
            for one in scheduled
            if one["activityType"]["name"] == "run_node"
        ]


def _decoded(payload: JsonObject) -> Json:
    return json.loads(base64.b64decode(payload["data"]))


@contextmanager
def documented_stage(folder: Path) -> Generator[Documented]:
    """Serve the node and the graph that the reference shows."""
    node = example("docs/reference.md", "expense_policy").text
    graph = example("docs/reference.md", "expense-review").text
    (folder / "documented_nodes.py").write_text(node + DRAFTING, encoding="utf-8")
    (folder / "graphs").mkdir()
    (folder / "graphs" / "expense-review.yaml").write_text(graph, encoding="utf-8")
    stop = StopRequest()
    with dev_server(folder / "home", Ports(free_port(), None), stop) as server:
        environment = {
            **worker_environment(server, folder / "home"),
            "FERMATA_NODES": "documented_nodes",
            "FERMATA_GRAPHS": str(folder / "graphs"),
            "FERMATA_LOG_URL": f"sqlite:///{folder / 'home' / 'log.db'}",
            "FERMATA_TASK_QUEUE": "fermata",
            "PYTHONPATH": os.pathsep.join((str(folder), str(PROJECT))),
        }
        with stage_worker(server, environment, stop, on_line=lambda line: None):
            yield Documented(_with_commands(environment), folder)


def _with_commands(environment: dict[str, str]) -> dict[str, str]:
    commands = str(PROJECT / ".venv" / "bin")
    return {**environment, "PATH": os.pathsep.join((commands, environment["PATH"]))}
