"""One run whose answers, cancels, pauses and messages come at odd moments, by seed.

Answers come early, late, doubled and by both doors, from several people at once; each unnamed one
is sent twice, the copy late. Cancels, pauses and messages come in between, deadlines pass, and
workers are killed at whichever point they have come to. In the end what is still open is answered.
Then the log is asked: each ticket has one outcome, what was acknowledged is that outcome, each
charge was made at most once and only where it was approved, and each message is there once.
"""

import asyncio
import random
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from seeding.model import JsonObject
from tests.engine.crashing import begin, worker_process
from tests.engine.graphs import graph
from tests.engine.queues import ECHO
from tests.engine.random_crashes import is_over
from tests.engine.stage import Handle, Stage, closed, update

PATIENCE = 90.0
SPAN = 0.8
"""Seconds over which what the seed says is sent."""

ANSWERED_AFTER = 1.2
"""Seconds after which whatever is still open is answered."""

Door = Literal["update", "signal"]


def three_gates(service: Path) -> JsonObject:
    """Return three gates that are open at once, each with a charge behind its approval."""
    names = ("left", "middle", "right")
    charging = {"service": str(service)}
    return graph(
        "three-gates",
        {
            **{name: ("gate", {"message": name}) for name in names},
            **{f"pay_{name}": ("pays", charging) for name in names},
        },
        *(f"{name}.approve -> pay_{name}.said" for name in names),
    )


def gates_in_a_loop(service: Path) -> JsonObject:
    """Return a loop with a gate and a charge in each of its two rounds."""
    return graph(
        "gates-in-a-loop",
        {
            "items": ("value", {"value": [1, 2]}),
            "each": "for_each",
            "gate": ("gate", {"message": "{item}?"}),
            "pay_gate": ("pays", {"service": str(service)}),
        },
        "items.value -> each.items",
        "each.current_item -> gate.item",
        "gate.approve -> pay_gate.said",
        "gate.deny -> each.loop_back",
        "pay_gate.receipt -> each.loop_back",
    )


def a_question_and_two_approvals(service: Path) -> JsonObject:
    """Return a node that asks before it charges, and a gate that takes two people."""
    charging = {"service": str(service)}
    return graph(
        "a-question-and-two-approvals",
        {
            "ask": ("asks_then_pays", charging),
            "gate": ("gate", {"message": "Both?", "approvals": 2}),
            "pay_gate": ("pays", charging),
        },
        "ask.said -> gate.said",
        "gate.approve -> pay_gate.said",
    )


def a_gate_that_expires(service: Path) -> JsonObject:
    """Return two gates: one is denied after a second, one stays open."""
    charging = {"service": str(service)}
    return graph(
        "a-gate-that-expires",
        {
            "gate": ("gate", {"message": "Soon?", "deadline": "1s", "onDeadline": "deny"}),
            "pay_gate": ("pays", charging),
            "other": ("gate", {"message": "Ever?"}),
            "pay_other": ("pays", charging),
        },
        "gate.approve -> pay_gate.said",
        "other.approve -> pay_other.said",
    )


@dataclass(frozen=True)
class Shape:
    """A graph and the tickets its run may open, each by node, occurrence and number."""

    graph: Callable[[Path], JsonObject]
    tickets: tuple[str, ...]


SHAPES = (
    Shape(three_gates, ("left:0:0", "middle:0:0", "right:0:0")),
    Shape(gates_in_a_loop, ("gate:0:0", "gate:1:0")),
    Shape(a_question_and_two_approvals, ("ask:0:0", "gate:0:0", "gate:0:1")),
    Shape(a_gate_that_expires, ("gate:0:0", "other:0:0")),
)


@dataclass(frozen=True)
class Step:
    """One thing that is sent; ``ticket`` stands for the run's ticket of that name."""

    after: float
    door: Door
    name: str
    payload: JsonObject
    ticket: str | None = None


