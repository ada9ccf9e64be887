"""Replays stored histories and answers a query from each, under the hash seed it was started with.

Run as ``python -m tests.engine.replay_process FILE...``; prints one JSON line per history.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    Replayer,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from client.plugin import sandboxed
from workflows.run import Run
from workflows.turn_queue import TurnQueue
from workflows.wire import TURN_QUEUE

SEEN: list[Any] = []


class Watching(WorkflowInboundInterceptor):
    """Notes what a replayed run shows of itself once its replay has reached the end."""

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        """Run, then note the state and the progress."""
        try:
            return await super().execute_workflow(input)
        finally:
            run: Any = workflow.instance()
            if isinstance(run, TurnQueue):
                SEEN.append({"queue": workflow.info().workflow_id})
            else:
                SEEN.append({"state": run.query_state(), "progress": run.query_progress()})


class Watch(Interceptor):
    """Puts ``Watching`` around every run."""

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor] | None:
        """Return the watching interceptor."""
        return Watching


async def main(paths: list[str]) -> None:
    """Replay each history; a non-determinism fails the process."""
    replayer = Replayer(
        workflows=[Run, TurnQueue],
        workflow_runner=sandboxed(None),
        data_converter=pydantic_data_converter,
        interceptors=[Watch()],
    )
    for path in paths:
        text = Path(path).read_text()
        kind = "queue" if f'"name": "{TURN_QUEUE}"' in text else "thread"
        history = WorkflowHistory.from_json(f"{kind}/replayed", text)
        await replayer.replay_workflow(history)
        print(json.dumps(SEEN.pop(), sort_keys=True))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
    sys.stdout.flush()
    # The SDK's threads may abort the interpreter while it is being taken down.
    os._exit(0)
