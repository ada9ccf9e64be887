"""``delay``: a node that passes its inputs on once its time is over; a timer, no activity.

A delay holds up nothing but its own node: a run ends, is cancelled or continues as new while
one is running. The moment it is over goes along to the next execution of the chain.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from temporalio import workflow

from seeding.durations import parse_duration
from seeding.model import JsonObject
from workflows.graph.model import Node
from workflows.summaries import summary


class Delays:
    """The timers of the delays that are running.

    Args:
        over: When delays that an earlier execution of the chain began are over, by key.
    """

    def __init__(self, over: Mapping[str, str] | None = None) -> None:
        self._over = {key: datetime.fromisoformat(text) for key, text in (over or {}).items()}
        self._timers: dict[str, asyncio.Task[None]] = {}

    def is_running(self, key: str) -> bool:
        """Whether the timer of a delay is held here."""
        return key in self._timers

    def start(self, key: str, node: Node, then: Callable[[], None]) -> None:
        """Start a delay, or go on with one an earlier execution began; call ``then`` after it."""
        if key not in self._over:
            seconds = parse_duration(node.config.get("duration"), f"duration of {node.id!r}")
            self._over[key] = workflow.now() + timedelta(seconds=seconds or 0)
        self._timers[key] = asyncio.create_task(self._wait(key, node.id, then))

    def keep_only(self, wanted: list[str]) -> None:
        """Cancel the timers of delays that are no longer due."""
        for key in list(self._timers):
            if key not in wanted:
                self._timers.pop(key).cancel()
        self._over = {key: over for key, over in self._over.items() if key in wanted}

    def carry(self) -> JsonObject:
        """Return when each delay that has begun is over, for the next execution of the chain.

        One that a paused execution holds back has no timer there, and goes along all the same.
        """
        return {key: over.isoformat() for key, over in self._over.items()}

    async def _wait(self, key: str, node_id: str, then: Callable[[], None]) -> None:
        left = self._over[key] - workflow.now()
        if left > timedelta(0):
            await workflow.sleep(left, summary=summary(f"delay of {node_id}"))
        del self._timers[key], self._over[key]
        then()
