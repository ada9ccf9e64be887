"""The worker: serves runs until it is stopped."""

import asyncio
import importlib
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from importlib.metadata import version

from temporalio.client import Client
from temporalio.worker import Worker

from activities.graph_folder import GraphFolder
from activities.log import CommitLog
from activities.nodes import REGISTRY
from activities.resources import Resources
from client.plugin import fermata_plugin
from client.settings import Settings
from seeding.errors import InvalidGraph

BUILD_ID = f"fermata-{version('fermata')}"
"""Says in history which release did a step; the SDK's own default is three times as long."""

STICKY_TIMEOUT = timedelta(seconds=2)
"""How long a run waits for the worker that knew it; a lost worker costs at most this."""


@asynccontextmanager
async def open_resources(configured: Settings) -> AsyncGenerator[Resources]:
    """Open what a worker needs and close it again.

    Raises:
        InvalidGraph: A module with node types cannot be imported.
        LogError: The log cannot be opened.
    """
    load_nodes(configured.nodes)
    graphs = GraphFolder(configured.graphs)
    with CommitLog.open(configured.log_url) as log:
        resources = Resources(
            log=log,
            graphs=graphs,
            registry=REGISTRY,
            continue_after=configured.continue_after,
        )
        try:
            yield resources
        finally:
            resources.close()


def load_nodes(modules: tuple[str, ...]) -> None:
    """Import the modules that declare node types.

    Raises:
        InvalidGraph: One of them cannot be imported.
    """
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise InvalidGraph(
                f"FERMATA_NODES names module {name!r}, which cannot be imported: {error}"
            ) from error


def build_worker(client: Client, resources: Resources, task_queue: str) -> Worker:
    """Return a worker that serves runs on ``task_queue``."""
    return Worker(
        client,
        task_queue=task_queue,
        plugins=[fermata_plugin(resources)],
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        graceful_shutdown_timeout=timedelta(seconds=2),
        build_id=BUILD_ID,
    )


async def serve(client: Client, configured: Settings, ready: Callable[[], None]) -> None:
    """Serve runs until SIGINT or SIGTERM; call ``ready`` once the worker polls."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with open_resources(configured) as resources:
        worker = build_worker(client, resources, configured.task_queue)
        async with worker:
            ready()
            await stop.wait()
