"""Reading a run back from the log, for an execution that goes on with it (design, section 3)."""

from typing import Literal

from activities.log import StoredRun
from activities.resources import Resources
from activities.results import run_result
from seeding.bounded import shown_by_reference
from seeding.identity import checkpoint_id
from seeding.json_values import MAX_PAYLOAD_BYTES
from seeding.model import Json
from seeding.request import RunConfig
from workflows.cells import NeededIterator
from workflows.graph.model import ResolvedGraph
from workflows.scheduler import needed_iterators, needed_outputs
from workflows.wire import Restored, SeedResult, StoredIterator, StoredOutput

DECIDED_KEPT = 1000
"""Closed tickets, newest first, whose winners a restored run can still name."""


def restored(resources: Resources, run: StoredRun, graph: ResolvedGraph) -> SeedResult:
    """Return everything an execution needs to go on with ``run``, or to close as it ended."""
    log = resources.log
    head, cells = log.position(run.run_id)
    last = checkpoint_id(run.run_id, run.last_ordinal)
    view = log.state(run.thread_id, last, messages=False)
    outputs = log.outputs(run.run_id, needed_outputs(head, cells))
    share = MAX_PAYLOAD_BYTES // 4
    return SeedResult(
        kind="restore",
        run_id=run.run_id,
        thread_id=run.thread_id,
        run_epoch=run.run_epoch,
        owner_epoch=run.owner_epoch,
        branch=run.branch,
        thread_version=run.thread_version,
        graph=graph,
        config=RunConfig.model_validate(run.config),
        start=run.start,
        data=shown_by_reference(view.state.data, "data", share),
        metadata=shown_by_reference(view.state.metadata, "metadata", share),
        extra=dict(view.state.model_extra or {}),
        message_count=view.message_count,
        restored=Restored(
            next_ordinal=run.last_ordinal + 1,
            thread_version=run.thread_version,
            head=head,
            cells=cells,
            outputs=[
                StoredOutput(node_id=node, occurrence=occurrence, value=value)
                for (node, occurrence), value in outputs.items()
            ],
            iterators=[
                StoredIterator(
                    node_id=live.node_id,
                    occurrence=live.occurrence,
                    items=_values(resources, run, "item", live, live.items),
                    results=_values(resources, run, "result", live, live.results),
                )
                for live in needed_iterators(head, cells)
            ],
            open_tickets=list(run.open_tickets),
            decided=log.closed_tickets(run.run_id, DECIDED_KEPT),
            cause=run.cause,
            result=run_result(log, run.run_id),
        ),
        search_attributes=resources.search_attributes,
        continue_after=resources.continue_after,
    )


def _values(
    resources: Resources,
    run: StoredRun,
    kind: Literal["item", "result"],
    live: NeededIterator,
    count: int,
) -> list[Json]:
    return resources.log.rows(run.run_id, kind, live.node_id, live.occurrence, count)
