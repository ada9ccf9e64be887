"""Points at which a worker process hangs and says so, to be killed or stopped there.

They lie around every activity, local ones too, around what a node does outside, and where a
workflow is given an activity's result. The hooks are interceptors of the worker and nodes of the
tests; nothing of what is tested knows of them.
"""

import os
import threading
from typing import Any

from temporalio import activity, workflow
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
    StartActivityInput,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from seeding.commits import CommitOperation
from workflows.wire import CommitInput, NodeCallInput

NOWHERE = 0


class CrashPoints:
    """Where this process hangs: at a point of a name, or at whichever point is the n-th."""

    def __init__(self) -> None:
        self.wanted = ""
        self.nth = NOWHERE
        self._reached = 0
        self._went_on = False
        self._lock = threading.Lock()

    def reach(self, *names: str) -> None:
        """Say ``reached NAME`` and wait for a line on standard input, if this is the point.

        The thread that came here waits; once the line is there the process goes on unharmed, and
        says ``passed NAME`` of every later point. It ends where its standard input does.
        """
        with self._lock:
            self._reached += 1
            here = self._reached == self.nth or self.wanted in names
            if here:
                self.wanted, self.nth = "", NOWHERE
        if not here:
            if self._went_on:
                _say(*[f"passed {name}" for name in names])
            return
        _say(f"reached {names[0]}")
        if not os.read(0, 1):
            os._exit(1)
        self._went_on = True


def _say(*lines: str) -> None:
    os.write(1, "".join(f"{line}\n" for line in lines).encode())


POINTS = CrashPoints()
"""The points of this process; it hangs nowhere unless it was started to."""


class CrashInterceptor(Interceptor):
    """Makes the points around activities, and those where a workflow gets a result."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Return what stands around an activity."""
        return _AroundActivity(next)

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor]:
        """Return what stands between a workflow and its activities."""
        return _AroundWorkflow


class _AroundActivity(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        names = _names(activity.info().activity_type, input.args)
        POINTS.reach(*[f"before {name}" for name in names])
        try:
            result = await super().execute_activity(input)
            POINTS.reach(*[f"after {name}" for name in names])
            return result
        finally:
            POINTS.reach(*[f"leaving {name}" for name in names])


class _AroundWorkflow(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_AroundStarts(outbound))


class _AroundStarts(WorkflowOutboundInterceptor):
    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:
        return _telling(super().start_activity(input), input.activity, input.args)

    def start_local_activity(self, input: StartLocalActivityInput) -> workflow.ActivityHandle[Any]:
        return _telling(super().start_local_activity(input), input.activity, input.args)


def _telling(
    handle: workflow.ActivityHandle[Any], activity_type: str, args: Any
) -> workflow.ActivityHandle[Any]:
    def told(_: object) -> None:
        if not workflow.unsafe.is_replaying():
            POINTS.reach(*[f"told {name}" for name in _names(activity_type, args)])

    handle.add_done_callback(told)
    return handle


def _names(activity_type: str, args: Any) -> list[str]:
    """Return the names of what an activity does: its type, and that with each of its parts."""
    names = [activity_type]
    given = args[0] if args else None
    if isinstance(given, NodeCallInput):
        names.append(f"{activity_type} {given.node_id}")
    if isinstance(given, CommitInput):
        for operation in given.operations:
            names.extend(f"{activity_type} {part}" for part in _parts(operation))
    return names


def _parts(operation: CommitOperation) -> list[str]:
    commit = operation.commit
    parts = [] if commit.node_id is None else [commit.node_id]
    parts.extend(f"opening {ticket.kind}" for ticket in commit.opened)
    parts.extend(f"closing {closing.outcome}" for closing in commit.closed)
    return parts
