"""How an execution gets its run: seeded and opened, or restored from the log (SG-12)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from seeding.commits import (
    AuditDraft,
    CommitOperation,
    EndCause,
    StateCommand,
    ThreadCommit,
    operation,
)
from seeding.json_values import MAX_PAYLOAD_BYTES, size_in_bytes
from seeding.model import JsonObject, as_object
from seeding.queued_turns import brought_along, payload_of
from seeding.request import RunRequest
from workflows.commit_path import CommitPath
from workflows.held import Held, RunFacts, after
from workflows.inbox_model import TurnTaken
from workflows.instants import show_moment
from workflows.message_line import MessageLine
from workflows.outcome import Refused
from workflows.scheduler import Plan, Position, Step, make_plan, open_position, restore
from workflows.starting_at import start_at
from workflows.summaries import summary
from workflows.transitions import opening_commit
from workflows.wire import (
    SEED_RUN,
    CommitReply,
    PositionValues,
    SeedInput,
    SeedResult,
    StartProblem,
)

MAX_SEEDS = 3
"""Times a start is seeded again because the thread moved on meanwhile."""

_SEED_TIME = timedelta(seconds=30)
_PATIENT = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=5),
)


class StartRefusal(Exception):
    """A start that is refused; carries what the run closes with."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.refused = refused


class LogIsAhead(Exception):
    """The log holds more than this execution knows; it restores from there."""


class FencedOff(Exception):
    """A newer owner holds the run; this execution closes."""


async def seed(seed_input: SeedInput) -> SeedResult:
    """Run the start activity.

    Raises:
        StartRefusal: The request is refused; nothing was written.
    """
    try:
        return await workflow.execute_activity(
            SEED_RUN,
            seed_input,
            result_type=SeedResult,
            start_to_close_timeout=_SEED_TIME,
            retry_policy=_PATIENT,
            summary=summary(f"where {seed_input.thread_id or 'this run'} starts from"),
        )
    except ActivityError as error:
        cause = error.cause
        if not isinstance(cause, ApplicationError):
            raise
        details = as_object(cause.details[0]) if cause.details else None
        raise StartRefusal(
            Refused(cause.type or "InvalidRequest", cause.message, details or {})
        ) from error


async def with_last_run(seed_input: SeedInput, refusal: StartRefusal) -> StartRefusal:
    """Return a refusal met after the seed as the start activity says it: with the last run."""
    problem = StartProblem(code=refusal.refused.code, message=refusal.refused.message)
    try:
        await seed(seed_input.model_copy(update={"problem": problem, "request": None}))
    except StartRefusal as said:
        return said
    return refusal


def facts_of(seeded: SeedResult) -> RunFacts:
    """Return what never changes for this execution of the run."""
    return RunFacts(
        thread_id=seeded.thread_id,
        run_id=seeded.run_id,
        run_epoch=seeded.run_epoch,
        owner_epoch=seeded.owner_epoch,
        branch=seeded.branch,
        graph_name=seeded.graph.name,
        config=seeded.config,
        start=seeded.start,
        warnings=tuple(seeded.warnings),
    )


def restored_run(seeded: SeedResult) -> tuple[Plan, Held]:
    """Return the plan and what is held of a run as the log has it."""
    assert seeded.restored is not None
    assert seeded.position is not None
    stored = seeded.restored
    plan = make_plan(seeded.graph)
    held = Held(
        facts=facts_of(seeded),
        position=_position_of(plan, seeded.position),
        head=seeded.position.head,
        tickets=tuple(item.body for item in stored.open_tickets),
        times={item.body.ticket: item.times for item in stored.open_tickets},
        next_ordinal=stored.next_ordinal,
        thread_version=stored.thread_version,
        message_count=seeded.message_count,
        data=seeded.data,
        metadata=seeded.metadata,
        extra=seeded.extra,
        cause=stored.cause,
    )
    return plan, held


def queue_content(seeded: SeedResult, request: RunRequest | None, line: MessageLine) -> None:
    """Queue what a start brought to the run that it took over, which goes on as it is."""
    if request is None or not seeded.queues_content:
        return
    turn = TurnTaken(
        request=payload_of(brought_along(request)),
        supersedes=request.config.on_busy == "supersede",
        door="start",
        received_at=show_moment(workflow.now()),
    )
    line.add(turn)