@dataclass(frozen=True)
class Schedule:
    """What happens to the run of a seed."""

    seed: int
    shape: Shape
    steps: tuple[Step, ...]
    kills: tuple[int, ...]

    @property
    def may_cancel(self) -> bool:
        """Whether anything that is sent may end the run early."""
        return any(
            step.name == "cancel" or step.payload.get("onBusy") == "supersede"
            for step in self.steps
        )


@dataclass
class Told:
    """What the senders were told: accepted answers, by command id, and accepted messages."""

    answers: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    messages: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Played:
    """What came of a schedule, for who judges it."""

    stage: Stage
    service: Path
    schedule: Schedule
    told: Told
    status: WorkflowExecutionStatus
    failure: str
    refusals: list[JsonObject]


def schedule_of(seed: int) -> Schedule:
    """Return the schedule of a seed."""
    chance = random.Random(seed)
    shape = SHAPES[seed % len(SHAPES)]
    steps: list[Step] = []
    for ticket in shape.tickets:
        for number in range(chance.randint(0, 3)):
            steps += _answers(chance, ticket, f"{ticket} {number}")
    for _ in range(chance.randint(0, 2)):
        unnamed = Step(_when(chance), _door(chance), "resume", {"decision": _decision(chance)})
        # A copy is delivered by the same door, much later.
        steps += [unnamed, Step(unnamed.after + SPAN, "signal", "resume", unnamed.payload)]
    if chance.random() < 0.15:
        steps.append(Step(_when(chance), _door(chance), "cancel", {"reason": "enough"}))
    if chance.random() < 0.3:
        paused = _when(chance)
        steps.append(Step(paused, _door(chance), "pause", {}))
        steps.append(Step(paused + chance.random() * SPAN, _door(chance), "resume", {}))
    for number in range(chance.choice((0, 0, 1, 2))):
        on_busy = "supersede" if chance.random() < 0.1 else "queue"
        said: JsonObject = {"message": f"m{number}", "graph": ECHO, "onBusy": on_busy}
        said["idempotencyKey"] = f"k{number}"
        steps += [Step(_when(chance), _door(chance), "message", said) for _ in range(2)]
    # At once, because a run that is over lists nothing any more.
    steps.append(Step(0, "signal", "resume", {"decision": "approve"}, "nowhere:0:0"))
    kills = tuple(chance.randint(4, 40) for _ in range(chance.choice((0, 0, 0, 1, 2))))
    return Schedule(seed, shape, tuple(sorted(steps, key=lambda step: step.after)), kills)


def _answers(chance: random.Random, ticket: str, command: str) -> list[Step]:
    payload: JsonObject = {
        "decision": _decision(chance),
        "actor": f"person {chance.randint(1, 4)}",
        "commandId": command,
    }
    if ticket.startswith("ask"):
        payload = {**payload, "value": f"by {command}"}
        del payload["decision"]
    first = Step(_when(chance), _door(chance), "resume", payload, ticket)
    if chance.random() < 0.5:
        return [first]
    return [
        first,
        Step(first.after + chance.random() * SPAN, _door(chance), "resume", payload, ticket),
    ]


def _when(chance: random.Random) -> float:
    return chance.random() * SPAN


def _door(chance: random.Random) -> Door:
    return chance.choice(("update", "signal"))


def _decision(chance: random.Random) -> str:
    return chance.choice(("approve", "approve", "deny"))


async def answer_at_random(
    client: Client,
    folder: Path,
    seed: int,
    judge: Callable[[Played], None],
    log_url: str | None = None,
) -> None:
    """Run the schedule of a seed and have it judged.

    Args:
        client: A client of a server.
        folder: An empty folder for the log and the service.
        seed: Says what happens.
        judge: Asserts what has to hold of it.
        log_url: Where the log is; by default a SQLite file in the folder.

    Raises:
        AssertionError: Something does not hold; the message names the schedule.
    """
    schedule = schedule_of(seed)
    stage = Stage(client, log_url or f"sqlite:///{folder / 'log.db'}")
    stage.open()
    try:
        judge(await _played(stage, folder / "service", schedule))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__} at {where.name}:{where.lineno}: {error}"
        raise AssertionError(f"{said} ({schedule})") from error
    finally:
        await stage.close()


