"""Activities that write: commits, the opening of a run, its end."""

from temporalio import activity

from activities.log import Execution, PinnedGraph
from activities.log_failures import log_failures
from activities.resources import Resources
from activities.results import run_result
from seeding.commits import BatchReceipt
from workflows.graph.model import ResolvedGraph
from workflows.wire import COMMIT, END_RUN, FORGET_RUN, OPEN_RUN, CommitInput, CommitReply


class CommitActivities:
    """The one write boundary, as activities; each call is one transaction.

    A refusal is an answer, not a failure: the workflow decides what follows from it. A log that
    does not answer is a failure, so that the same operations are sent again.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._log = resources.log

    @activity.defn(name=COMMIT)
    async def commit(self, commits: CommitInput) -> CommitReply:
        """Append a list of commits."""
        with log_failures():
            receipt = await self._log.append_async(
                commits.operations, whole=commits.whole, quick=commits.quick
            )
        return _reply(receipt)

    @activity.defn(name=OPEN_RUN)
    async def open_run(self, commits: CommitInput) -> CommitReply:
        """Append the opening of a run, after the end of an old one where there is one.

        The graph is kept by its digest in the same transaction; it is no part of the thread.
        """
        info = activity.info()
        owner = Execution(execution_run_id=info.workflow_run_id, namespace=info.workflow_namespace)
        with log_failures():
            receipt = await self._log.append_async(
                commits.operations, whole=True, execution=owner, graph=_pinned(commits.graph)
            )
            return await self._with_result(receipt, commits)

    @activity.defn(name=END_RUN)
    async def end_run(self, commits: CommitInput) -> CommitReply:
        """Append the end of a run and return its whole result."""
        with log_failures():
            receipt = await self._log.append_async(commits.operations)
            return await self._with_result(receipt, commits)

    @activity.defn(name=FORGET_RUN)
    async def forget_run(self, run_id: str) -> None:
        """Remove an ephemeral run, once its result is in the workflow's history."""
        with log_failures():
            await self._log.forget_run_async(run_id)

    async def _with_result(self, receipt: BatchReceipt, commits: CommitInput) -> CommitReply:
        last = commits.operations[-1].commit
        ended = last.disposition.kind == "Ended" and receipt.refusal is None
        if not ended:
            return _reply(receipt)
        result = await self._resources.read(lambda: run_result(self._log, last.run_id))
        waiting = await self._log.count_queued_async(last.thread_id)
        return _reply(receipt).model_copy(update={"result": result, "queued": waiting > 0})


def _pinned(graph: ResolvedGraph | None) -> PinnedGraph | None:
    if graph is None:
        return None
    return PinnedGraph(digest=graph.digest, graph_id=graph.graph.id, body=graph.graph.to_json())


def _reply(receipt: BatchReceipt) -> CommitReply:
    last = receipt.receipt
    return CommitReply(
        accepted=None if receipt.refusal is None else receipt.accepted,
        duplicate=last is not None and last.duplicate,
        last=last is None or last.last,
        at_once=activity.info().attempt == 1,
        times=receipt.times,
        refusal=receipt.refusal,
    )
