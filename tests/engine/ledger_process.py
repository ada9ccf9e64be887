"""A worker in a process of its own, to be killed: it hangs once an outcome is in the ledger.

Run as ``python -m tests.engine.ledger_process ADDRESS TASK_QUEUE LOG_URL FILE``: when the first
effect has its outcome on disk, FILE is written and the process does nothing any more.
"""

import asyncio
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

import tests.engine.ledger_nodes as ledger_nodes
import workflows.effects
from activities.log import CommitLog
from tests.engine.stage import Stage

assert ledger_nodes.__name__  # Imported for the node types it declares.


class HangingLedger(CommitLog):
    """A log that hangs the process once an effect has finished."""

    told = Path()

    async def finish_effect_async(self, *given: Any, **named: Any) -> bool:
        """Finish the effect, and hang."""
        await super().finish_effect_async(*given, **named)
        self.told.write_text("finished")
        threading.Event().wait()
        return True


async def main(address: str, task_queue: str, log_url: str, told: str) -> None:
    """Serve until killed."""
    # The loss of this worker is to be noticed soon.
    workflows.effects.HEARTBEAT = timedelta(seconds=2)
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    stage = Stage(client, log_url, task_queue=task_queue)
    stage.open(HangingLedger)
    log = stage.log
    assert isinstance(log, HangingLedger)
    log.told = Path(told)
    await stage.serve()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
