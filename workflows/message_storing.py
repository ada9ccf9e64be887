"""Puts what a run was given for the queue into the log, one turn after the other.

It runs beside the engine for as long as the workflow is open, so that a message is taken in
every phase: before the run has opened, and when it has ended and is about to close.
"""

from collections.abc import Callable

from temporalio import workflow

from seeding.errors import FermataError
from seeding.model import JsonObject
from workflows.inbox import Inbox
from workflows.inbox_model import Reply, TurnTaken
from workflows.queue_wire import QueueTurnInput
from workflows.queueing import put_into_queue, reply_of

Graph = str | JsonObject | None


class MessageStoring:
    """Stores the turns of one run.

    Args:
        inbox: Where they were accepted.
        thread_id: The thread of the run.
        graph: Returns the graph of the run, for a turn that names none; None where it is unknown.
        run_id: Returns the run that is open; None before one is.
    """

    def __init__(
        self,
        inbox: Inbox,
        thread_id: str,
        graph: Callable[[], Graph],
        run_id: Callable[[], str | None],
    ) -> None:
        self._inbox = inbox
        self._thread_id = thread_id
        self._graph = graph
        self._run_id = run_id

    async def run(self) -> None:
        """Store what comes, for ever."""
        line = self._inbox.line
        while True:
            await workflow.wait_condition(lambda: not line.is_empty)
            first = line.first
            assert first is not None
            self._inbox.turn_settled(await self._stored(*first))

    async def _stored(self, number: int, turn: TurnTaken) -> Reply | FermataError:
        info = workflow.info()
        try:
            receipt = await put_into_queue(
                QueueTurnInput(
                    thread_id=self._thread_id,
                    sender=info.first_execution_run_id,
                    number=number,
                    request=turn.request,
                    namespace=info.namespace,
                    graph=self._graph(),
                    behind=self._run_id(),
                )
            )
        except FermataError as refusal:
            return refusal
        return reply_of(receipt)
