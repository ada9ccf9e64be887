"""A worker in a process of its own that hangs at one point, to be killed by its process id.

Run as ``python -m tests.engine.crash_process ADDRESS TASK_QUEUE LOG_URL POINT NTH``: it writes
``reached POINT`` once it hangs (see :mod:`tests.engine.crash_points`). The times after which a
server gives up a worker are short here, so that a killed one is missed at once.
"""

import asyncio
import sys
from datetime import timedelta
from types import ModuleType

from temporalio.client import Client

from activities import run_node
from client.failures import DATA_CONVERTER
from tests.engine import paying_nodes
from tests.engine.crash_points import POINTS, CrashInterceptor
from tests.engine.stage import Stage
from workflows import beginning, commit_path, effects, queueing, run, turn_queue

HEARTBEAT = timedelta(seconds=1.5)
HEARTBEAT_SECONDS = 0.2
ATTEMPT = timedelta(seconds=1.5)
DRAIN = timedelta(seconds=6)

SHORTENED: list[tuple[ModuleType, str, object]] = [
    (effects, "HEARTBEAT", HEARTBEAT),
    (run_node, "HEARTBEAT_SECONDS", HEARTBEAT_SECONDS),
    (commit_path, "_NORMAL_TIME", ATTEMPT),
    (beginning, "_SEED_TIME", ATTEMPT),
    (run, "_REQUEST_TIME", ATTEMPT),
    (queueing, "_QUEUE_TIME", ATTEMPT),
    (queueing, "_WAKE_TIME", ATTEMPT),
    (turn_queue, "_DRAIN_TIME", DRAIN),
]
"""What a worker process waits for less long: module, name and value."""


async def main(address: str, task_queue: str, log_url: str, point: str, nth: str) -> None:
    """Serve until killed."""
    assert paying_nodes.__name__  # Imported for the node types it declares.
    for module, name, value in SHORTENED:
        assert hasattr(module, name)
        setattr(module, name, value)
    POINTS.wanted, POINTS.nth = point, int(nth)
    client = await Client.connect(address, data_converter=DATA_CONVERTER)
    stage = Stage(client, log_url, task_queue=task_queue, interceptors=[CrashInterceptor()])
    await stage.serve()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
