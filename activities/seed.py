"""The start activity: reads what the start table needs, and carries its decision out (SG-12).

It only reads. What it decided is its recorded result, so that the UI shows where a run's state
came from and what was cleared.
"""

from contextlib import suppress

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.ending_operation import ending_operation
from activities.log import Execution, StateView, StoredRun, Takeover
from activities.log_failures import log_failures
from activities.lost_executions import reason_of_loss
from activities.named_graphs import named_or_refused, with_types
from activities.opening_values import cells_of, extra_of, graph_warnings
from activities.repeated_starts import as_before, run_begun_before
from activities.resources import Resources
from activities.restoring import StoredPosition, restored, stored_position
from activities.start_requests import problem_of
from activities.thread_facts import last_run, read_facts, run_fact
from seeding.bounded import shown_by_reference
from seeding.clearing import cleared_fields
from seeding.commits import (
    BranchPoint,
    CommitOperation,
    Opening,
)
from seeding.decisions import Adopt, Open, RunEnding, StartDecision
from seeding.errors import (
    CorruptLog,
    InvalidGraph,
    InvalidRequest,
    StartRefused,
)
from seeding.identity import workflow_id
from seeding.queued_turns import request_hash
from seeding.request import RunRequest
from seeding.snapshot import read_snapshot
from seeding.start import resolve_start
from seeding.starting_state import starting_state
from seeding.thread_busy import check_owner_is_here
from workflows.graph.model import Graph, ResolvedGraph
from workflows.graph.resolution import check_inputs
from workflows.wire import SEED_RUN, SeedInput, SeedResult

SHOWN_BYTES = 16 * 1024
"""Beyond this many bytes in all, the seed's result shows data by key and size."""


