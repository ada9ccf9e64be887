"""What a person types at a thread: the ``temporal`` command to act, ``fermata`` to read."""

import base64
import json
import shlex
import sys
import time
from collections.abc import Mapping, Sequence

from child_process import StopRequest, run_command, say
from seeding.errors import ClientError
from seeding.model import Json, JsonObject
from settings import temporal_binary

PATIENCE = 60.0
"""Seconds a command, or a run on its way to a gate, may take."""

EXACTLY = ("--output", "json", "--no-json-shorthand-payloads")
"""Shows values as they are; left to itself the command shows an empty list as null."""


class ThreadCommands:
    """The commands for one thread; each is printed as it would be typed.

    Args:
        thread_id: The thread.
        environment: Which server and which log the commands use.
        stop: A request to stop ends the command that is running.
    """

    def __init__(self, thread_id: str, environment: Mapping[str, str], stop: StopRequest) -> None:
        self.thread_id = thread_id
        self.workflow_id = f"thread/{thread_id}"
        self._environment = environment
        self._stop = stop

    def start(self, request: JsonObject) -> str:
        """Start a run on the thread and return its run id."""
        started = self._temporal(
            *("workflow", "start", "--type", "Run", "--task-queue", "fermata"),
            *("--workflow-id", self.workflow_id, "--fail-existing"),
            *("--input", json.dumps(request)),
        )
        return str(started["runId"])

    def signal(self, name: str, payload: JsonObject) -> None:
        """Send a signal to the thread's run."""
        self._temporal(
            *("workflow", "signal", "--workflow-id", self.workflow_id),
            *("--name", name, "--input", json.dumps(payload)),
        )

    def cancel(self) -> None:
        """Ask Temporal to cancel the thread's run."""
        self._temporal("workflow", "cancel", "--workflow-id", self.workflow_id)

    def outcome(self) -> JsonObject:
        """Wait for the end of the thread's run; return ``status`` and, if it has one, ``result``.

        The status is Temporal's: COMPLETED, CANCELED, FAILED.
        """
        shown = self._temporal("workflow", "result", "--workflow-id", self.workflow_id, fails=True)
        return {**shown, "result": _decoded(shown["result"])} if "result" in shown else shown

    def query(self, name: str) -> JsonObject:
        """Return what the thread's newest run answers to a query."""
        answer = self._temporal(
            *("workflow", "query", "--workflow-id", self.workflow_id, "--type", name), quiet=True
        )
        return _decoded(answer["queryResult"]["payloads"][0])

    def wait_for_ticket(self) -> JsonObject:
        """Wait until the run waits for somebody; return the one open ticket.

        Raises:
            ClientError: It ended instead, or did neither in time.
        """
        say(f"  $ temporal workflow query --workflow-id {self.workflow_id} --type state")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            run: JsonObject = self.query("state")["run"]
            if run["phase"] == "awaiting":
                return run["waitingFor"][0]
            if run["phase"] in ("ended", "refused"):
                raise ClientError(f"the run on thread {self.thread_id} is over, not waiting: {run}")
            self._stop.sleep(0.1)
        raise ClientError(f"the run on thread {self.thread_id} neither waits nor ends")

    def state(self) -> JsonObject:
        """Return the thread's latest state from the commit log."""
        return self._read("state")

    def _read(self, verb: str) -> JsonObject:
        say(f"  $ fermata {verb} {self.thread_id} --json")
        command = [sys.executable, "-m", "client.command", verb, self.thread_id, "--json"]
        return self._run(command, shown=f"fermata {verb}", fails=False)

    def _temporal(self, *arguments: str, quiet: bool = False, fails: bool = False) -> JsonObject:
        if not quiet:
            say(f"  $ temporal {shlex.join(arguments)}")
        command = [str(temporal_binary()), *arguments, *EXACTLY]
        return self._run(command, shown=f"temporal {arguments[0]} {arguments[1]}", fails=fails)

    def _run(self, command: Sequence[str], *, shown: str, fails: bool) -> JsonObject:
        answer = run_command(
            command, environment=self._environment, stop=self._stop, timeout=PATIENCE
        )
        if answer.returncode != 0 and not (fails and answer.stdout.strip()):
            raise ClientError(
                f"'{shown}' on thread {self.thread_id} exited with {answer.returncode}: "
                f"{answer.stderr.strip()}"
            )
        return json.loads(answer.stdout) if answer.stdout.strip() else {}


def _decoded(payload: JsonObject) -> JsonObject:
    return json.loads(base64.b64decode(payload["data"]))


def compact(value: Json) -> str:
    """Return ``value`` as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)
