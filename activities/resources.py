"""What the activities of one worker share: the log, the graphs and the node types."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from activities.graph_folder import GraphFolder
from activities.log import CommitLog
from activities.node_loop import NodeLoop, Outcome, call_plain
from activities.nodes import NodeRegistry
from seeding.model import Json

CONTINUE_AFTER = 1000
"""Events of history after which a run continues as new, at its next quiet point."""

_READERS = 4
_NODE_THREADS = 64

_T = TypeVar("_T")


@dataclass(frozen=True)
class Resources:
    """Opened once by a worker and given to each of its activities.

    Reads of the log, plain ``def`` nodes and ``async def`` nodes have threads of their own, so
    that no node can hold up a read, and none of them a commit, a heartbeat or a query.

    Attributes:
        log: The commit log.
        graphs: The registered graph documents.
        registry: The node types this worker serves.
        continue_after: Events of history after which a run continues as new.
        http_hosts: The hosts that nodes of this worker may call.
        search_attributes: Names of the search attributes the server has.
    """

    log: CommitLog
    graphs: GraphFolder
    registry: NodeRegistry
    continue_after: int = CONTINUE_AFTER
    search_attributes: tuple[str, ...] = ()
    http_hosts: tuple[str, ...] = ()
    _readers: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_READERS, thread_name_prefix="log-reader")
    )
    _nodes: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_NODE_THREADS, thread_name_prefix="node")
    )
    _node_loop: NodeLoop = field(default_factory=NodeLoop)

    async def read(self, work: Callable[[], _T]) -> _T:
        """Run ``work``, which reads the log, in one hop off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    async def run_plain(self, work: Callable[[], Json]) -> Outcome:
        """Run ``work``, a plain ``def`` node, on a thread and in the caller's context."""
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(
            self._nodes, lambda: context.run(call_plain, work)
        )

    async def run_async(self, work: Callable[[], Awaitable[Json]]) -> Outcome:
        """Run ``work``, an ``async def`` node, on the nodes' own event loop (see NodeLoop)."""
        return await self._node_loop.run(work)

    def close(self) -> None:
        """Let go of the threads; the log is closed by whoever opened it."""
        self._node_loop.close()
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._nodes.shutdown(wait=False, cancel_futures=True)
