"""The worker: serves runs until it is stopped."""

import asyncio
import importlib
import logging
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from activities.builtin_nodes.hosts import check_hosts
from activities.graph_folder import GraphFolder
from activities.log import CommitLog
from activities.nodes import REGISTRY
from activities.resources import Resources
from client.log_opening import log_at
from client.plugin import fermata_plugin
from client.search_attributes import ensure_search_attributes
from client.settings import Settings
from seeding.errors import FermataError, InvalidSettings, UnknownGraph

_LOGGER = logging.getLogger(__name__)

BUILTIN_NODES = "activities.builtin_nodes"
"""The module whose node types every worker serves."""

BUILD_ID = f"fermata-{version('fermata')}"
"""Says in history which release did a step; the SDK's own default is three times as long."""

STICKY_TIMEOUT = timedelta(seconds=2)
"""How long a run waits for the worker that knew it; a lost worker costs at most this."""


@asynccontextmanager
async def open_resources(configured: Settings) -> AsyncGenerator[Resources]:
    """Open what a worker needs and close it again.

    Raises:
        InvalidSettings: A module with node types cannot be imported, a folder of graph
            documents cannot be read, or an allowed host is none.
        InvalidGraph: Two functions are declared as one node type.
        LogError: The log cannot be opened.
    """
    load_nodes(configured.nodes)
    check_hosts(configured.http_hosts)
    graphs = _graphs(configured.graphs)
    with log_at(configured.log_url) as log:
        _tell(log)
        resources = Resources(
            log=log,
            graphs=graphs,
            registry=REGISTRY,
            continue_after=configured.continue_after,
            http_hosts=configured.http_hosts,
        )
        try:
            yield resources
        finally:
            resources.close()


def _tell(log: CommitLog) -> None:
    """Say in the worker's log what its operator may not expect of the commit log."""
    if log.is_new:
        _LOGGER.warning(
            "made a new, empty log at %s; runs that began on another log wait for that one",
            log.place,
        )
        return
    problem = log.write_problem()
    if problem is not None:
        _LOGGER.warning(
            "the log at %s takes no writes now (%s); runs wait until it does", log.place, problem
        )


def load_nodes(modules: tuple[str, ...]) -> None:
    """Import our own node types and the modules that declare more.

    The working folder is searched last.

    Raises:
        InvalidSettings: One of them cannot be imported.
        InvalidGraph: One of them declares a node type that cannot be.
    """
    here = str(Path.cwd())
    if modules and here not in sys.path:
        sys.path.append(here)
    for name in (BUILTIN_NODES, *modules):
        try:
            importlib.import_module(name)
        except FermataError:
            raise
        except Exception as error:  # A module may raise anything while it is imported.
            said = str(error) or type(error).__name__
            raise InvalidSettings(
                f"FERMATA_NODES names module {name!r}, which cannot be imported: {said}"
            ) from error


def _graphs(folders: tuple[Path, ...]) -> GraphFolder:
    try:
        return GraphFolder(folders)
    except UnknownGraph as error:
        raise InvalidSettings(f"FERMATA_GRAPHS: {error.message}") from error


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
        resources = replace(resources, search_attributes=await ensure_search_attributes(client))
        worker = build_worker(client, resources, configured.task_queue)
        async with worker:
            ready()
            await stop.wait()