def _position_of(plan: Plan, stored: PositionValues) -> Position:
    outputs = {(item.node_id, item.occurrence): item.value for item in stored.outputs}
    iterators = {
        (item.node_id, item.occurrence): (item.items, item.results) for item in stored.iterators
    }
    return restore(plan, stored.head, stored.cells, outputs, iterators)


def _first_step(plan: Plan, seeded: SeedResult, request: RunRequest) -> Step:
    if seeded.position is not None:
        return start_at(plan, _position_of(plan, seeded.position), request.input)
    return open_position(
        plan,
        request.input,
        request.config.max_iterations,
        iterator=seeded.iterator,
        iteration_count=seeded.iteration_count,
    )


async def open_run(
    seeded: SeedResult, request: RunRequest, path: CommitPath, cancelled: EndCause | None
) -> tuple[Plan, Held, CommitReply]:
    """Commit the opening of a new run and return what is held then.

    Args:
        seeded: What the start activity decided.
        request: The validated request.
        path: The way to the log.
        cancelled: The cause where a cancel came before the opening; the run then ends with
            ordinal 0 and no node runs.

    Raises:
        StartRefusal: The opening cannot be committed, by name.
        LogIsAhead: The log already holds this run.
    """
    assert seeded.opening is not None
    plan = make_plan(seeded.graph)
    step = _first_step(plan, seeded, request)
    held = Held(
        facts=replace(facts_of(seeded), warnings=(*tuple(seeded.warnings), *step.warnings)),
        position=step.position,
        head=step.head,
        thread_version=seeded.thread_version,
        message_count=seeded.message_count,
        data=seeded.data,
        metadata=seeded.metadata,
        extra=seeded.extra,
    )
    commit = opening_commit(
        held,
        seeded.opening,
        None if cancelled else step,
        messages=[*seeded.messages, *request.new_messages()],
        state=[*seeded.state, *_merges(request)],
        events=_events(seeded, step.warnings),
        cancelled=cancelled,
    )
    operations = [*seeded.ends, _first(held, commit, len(seeded.ends))]
    reply = await path.opening(operations, seeded.graph)
    _judge(reply)
    opened = after(held, commit, step.position)
    version = opened.thread_version + len(seeded.ends)
    return plan, replace(opened, thread_version=version), reply


def _first(held: Held, commit: ThreadCommit, ends: int) -> CommitOperation:
    size = size_in_bytes(commit.to_json())
    if size > MAX_PAYLOAD_BYTES:
        raise StartRefusal(
            Refused(
                "InvalidRequest",
                f"the opening commit would be {size} bytes of JSON, at most "
                f"{MAX_PAYLOAD_BYTES} are taken; send less at once",
            )
        )
    return operation(
        commit,
        ordinal=0,
        owner_epoch=held.facts.owner_epoch,
        expected_thread_version=held.thread_version + ends,
    )


def _judge(reply: CommitReply) -> None:
    refusal = reply.refusal
    if refusal is None:
        if reply.duplicate and not reply.last:
            raise LogIsAhead
        return
    if refusal.code in ("OperationReused", "OrdinalConflict", "RunTerminal"):
        raise LogIsAhead
    if refusal.code == "Fenced":
        raise FencedOff(refusal.message)
    kept = refusal.code in ("ThreadBusy", "ThreadVersionConflict")
    code = refusal.code if kept else "InvalidRequest"
    raise StartRefusal(Refused(code, refusal.message))


def _merges(request: RunRequest) -> list[StateCommand]:
    return [
        *(
            StateCommand(scope="thread", cell="data", key=key, value=value)
            for key, value in request.data.items()
        ),
        *(
            StateCommand(scope="thread", cell="metadata", key=key, value=value)
            for key, value in request.metadata.items()
        ),
    ]


def _events(seeded: SeedResult, warnings: Sequence[JsonObject]) -> list[AuditDraft]:
    provenance: JsonObject = {"start": seeded.start, "cleared": seeded.cleared}
    return [
        AuditDraft(kind="provenance", body=provenance),
        *(AuditDraft(kind="warning", body=warning) for warning in seeded.warnings),
        *(AuditDraft(kind="warning", body=warning) for warning in warnings),
    ]
