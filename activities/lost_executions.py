"""Asking Temporal what became of the execution that left a run behind (prototypes, B18)."""

import asyncio
from typing import NamedTuple

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHistoryEventFilterType
from temporalio.service import RPCError

MAX_SECONDS = 5.0
"""How long a chain of executions is followed to its last one."""

MAX_REASON = 300
"""Characters of a reason that are kept."""


class _Closing(NamedTuple):
    reason: str | None
    next_run: str | None


async def reason_of_loss(client: Client, workflow_id: str, execution_run_id: str) -> str | None:
    """Return how the last execution of a chain closed, such as ``terminated: by hand``.

    Args:
        client: A client of the namespace the chain ran in.
        workflow_id: The id all its executions share.
        execution_run_id: Any execution of the chain; those after it are followed.

    Returns:
        None where Temporal no longer knows, or did not answer in time.
    """
    try:
        async with asyncio.timeout(MAX_SECONDS):
            current = execution_run_id
            while True:
                closing = await _closing(client, workflow_id, current)
                if closing.next_run is None:
                    return closing.reason
                current = closing.next_run
    except (RPCError, TimeoutError):
        return None


async def _closing(client: Client, workflow_id: str, run_id: str) -> _Closing:
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    described = await handle.describe()
    if described.status == WorkflowExecutionStatus.RUNNING:
        return _Closing("its execution is still open", None)
    reset_to = described.raw_description.workflow_extended_info.reset_run_id
    if reset_to:
        return _Closing(None, reset_to)
    last: HistoryEvent | None = None
    async for event in handle.fetch_history_events(
        event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT
    ):
        last = event
    return _Closing("closed", None) if last is None else _read(last)


def _read(event: HistoryEvent) -> _Closing:
    if event.HasField("workflow_execution_continued_as_new_event_attributes"):
        attributes = event.workflow_execution_continued_as_new_event_attributes
        return _Closing(None, attributes.new_execution_run_id)
    if event.HasField("workflow_execution_terminated_event_attributes"):
        return _said("terminated", event.workflow_execution_terminated_event_attributes.reason)
    if event.HasField("workflow_execution_failed_event_attributes"):
        return _said("failed", event.workflow_execution_failed_event_attributes.failure.message)
    if event.HasField("workflow_execution_timed_out_event_attributes"):
        return _said("timed out")
    if event.HasField("workflow_execution_canceled_event_attributes"):
        return _said("canceled")
    return _said("completed")


def _said(word: str, more: str = "") -> _Closing:
    return _Closing(f"{word}: {more}"[:MAX_REASON] if more else word, None)
