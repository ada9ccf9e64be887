"""The body of a run: it awaits, decides by pure rules, and commits; nothing else.

One pass of the loop does the first thing there is to do: commit what completed, end the run,
commit a command, dispatch what is due, continue as new, or wait. What it holds is always what
the last accepted commit says; whenever the log turns out to be ahead, it drops what it holds and
restores from the log.
"""

from collections.abc import Sequence
from dataclasses import replace

from temporalio import workflow

from seeding.commits import CommitOperation, EndCause, ThreadCommit, operation
from seeding.request import EPHEMERAL, RunRequest
from seeding.tickets import TicketClosing
from workflows import pass_budget
from workflows.beginning import (
    MAX_SEEDS,
    FencedOff,
    LogIsAhead,
    StartRefusal,
    open_run,
    queue_content,
    restored_run,
    seed,
    with_last_run,
)
from workflows.commit_path import CommitPath
from workflows.completions import Batch, Settled, next_control, settle, settle_expiry
from workflows.deadlines import Deadlines, expiry
from workflows.delays import Delays
from workflows.display import Display
from workflows.effects import Effects
from workflows.endings import cancelled_cause, reason_to_end
from workflows.execution_length import ExecutionLength
from workflows.held import Held, after, with_times
from workflows.inbox import Inbox
from workflows.inbox_model import AnswerTaken, LiftTaken, PauseTaken
from workflows.outcome import RESULT_STATUS, Ended, GoesOn, Outcome, Refused
from workflows.position import Position, next_occurrence
from workflows.scheduler import Ending, Execution, Plan, due
from workflows.transitions import (
    UNNAMED,
    end_commit,
    lift_commit,
    pause_commit,
    pause_ticket,
    summary_of,
)
from workflows.wire import CommitReply, SeedInput, SeedResult

LOG_IS_AHEAD = (
    "OperationReused",
    "OrdinalConflict",
    "RunTerminal",
    "ThreadVersionConflict",
    "UnknownOwner",
)
"""Refusals that say that the log holds something else than this execution knows of."""


