"""A worker in a process of its own, to be killed; it can hang right after an append.

Run as ``python -m tests.engine.worker_process ADDRESS TASK_QUEUE LOG_URL [ORDINAL FILE]``: once
the commit with that ordinal is on disk, FILE is written and the log answers nobody any more.
"""

import asyncio
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from activities.log import CommitLog
from seeding.commits import BatchReceipt, CommitOperation
from tests.engine.stage import Stage


class HangingLog(CommitLog):
    """A log that never answers once a certain commit is on disk."""

    hang_after: int = -1
    told: Path | None = None

    async def append_async(
        self, operations: Sequence[CommitOperation], **options: Any
    ) -> BatchReceipt:
        """Append, and hang if the commit was among the operations."""
        receipt = await super().append_async(operations, **options)
        if self.told is not None and any(
            operation.ordinal == self.hang_after for operation in operations
        ):
            self.told.write_text("appended")
            threading.Event().wait()
        return receipt


async def main(address: str, task_queue: str, log_url: str, *fault: str) -> None:
    """Serve until killed."""
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    stage = Stage(client, log_url, task_queue=task_queue)
    stage.open(HangingLog)
    if fault:
        log = stage.log
        assert isinstance(log, HangingLog)
        log.hang_after, log.told = int(fault[0]), Path(fault[1])
    await stage.serve()
    print("serving", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