async def _played(stage: Stage, service: Path, schedule: Schedule) -> Played:
    thread, told = f"answered-{stage.task_queue}", Told()
    request: JsonObject = {"graph": schedule.shape.graph(service), "message": "go"}
    handle = await begin(stage, thread, request)
    sending = [asyncio.create_task(_sent(handle, step, told)) for step in schedule.steps]
    finishing = asyncio.create_task(_finish(stage, handle))
    try:
        await _killed(stage, handle, schedule.kills)
        await stage.serve()
        async with asyncio.timeout(PATIENCE):
            # Messages begin further runs of the thread; this one is asked by its own id.
            own = stage.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
            status = await closed(own)
            failure = await _failure_of(own)
            await asyncio.gather(*sending)
            await _turns_over(stage, thread, told)
        refusals = await own.query("refusals")
    finally:
        for task in (*sending, finishing):
            task.cancel()
        with suppress(RPCError):  # It has ended, unless something failed.
            await handle.terminate()
    return Played(stage, service, schedule, told, status, failure, refusals)


async def _failure_of(handle: Handle) -> str:
    """Return what a closed run failed with, for the message of a judgement."""
    try:
        await handle.result()
    except WorkflowFailureError as error:
        return repr(error.cause)
    return ""


async def _killed(stage: Stage, handle: Handle, kills: tuple[int, ...]) -> None:
    """Let one worker process after the other come to its point and die there."""
    for nth in kills:
        async with worker_process(stage, nth=nth) as worker:
            over = await is_over(handle, worker)
            await worker.kill()
        if over:
            return


async def _sent(handle: Handle, step: Step, told: Told) -> None:
    await asyncio.sleep(step.after)
    payload = step.payload
    if step.ticket is not None:
        payload = {**payload, "ticket": f"{handle.first_execution_run_id}:{step.ticket}"}
    if step.door == "signal":
        with suppress(RPCError):  # The run is over.
            await handle.signal(step.name, payload)
        return
    try:
        reply: Any = await asyncio.wait_for(update(handle, step.name, payload), PATIENCE / 2)
    except (RPCError, TimeoutError):
        return
    except WorkflowUpdateFailedError as error:
        assert isinstance(error.cause, ApplicationError)
        return
    assert reply["accepted"] is True
    if step.name == "message":
        told.messages.append(payload["message"])
    elif "commandId" in payload and not reply["pending"]:
        told.answers[payload["commandId"]] = {**payload, "ticket": reply["ticket"]}


async def _finish(stage: Stage, handle: Handle) -> None:
    """After a while answer whatever is open, and lift every pause, until the run is over."""
    await asyncio.sleep(ANSWERED_AFTER)
    while True:
        for ticket in stage.log.open_tickets():
            body = ticket.body
            answer: JsonObject = {"ticket": body.ticket}
            if not body.is_pause:
                given = {"value": "last"} if body.kind == "text" else {"decision": "approve"}
                answer |= {**given, "actor": f"last {body.ticket}", "commandId": body.ticket}
            with suppress(RPCError):  # It has ended meanwhile.
                await handle.signal("resume", answer)
        await asyncio.sleep(0.2)


async def _turns_over(stage: Stage, thread: str, told: Told) -> None:
    """Wait until every queued turn has run."""
    while True:
        turns = await stage.log.queued_turns_async(thread)
        runs = await stage.log.runs_async(thread)
        if all(run.phase == "ended" for run in runs) and all(
            turn.state != "queued" for turn in turns
        ):
            assert {turn.request["message"] for turn in turns} >= set(told.messages)
            return
        await asyncio.sleep(0.05)
