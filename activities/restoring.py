"""Reading a run back from the log, for an execution that goes on with it (design, section 3)."""

from typing import Literal, NamedTuple

from activities.log import CommitLog, StoredRun, Takeover
from activities.resources import Resources
from activities.results import run_result
from seeding.bounded import shown_by_reference
from seeding.commits import PositionHead, RunPoint
from seeding.errors import CorruptLog
from seeding.identity import checkpoint_id
from seeding.json_values import MAX_PAYLOAD_BYTES
from seeding.model import Json, JsonObject
from seeding.request import RunConfig
from workflows.cells import NeededIterator
from workflows.graph.model import ResolvedGraph
from workflows.scheduler import needed_iterators, needed_outputs
from workflows.wire import PositionValues, Restored, SeedResult, StoredIterator, StoredOutput

DECIDED_KEPT = 1000
"""Closed tickets, newest first, whose winners a restored run can still name."""

NOTHING_LEFT = PositionValues(head=PositionHead(), cells={}, outputs=[], iterators=[])
"""The position of a run that was pruned; it has ended, so nothing is done from there."""


class StoredPosition(NamedTuple):
    """The position at a checkpoint, for a run that starts there."""

    run: StoredRun
    values: PositionValues
    continues: tuple[RunPoint, ...]


def restored(
    resources: Resources, run: StoredRun, graph: ResolvedGraph, takeover: Takeover | None = None
) -> SeedResult:
    """Return everything an execution needs to go on with ``run``, or to close as it ended.

    Args:
        resources: The worker's.
        run: The run.
        graph: The graph it has pinned.
        takeover: How this chain took it over; None for the chain that opened it.
    """
    log = resources.log
    seeded = SeedResult(
        kind="restore",
        run_id=run.run_id,
        thread_id=run.thread_id,
        run_epoch=run.run_epoch,
        owner_epoch=run.owner_epoch,
        branch=run.branch,
        thread_version=run.thread_version,
        graph=graph,
        config=RunConfig.model_validate(run.config),
        start=run.start if takeover is None else takeover.start,
        warnings=[*_opening_warnings(log, run), *(takeover.warnings if takeover else ())],
        position=NOTHING_LEFT,
        restored=Restored(
            next_ordinal=run.last_ordinal + 1,
            thread_version=run.thread_version,
            open_tickets=list(run.open_tickets),
            decided=log.closed_tickets(run.run_id, DECIDED_KEPT),
            cause=run.cause,
            result=run_result(log, run.run_id),
        ),
        search_attributes=resources.search_attributes,
        continue_after=resources.continue_after,
    )
    return seeded if run.pruned else seeded.model_copy(update=_state_at_end(log, run))


def _state_at_end(log: CommitLog, run: StoredRun) -> dict[str, object]:
    """Return what a restored run holds of its state after its last commit."""
    last = checkpoint_id(run.run_id, run.last_ordinal)
    view = log.state(run.thread_id, last, messages=False)
    share = MAX_PAYLOAD_BYTES // 4
    return {
        "data": shown_by_reference(view.state.data, "data", share),
        "metadata": shown_by_reference(view.state.metadata, "metadata", share),
        "extra": dict(view.state.model_extra or {}),
        "message_count": view.message_count,
        "position": _values(log, run.run_id, run.last_ordinal, view.version),
    }


def _opening_warnings(log: CommitLog, run: StoredRun) -> list[JsonObject]:
    return [event.body for event in log.opening_events(run.run_id) if event.kind == "warning"]


def stored_position(log: CommitLog, named: str) -> StoredPosition:
    """Return the position at a checkpoint of any run, ended or not.

    Raises:
        CorruptLog: The checkpoint was there a moment ago and is not any more.
    """
    stored = log.checkpoint(named)
    run = None if stored is None else log.run(stored.run_id)
    if stored is None or run is None:
        raise CorruptLog(f"checkpoint {named} is gone")
    own = RunPoint(
        thread_id=stored.thread_id,
        branch=stored.branch,
        run_id=stored.run_id,
        up_to=stored.version,
    )
    return StoredPosition(
        run=run,
        values=_values(log, stored.run_id, stored.ordinal, stored.version),
        continues=(*run.continues, own),
    )


def _values(log: CommitLog, run_id: str, ordinal: int, version: int) -> PositionValues:
    head, cells = log.position(run_id, ordinal)
    needed = needed_outputs(head, cells)
    outputs = log.outputs(run_id, needed, version=version)
    for node, occurrence in needed:
        if (node, occurrence) not in outputs:
            raise CorruptLog(f"output {node}:{occurrence} of run {run_id} is missing")

    def rows(kind: Literal["item", "result"], live: NeededIterator, count: int) -> list[Json]:
        return log.rows(run_id, kind, live.node_id, live.occurrence, count)

    return PositionValues(
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
                items=rows("item", live, live.items),
                results=rows("result", live, live.results),
            )
            for live in needed_iterators(head, cells)
        ],
    )
