"""A stage for one test: a worker on a task queue of its own, a log of its own, real servers."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
)
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import Interceptor, Worker

from activities.graph_folder import GraphFolder
from activities.log import CommitLog
from activities.nodes import REGISTRY
from activities.resources import Resources
from client.plugin import fermata_plugin
from client.worker import BUILD_ID, load_nodes
from workflows.search_attributes import SEARCH_ATTRIBUTES

GRAPHS = Path(__file__).resolve().parents[2] / "temporal-dev" / "graphs"
Handle = WorkflowHandle[Any, Any]


@dataclass
class Stage:
    """Starts runs and reads what became of them."""

    client: Client
    log_url: str
    continue_after: int = 1000
    cached: int = 1000
    task_queue: str = field(default_factory=lambda: f"q-{uuid.uuid4().hex[:6]}")
    resources: Resources | None = None
    interceptors: Sequence[Interceptor] = ()
    _worker: Worker | None = None
    _serving: "asyncio.Task[None] | None" = None

    @property
    def log(self) -> CommitLog:
        """The commit log the worker writes to."""
        assert self.resources is not None
        return self.resources.log

    def open(self, kind: type[CommitLog] = CommitLog) -> None:
        """Open the log and load the node types."""
        load_nodes(("sample_nodes", "tests.engine.nodes"))
        self.resources = Resources(
            log=kind.open(self.log_url),
            graphs=GraphFolder([GRAPHS]),
            registry=REGISTRY,
            continue_after=self.continue_after,
            search_attributes=tuple(SEARCH_ATTRIBUTES),
        )

    async def serve(self) -> None:
        """Start a worker."""
        if self.resources is None:
            self.open()
        assert self.resources is not None
        self._worker = Worker(
            self.client,
            task_queue=self.task_queue,
            plugins=[fermata_plugin(self.resources)],
            interceptors=self.interceptors,
            max_cached_workflows=self.cached,
            max_concurrent_workflow_tasks=50 if self.cached else 1,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
            graceful_shutdown_timeout=timedelta(seconds=1),
            max_heartbeat_throttle_interval=timedelta(seconds=0.2),
            build_id=BUILD_ID,
        )
        self._serving = asyncio.create_task(self._worker.run())

    async def stop(self) -> None:
        """Stop the worker; its runs stay open."""
        if self._worker is not None and self._serving is not None:
            await self._worker.shutdown()
            await self._serving
        self._worker = self._serving = None

    async def restart(self) -> None:
        """Replace the worker by a new one."""
        await self.stop()
        await self.serve()

    async def close(self) -> None:
        """Stop the worker and close the log."""
        await self.stop()
        if self.resources is not None:
            self.resources.log.close()
            self.resources.close()

    async def start(
        self, thread: str, request: Mapping[str, Any] | None = None, **more: Any
    ) -> Handle:
        """Start a run on a thread."""
        return await self.client.start_workflow(
            "Run",
            {**(request or {}), **more},
            id=f"thread/{thread}",
            task_queue=self.task_queue,
        )

    async def run(self, thread: str, request: Mapping[str, Any]) -> Any:
        """Start a run and return its result."""
        return await (await self.start(thread, request)).result()


async def until(handle: Handle, *phases: str) -> dict[str, Any]:
    """Return the run's state once it is in one of the phases."""
    state: dict[str, Any] = {}
    for _ in range(400):
        state = await handle.query("state")
        if state["run"]["phase"] in phases:
            return state
        await asyncio.sleep(0.025)
    raise AssertionError(f"never in {phases}; the state is {state}")


async def closed(handle: Handle) -> WorkflowExecutionStatus:
    """Return the status a run closes with."""
    with suppress(WorkflowFailureError):
        await handle.result()
    status = (await handle.describe()).status
    assert status is not None
    return status


async def failure_of(handle: Handle) -> ApplicationError:
    """Return the application error a run fails with."""
    try:
        await handle.result()
    except WorkflowFailureError as error:
        assert isinstance(error.cause, ApplicationError), error.cause
        return error.cause
    raise AssertionError("the run did not fail")


async def is_cancelled(handle: Handle) -> bool:
    """Return whether a run closes Canceled."""
    try:
        await handle.result()
    except WorkflowFailureError as error:
        return isinstance(error.cause, CancelledError)
    return False


async def update(handle: Handle, name: str, *arguments: Any) -> Any:
    """Send an update and return its answer."""
    # The SDK leaves a type of one overload open.
    return await handle.execute_update(  # pyright: ignore[reportUnknownMemberType]
        name, args=list(arguments)
    )


async def refused(handle: Handle, name: str, *arguments: Any) -> str:
    """Return the code an update is refused with."""
    try:
        await update(handle, name, *arguments)
    except WorkflowUpdateFailedError as error:
        assert isinstance(error.cause, ApplicationError)
        return str(error.cause.type)
    raise AssertionError(f"update {name} was accepted")


@asynccontextmanager
async def staged(client: Client, log_url: str, **options: Any) -> AsyncGenerator[Stage]:
    """Serve a stage and take it down again."""
    stage = Stage(client, log_url, **options)
    await stage.serve()
    try:
        yield stage
    finally:
        await stage.close()