class Engine:
    """Runs one run, from its seed to its end.

    Attributes:
        plan: The pinned graph, analysed; None before the run opened or was restored.
        held: What the last accepted commit says; None before.
        seeded: What the start activity decided; None before.
        refused: Why the start was refused; None where it was not.
    """

    def __init__(self, inbox: Inbox, delays: Delays) -> None:
        self.inbox = inbox
        self.plan: Plan | None = None
        self.held: Held | None = None
        self.seeded: SeedResult | None = None
        self.refused: Refused | None = None
        self._path = CommitPath()
        self._delays = delays
        self._effects = Effects(delays)
        self._ending: Ending | None = None
        self._ending_closed: tuple[TicketClosing, ...] = ()
        self._seed_input: SeedInput | None = None
        self._length = ExecutionLength()
        self._deadlines = Deadlines()
        self._display = Display()

    async def run(self, seed_input: SeedInput) -> Outcome:
        """Run to an outcome; never raises for what the log or a caller may do."""
        self._seed_input = seed_input
        try:
            outcome = await self._begin(seed_input) or await self._go_on()
            if isinstance(outcome, Ended) and self._is_ephemeral():
                await self._path.forget(outcome.result["runId"])
            return outcome
        except StartRefusal as refusal:
            self.refused = refusal.refused
        except FencedOff as fenced:
            self.refused = Refused("Fenced", str(fenced))
        self.inbox.ended(self.refused.message)
        return self.refused

    # --- the beginning ----------------------------------------------------------------------

    async def _begin(self, seed_input: SeedInput) -> Ended | None:
        for _ in range(MAX_SEEDS + 1):
            seeded = await seed(seed_input)
            if seeded.kind == "restore":
                return self._adopt_restored(seeded)
            assert seed_input.request is not None
            try:
                return await self._open(seeded, seed_input.request)
            except LogIsAhead:
                continue
            except StartRefusal as refusal:
                if refusal.refused.code != "ThreadVersionConflict":
                    raise await with_last_run(seed_input, refusal) from refusal
        moved_on = f"thread {seed_input.thread_id} moved on at every try; start again"
        raise await with_last_run(seed_input, StartRefusal(Refused("ThreadBusy", moved_on)))

    async def _open(self, seeded: SeedResult, request: RunRequest) -> Ended | None:
        cancel = self.inbox.cancel
        cause = None if cancel is None else cancelled_cause(cancel.reason)
        plan, held, reply = await open_run(seeded, request, self._path, cause)
        self.plan, self.seeded = plan, seeded
        self._started(seeded, held, [])
        return Ended(cause, reply.result or {}, reply.queued) if cause is not None else None

    def _adopt_restored(self, seeded: SeedResult) -> Ended | None:
        assert seeded.restored is not None
        stored = seeded.restored
        self.plan, held = restored_run(seeded)
        self.seeded = seeded
        self._started(seeded, held, stored.decided)
        assert self._seed_input is not None
        queue_content(seeded, self._seed_input.request, self.inbox.line)
        if stored.cause is None:
            return None
        return Ended(stored.cause, stored.result or {}, seeded.queued > 0)

    def _started(self, seeded: SeedResult, held: Held, decided: list[TicketClosing]) -> None:
        assert self.plan is not None
        asks = {
            node.id: self.plan.resolved.type_of(node.id).can_ask
            for node in self.plan.resolved.graph.nodes
        }
        self.inbox.started(
            seeded.run_id,
            seeded.thread_id,
            asks,
            decided,
            on_busy=seeded.config.on_busy,
            unnamed_used=held.head.counters.get(UNNAMED, 0) > 0,
        )
        self._length.begun()
        self._adopt(held)

    def _is_ephemeral(self) -> bool:
        return self.seeded is not None and self.seeded.config.checkpoint_store == EPHEMERAL

    # --- the loop ---------------------------------------------------------------------------

    async def _go_on(self) -> Outcome:
        while True:
            try:
                outcome = await self._pass()
            except LogIsAhead:
                outcome = await self._restore()
            if outcome is not None:
                return outcome

    async def _pass(self) -> Outcome | None:
        self._effects.raise_broken()
        if await self._commit_completions():
            return None
        ending = self._why_end()
        if ending is not None and not self._effects.in_flight:
            return await self._end(ending)
        if ending is None:
            if await self._commit_command() or await self._commit_budget_pause():
                return None
            if self._wants_new_execution():
                if not self._effects.in_flight:
                    return GoesOn()
            else:
                self._dispatch()
        await workflow.wait_condition(self._something_to_do)
        self._path.breathe()
        if self.inbox.cancel is not None:
            self._effects.withdraw()
        return None

    def _something_to_do(self) -> bool:
        if self._effects.finished or self._effects.broken is not None:
            return True
        ending = self._why_end()
        if ending is not None:
            cancelled = self.inbox.cancel is not None
            return not self._effects.in_flight or (cancelled and self._effects.can_withdraw)
        return (
            self.inbox.has_commands
            or bool(self._deadlines.due)
            or (self._wants_new_execution() and not self._effects.in_flight)
        )

    async def _commit_completions(self) -> bool:
        plan, held = self._live()
        batch, settled = Batch(held), 0
        finished = self._effects.finished
        while batch.has_room:
            if settled < len(finished):
                ending = batch.add(settle(plan, batch.held, finished[settled]))
                settled += 1
            else:
                execution = self._next_control(batch.held)
                if execution is None:
                    break
                ending = batch.add(settle(plan, batch.held, execution))
            self._ending = self._ending or ending
        if batch.operations:
            self._accept(await self._path.completions(batch.operations), batch.held)
        for _ in range(settled):
            finished.popleft()
        return bool(batch.operations) or settled > 0

    def _next_control(self, held: Held) -> Execution | None:
        return None if self._is_held_back(held) else next_control(held)

    def _is_held_back(self, held: Held) -> bool:
        """Whether nothing new may start: a cancel, an end, or a pause is at hand."""
        return (
            self.inbox.cancel is not None
            or self.inbox.pause_pending
            or self._ending is not None
            or held.pause is not None
            or held.head.verdict is not None
        )

    def _dispatch(self) -> None:
        plan, held = self._live()
        if self._is_held_back(held):
            return
        for execution in pass_budget.within(held):
            if not self._effects.is_started(execution):
                self._effects.start(plan, held, execution)

    def _wants_new_execution(self) -> bool:
        assert self.seeded is not None
        return self._length.is_over(self.seeded.continue_after)

    # --- commands ---------------------------------------------------------------------------

    async def _commit_command(self) -> bool:
        command = self.inbox.take()
        if command is None:
            return await self._commit_expiry()
        plan, held = self._live()
        if isinstance(command, AnswerTaken):
            await self._settle(held, settle(plan, held, command), command.closing)
        elif isinstance(command, PauseTaken):
            ticket = pause_ticket(held, command.reason)
            await self._decide(held, pause_commit(held, ticket), None)
        else:
            await self._lift(held, command)
        return True

    async def _commit_budget_pause(self) -> bool:
        """Pause a run that has spent its passes, once what lies within them has ended."""
        _, held = self._live()
        if held.pause is not None or self._effects.in_flight:
            return False
        if not pass_budget.is_reached(held, self._effects.is_started):
            return False
        ticket = pause_ticket(held, pass_budget.REASON, pass_budget.said_of(held))
        await self._decide(held, pause_commit(held, ticket), None)
        return True

    async def _commit_expiry(self) -> bool:
        """Commit the next expiry; an answer that was taken before it has won already."""
        plan, held = self._live()
        while self._deadlines.due:
            ticket = self._deadlines.due.popleft()
            found = next((item for item in held.open_tickets if item.body.ticket == ticket), None)
            if found is None or not self.inbox.expire(expiry(plan, found)):
                continue
            closing = expiry(plan, found)
            await self._settle(held, settle_expiry(plan, held, closing), closing)
            return True
        return False

    async def _settle(self, held: Held, settled: Settled, closing: TicketClosing) -> None:
        if isinstance(settled, Ending):
            self._ending, self._ending_closed = settled, (closing,)
            return
        commit, position = settled
        await self._decide(held, commit, position)

    async def _lift(self, held: Held, command: LiftTaken) -> None:
        pause = held.pause
        if pause is not None:
            closing = TicketClosing(
                ticket=pause.ticket,
                outcome="answered",
                actor=command.actor,
                command_id=command.command_id,
            )
            await self._decide(held, lift_commit(held, closing), None)

    async def _decide(self, held: Held, commit: ThreadCommit, position: Position | None) -> None:
        reply = await self._path.decision(self._operation(held, commit), summary_of(commit))
        self._accept(reply, after(held, commit, position), commit.closed)

    # --- the end ----------------------------------------------------------------------------

    def _why_end(self) -> Ending | None:
        plan, held = self._live()
        return reason_to_end(plan, held, self.inbox.cancel, self._ending)

    async def _end(self, ending: Ending) -> Ended:
        _, held = self._live()
        status = RESULT_STATUS[ending.cause.kind]
        commit = end_commit(held, ending.cause, status, ending.report, self._ending_closed)
        reply = await self._path.end(self._operation(held, commit))
        self._accept(reply, after(held, commit))
        self._delays.keep_only([])
        self.inbox.ended(ending.cause.kind)
        return Ended(ending.cause, reply.result or {}, reply.queued)

    # --- what is held -----------------------------------------------------------------------

    def _live(self) -> tuple[Plan, Held]:
        assert self.plan is not None
        assert self.held is not None
        return self.plan, self.held

    def _operation(self, held: Held, commit: ThreadCommit) -> CommitOperation:
        return operation(
            commit,
            ordinal=held.next_ordinal,
            owner_epoch=held.facts.owner_epoch,
            expected_thread_version=held.thread_version,
        )

    def _accept(self, reply: CommitReply, held: Held, closed: Sequence[TicketClosing] = ()) -> None:
        """Adopt ``held`` if the log's reply allows it.

        A commit that no log would take, whatever it holds, ends the run as an error in its
        place; what was committed before it stays.

        Raises:
            LogIsAhead: The log holds something else, or more.
            FencedOff: A newer owner holds the run.
        """
        refusal = reply.refusal
        if refusal is not None:
            if refusal.code == "Fenced":
                raise FencedOff(refusal.message)
            if refusal.code in LOG_IS_AHEAD or reply.accepted or self._ending is not None:
                raise LogIsAhead
            cause = EndCause(
                kind="Error",
                message=f"{refusal.code}: {refusal.message}",
                details={"code": refusal.code},
            )
            self._ending = Ending(cause=cause, report={})
            return
        if reply.duplicate and not reply.last:
            raise LogIsAhead
        assert self.held is not None
        self._adopt(with_times(replace(held, times=self.held.times), reply.times), closed)

    def _adopt(self, held: Held, closed: Sequence[TicketClosing] = ()) -> None:
        self.held = held
        self.inbox.tickets_changed(
            held.open_tickets, lambda node_id: next_occurrence(held.position, node_id), closed
        )
        self._deadlines.keep(held.open_tickets)
        plan, _ = self._live()
        seeded = self.seeded
        self._display.show(plan, held, None if seeded is None else seeded.search_attributes)

    async def _restore(self) -> Ended | None:
        assert self._seed_input is not None
        # Without its request it can only be restored, or wait for a log that knows it.
        seeded = await seed(self._seed_input.model_copy(update={"request": None}))
        if seeded.kind != "restore":
            raise StartRefusal(
                Refused("CorruptLog", f"the log no longer holds run {seeded.run_id}")
            )
        self._ending, self._ending_closed = None, ()
        ended = self._adopt_restored(seeded)
        _, held = self._live()
        self._effects.keep_only(due(held.position))
        if ended is not None:
            self.inbox.ended(ended.cause.kind)
        return ended