class SeedActivities:
    """Reads the log and the graphs, and decides where a run starts."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._log = resources.log

    @activity.defn(name=SEED_RUN)
    async def seed_run(self, asked: SeedInput) -> SeedResult:
        """Decide where the run of this chain starts, or hand back the run it already has.

        It only reads, except that an execution that adopts a run becomes its owner.

        Raises:
            ApplicationError: The start is refused by name (contract 2), non-retryable; its
                details name the thread's last run. Or the log does not answer, retryable.
        """
        with log_failures():
            try:
                lost = await self._resources.read(lambda: self._owner_to_ask(asked))
                reason = None if lost is None else await self._reason(asked, lost)
                return await self._resources.read(lambda: self._seed(asked, reason))
            except CorruptLog as damage:
                if asked.request is None or await self._resources.read(
                    lambda: self._has_run(asked)
                ):
                    raise  # A run that is open waits for a log that is whole again.
                raise self._refused(asked, damage) from damage

    def _has_run(self, asked: SeedInput) -> bool:
        """Return whether this chain has opened or taken over a run, as far as can be told."""
        try:
            return self._log.run_of_chain(asked.chain_id) is not None
        except CorruptLog:
            return True

    def _owner_to_ask(self, asked: SeedInput) -> str | None:
        """Return the execution whose loss has to be explained, where there is one."""
        if asked.request is None or self._log.run_of_chain(asked.chain_id) is not None:
            return None
        latest = self._log.latest_run(asked.thread_id)
        if latest is None or latest.phase == "ended":
            return None
        owner = self._log.owners(latest.run_id)[-1]
        return owner.execution.execution_run_id or owner.chain_id

    async def _reason(self, asked: SeedInput, execution_run_id: str) -> str | None:
        return await reason_of_loss(
            activity.client(), workflow_id(asked.thread_id), execution_run_id
        )

    def _seed(self, asked: SeedInput, lost_because: str | None) -> SeedResult:
        own = self._log.run_of_chain(asked.chain_id)
        try:
            if own is not None:
                return self._restore(own, asked)
            return self._begin(asked, lost_because)
        except StartRefused as refusal:
            raise self._refused(asked, refusal) from refusal

    def _refused(self, asked: SeedInput, refusal: StartRefused | CorruptLog) -> ApplicationError:
        last = None
        with suppress(CorruptLog):
            last = last_run(self._log, asked.thread_id) if asked.thread_id else None
        details = {
            "code": refusal.code,
            "message": refusal.message,
            "details": refusal.details,
            "lastRun": last,
        }
        return ApplicationError(
            refusal.message,
            details,
            type=refusal.code,
            non_retryable=True,
            category=ApplicationErrorCategory.BENIGN,
        )

    # --- a run that goes on -------------------------------------------------------------------

    def _restore(self, run: StoredRun, asked: SeedInput) -> SeedResult:
        """Hand back the run that this chain opened or has taken over.

        A chain that was reset after another one took its run over is the only open execution
        on the thread in its namespace, and becomes the owner again.

        Raises:
            ThreadBusy: The run has gone over to a chain of another namespace.
        """
        owners = self._log.owners(run.run_id)
        own = [owner.takeover for owner in owners if owner.chain_id == asked.chain_id]
        takeover = own[-1] if own else None
        if run.phase != "ended" and owners[-1].chain_id != asked.chain_id:
            check_owner_is_here(run_fact(self._log, run), asked.namespace)
            run = self._take_over(run.run_id, asked, takeover or Takeover(start=run.start))
        content = takeover is not None and asked.request is not None and _is_queued(asked.request)
        return restored(self._resources, run, self._pinned(run), takeover).model_copy(
            update={
                "queued": self._log.count_queued(run.thread_id),
                # Said by every attempt of this activity: queueing it again is queueing it once.
                "queues_content": content,
            }
        )

    def _adopt(self, asked: SeedInput, decision: Adopt) -> SeedResult:
        """Take a run over: whoever wrote it before is fenced from here on."""
        takeover = Takeover(
            start=decision.start.to_json(),
            warnings=tuple(item.to_json() for item in decision.warnings),
        )
        return self._restore(self._take_over(decision.run_id, asked, takeover), asked)

    def _take_over(self, run_id: str, asked: SeedInput, takeover: Takeover) -> StoredRun:
        execution = Execution(execution_run_id=asked.execution_id, namespace=asked.namespace)
        self._log.take_over(run_id, asked.chain_id, execution, takeover)
        run = self._log.run(run_id)
        if run is None:
            raise CorruptLog(f"run {run_id} was taken over and is gone")
        return run

    def _pinned(self, run: StoredRun) -> ResolvedGraph:
        """Return the graph that a run was opened with, whatever its name means now (SG-13)."""
        stored = self._log.graph(run.graph_digest)
        if stored is None:
            raise ApplicationError(
                f"graph {run.graph_id}@{run.graph_digest} is not in the log",
                type="FlowDrift",
            )
        try:
            return with_types(self._resources, Graph.model_validate(stored.body))
        except InvalidGraph as error:
            # Another worker may serve the missing type: wait for it, end nothing.
            raise ApplicationError(error.message, type=error.code) from None

    # --- a start ------------------------------------------------------------------------------

    def _begin(self, asked: SeedInput, lost_because: str | None) -> SeedResult:
        if asked.problem is not None:
            raise problem_of(asked.problem.code, asked.problem.message)
        if asked.request is None:
            raise self._log.lacks(
                f"does not know the run of thread {asked.thread_id!r} that execution "
                f"{asked.chain_id} goes on with"
            )
        request = asked.request
        before = run_begun_before(self._resources, request)
        if before is not None:
            return as_before(self._resources, before, self._pinned(before))
        with self._log.one_prefix(f"thread {asked.thread_id}"):
            named = named_or_refused(self._resources, request)
            decision = self._decide(asked, request, named, lost_because)
            if isinstance(decision, Open):
                return self._open(asked, request, decision, named)
        if not isinstance(decision, Adopt):
            raise InvalidRequest(f"decision {decision.kind} cannot open a run")
        return self._adopt(asked, decision)

    def _decide(
        self,
        asked: SeedInput,
        request: RunRequest,
        named: ResolvedGraph | StartRefused,
        lost_because: str | None,
    ) -> StartDecision:
        facts = read_facts(
            self._log,
            request,
            asked.chain_id,
            named.name if isinstance(named, ResolvedGraph) else None,
            namespace=asked.namespace,
            lost_because=lost_because,
            started_at=asked.started_at,
        )
        try:
            return resolve_start(request, facts)
        except StartRefused as refusal:
            raise (named if isinstance(named, StartRefused) else refusal) from None

    def _open(
        self,
        asked: SeedInput,
        request: RunRequest,
        decision: Open,
        named: ResolvedGraph | StartRefused,
    ) -> SeedResult:
        position = None
        if decision.goes_on_at is not None:
            position = stored_position(self._log, decision.goes_on_at)
            graph = self._pinned(position.run)
        elif isinstance(named, StartRefused):
            raise named
        else:
            graph = named
        check_inputs(graph, request.input)
        view = self._base(request, decision)
        return self._opened(asked, request, graph, decision, view, position).model_copy(
            update={"ends": [self._ending(item, decision) for item in decision.ends]}
        )

    def _base(self, request: RunRequest, decision: Open) -> StateView | None:
        if decision.base.checkpoint_id is None:
            return None
        stands_on = decision.stands_on
        thread_id = request.thread_id if stands_on is None else stands_on.thread_id
        return self._log.state(thread_id, decision.base.checkpoint_id, messages=False)

    def _opened(
        self,
        asked: SeedInput,
        request: RunRequest,
        graph: ResolvedGraph,
        decision: Open,
        view: StateView | None,
        position: StoredPosition | None,
    ) -> SeedResult:
        from_snapshot = decision.base.kind == "snapshot"
        read = read_snapshot(request.initial_snapshot) if from_snapshot else None
        if view is not None:
            read = view.state
        state = starting_state(decision, request.thread_id, read)
        cleared = cleared_fields(read) if read is not None and decision.base.cleared else []
        start = decision.start.to_json()
        return SeedResult(
            kind="open",
            run_id=asked.chain_id,
            thread_id=request.thread_id,
            run_epoch=decision.run_epoch,
            owner_epoch=1,
            branch=decision.branch,
            thread_version=decision.thread_version,
            graph=graph,
            config=request.config,
            start=start,
            cleared={item.field: item.before for item in cleared},
            warnings=[*(item.to_json() for item in decision.warnings), *graph_warnings(graph)],
            data={} if from_snapshot else shown_by_reference(state.data, "data", SHOWN_BYTES),
            metadata={}
            if from_snapshot
            else shown_by_reference(state.metadata, "metadata", SHOWN_BYTES),
            extra=extra_of(state),
            message_count=0 if view is None else view.message_count,
            iterator=state.iterator if from_snapshot else None,
            position=None if position is None else position.values,
            iteration_count=state.iteration_count,
            messages=state.messages if from_snapshot else [],
            state=cells_of(state) if from_snapshot else [],
            opening=Opening(
                run_epoch=decision.run_epoch,
                chain_id=asked.chain_id,
                graph_id=graph.graph.id,
                graph_digest=graph.digest,
                config=request.config.to_json(),
                branch=decision.branch,
                lineage=self._lineage(decision),
                continues=() if position is None else position.continues,
                start=start,
                request_hash=request_hash(request),
                idempotency_key=request.idempotency_key,
                queued_turn=request.queued_turn,
            ),
            queued=self._log.count_queued(request.thread_id),
            search_attributes=self._resources.search_attributes,
            continue_after=self._resources.continue_after,
        )

    def _lineage(self, decision: Open) -> tuple[BranchPoint, ...] | None:
        """Return what a new branch stands on, outermost first; None for one that is there."""
        if not decision.opens_branch:
            return None
        point = decision.stands_on
        if point is None:
            return ()
        return self._log.lineage(point.thread_id, point.branch, point.up_to)

    def _ending(self, ending: RunEnding, decision: Open) -> CommitOperation:
        """Return the operation that ends an old run, for the opening's transaction."""
        run = self._log.run(ending.run_id)
        if run is None:
            raise InvalidRequest(f"run {ending.run_id} is not in the log")
        return ending_operation(
            self._log,
            run,
            ending.cause,
            owner_epoch=run.owner_epoch,
            thread_version=decision.thread_version,
        )


def _is_queued(request: RunRequest) -> bool:
    """Return whether what a request brings is queued where it takes a run over."""
    return request.carries_content and request.config.on_busy != "reject"
