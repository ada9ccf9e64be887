"""One run whose workers die at random, by seed, beside the same run whose worker lived.

Each worker process hangs at whichever point is the n-th it comes to, and is killed there, or is
stopped until the last worker serves. Before the next one is there a pause, a cancel or a message
may arrive. Gates and questions are answered as soon as the log shows them, with an answer that
depends on the seed and the ticket alone, so that the thread does not depend on when.
"""

import asyncio
import random
import sqlite3
import traceback
from collections.abc import Callable
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError

from seeding.model import JsonObject
from seeding.tickets import OpenTicket
from tests.engine.charges import Charges
from tests.engine.crashing import (
    WorkerProcess,
    assert_whole,
    begin,
    died_on,
    lived_on,
    paying_chain,
    thread_of,
    worker_process,
)
from tests.engine.graphs import graph
from tests.engine.stage import Handle, Stage, closed

PATIENCE = 60.0
MOST_CRASHES = 3
LAST_POINT = 22
"""A worker hangs at one of its first so many points; a run of one worker has about 40."""

STATUS = {
    "NaturalEnd": WorkflowExecutionStatus.COMPLETED,
    "Cancelled": WorkflowExecutionStatus.CANCELED,
}


def loop_with_gates(service: Path) -> JsonObject:
    """Return a loop in which each item is charged and then approved."""
    return graph(
        "loop-with-gates",
        {
            "items": ("value", {"value": [1, 2, 3]}),
            "each": "for_each",
            "pay": ("pays", {"service": str(service)}),
            "gate": ("gate", {"kind": "approval", "message": "{receipt}?"}),
            "tell": ("reply", {"message": "{results}"}),
        },
        "items.value -> each.items",
        "each.current_item -> pay.item",
        "pay.receipt -> gate.receipt",
        "gate.answer -> each.loop_back",
        "each.collected_results -> tell.results",
    )


def charges_side_by_side(service: Path) -> JsonObject:
    """Return three charges at once, what joins them, and one more charge."""
    charging = {"service": str(service)}
    return graph(
        "charges-side-by-side",
        {
            "left": ("pays", charging),
            "middle": ("pays_in_a_thread", charging),
            "right": ("pays", charging),
            "both": "merge",
            "last": ("pays", charging),
            "tell": ("reply", {"message": "{receipt}"}),
        },
        "left.receipt -> both.left",
        "middle.receipt -> both.middle",
        "right.receipt -> both.right",
        "both.merged -> last.all",
        "last.receipt -> tell.receipt",
    )


def asking_between_charges(service: Path) -> JsonObject:
    """Return a charge, a node that asks before it charges, and a message of what was said."""
    charging = {"service": str(service)}
    return graph(
        "asking-between-charges",
        {
            "pay": ("pays", charging),
            "ask": ("asks_then_pays", charging),
            "tell": ("reply", {"message": "{said}"}),
        },
        "pay.receipt -> ask.before",
        "ask.said -> tell.said",
    )


GRAPHS: tuple[Callable[[Path], JsonObject], ...] = (
    paying_chain,
    loop_with_gates,
    charges_side_by_side,
    asking_between_charges,
)


@dataclass(frozen=True)
class Crash:
    """One worker's fate: its last point, whether it comes back, what arrives once it is gone."""

    nth: int
    comes_back: bool
    arrives: str


@dataclass(frozen=True)
class Plan:
    """What happens to the run of a seed."""

    seed: int
    graph: Callable[[Path], JsonObject]
    crashes: tuple[Crash, ...]

    @property
    def arrivals(self) -> frozenset[str]:
        """What arrives in all."""
        return frozenset(crash.arrives for crash in self.crashes)


def plan_of(seed: int) -> Plan:
    """Return the plan of a seed."""
    chance = random.Random(seed)
    crashes = tuple(
        Crash(
            nth=chance.randint(1, LAST_POINT),
            comes_back=chance.random() < 0.2,
            arrives=chance.choices(
                ("nothing", "pause", "message", "cancel", "native cancel"), (10, 4, 2, 1, 1)
            )[0],
        )
        for _ in range(chance.randint(1, MOST_CRASHES))
    )
    return Plan(seed, GRAPHS[seed % len(GRAPHS)], crashes)


async def crash_at_random(
    client: Client, folder: Path, seed: int, log_url: str | None = None
) -> None:
    """Run the plan of a seed and assert that nothing was lost and nothing happened twice.

    Args:
        client: A client of a server.
        folder: An empty folder for the log and the service.
        seed: Says what happens.
        log_url: Where the log is; by default a SQLite file in the folder.

    Raises:
        AssertionError: Something was; the message names the plan.
    """
    plan = plan_of(seed)
    stage = Stage(client, log_url or f"sqlite:///{folder / 'log.db'}")
    stage.open()
    try:
        await _both(stage, folder / "service", plan)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__} at {where.name}:{where.lineno}: {error}"
        raise AssertionError(f"{plan}: {said}") from error
    finally:
        await stage.close()


async def _both(stage: Stage, service: Path, plan: Plan) -> None:
    request: JsonObject = {"graph": plan.graph(service), "message": "pay"}
    handles = [await begin(stage, died_on(stage), request)]
    answering = asyncio.create_task(_answer_all(stage, plan.seed))
    try:
        async with AsyncExitStack() as workers:
            stopped: list[WorkerProcess] = []
            for crash in plan.crashes:
                worker = await workers.enter_async_context(worker_process(stage, nth=crash.nth))
                if await is_over(handles[0], worker):
                    await worker.kill()
                    break
                # On PostgreSQL a stopped process may hold the lock of its run's own thread.
                if crash.comes_back and stage.log_url.startswith("sqlite"):
                    await _stop_without_the_lock(stage, worker)
                    stopped.append(worker)
                else:
                    await worker.kill()
                await _arrive(handles[0], crash.arrives)
            await workers.enter_async_context(worker_process(stage))
            for worker in stopped:
                worker.go_on()
            handles.append(await begin(stage, lived_on(stage), request))
            for handle in handles:
                await _until_closed(handle)
        status = await closed(handles[0])
    finally:
        answering.cancel()
        for handle in handles:
            with suppress(RPCError):  # It has ended, unless something failed.
                await handle.terminate()
    _judge(stage, service, plan, status)


async def _until_closed(handle: Handle) -> None:
    try:
        await asyncio.wait_for(closed(handle), PATIENCE)
    except TimeoutError:
        described = (await handle.describe()).raw_description
        last = [
            (event.event_id, EventType.Name(event.event_type))
            for event in (await handle.fetch_history()).events
        ][-6:]
        raise AssertionError(
            f"{handle.id} never ended; its last events are {last}, and pending are "
            f"{described.pending_activities} {described.pending_workflow_task}"
        ) from None


async def _stop_without_the_lock(stage: Stage, worker: WorkerProcess) -> None:
    """Stop a process at a moment when no thread of it holds the log's one lock.

    A process that is stopped with it would keep everybody else from writing until it goes on.
    """
    other = sqlite3.connect(stage.log_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("PRAGMA busy_timeout=50")
    with closing(other):
        while True:
            worker.stop()
            with suppress(sqlite3.OperationalError):
                other.execute("BEGIN IMMEDIATE")
                other.execute("ROLLBACK")
                return
            worker.wake()
            await asyncio.sleep(0.02)


async def is_over(handle: Handle, worker: WorkerProcess) -> bool:
    """Wait until the worker hangs, or the run has ended before it came to that."""
    reached = asyncio.create_task(worker.reached())
    ended = asyncio.create_task(closed(handle))
    done, left = await asyncio.wait(  # noqa: TID251
        (reached, ended), return_when=asyncio.FIRST_COMPLETED
    )
    for task in left:
        task.cancel()
    for task in done:
        task.result()
    return reached not in done


async def _arrive(handle: Handle, arrives: str) -> None:
    if arrives == "native cancel":
        await handle.cancel()
    elif arrives == "message":
        await handle.signal("message", {"message": "one more"})
    elif arrives != "nothing":
        await handle.signal(arrives, {})


async def _answer_all(stage: Stage, seed: int) -> None:
    """Answer every ticket of either thread once, and lift every pause."""
    answered: set[str] = set()
    while True:
        for ticket in stage.log.open_tickets():
            name = ticket.body.ticket
            if name not in answered:
                answered.add(name)
                handle = stage.client.get_workflow_handle(f"thread/{ticket.body.thread_id}")
                with suppress(RPCError):  # It has been cancelled meanwhile.
                    await handle.signal("resume", _answer(ticket, seed))
        await asyncio.sleep(0.05)


def _answer(ticket: OpenTicket, seed: int) -> JsonObject:
    body = ticket.body
    if body.kind == "pause":
        return {"ticket": body.ticket}
    chance = random.Random(f"{seed} {body.node_id} {body.occurrence}")
    if body.kind == "approval":
        return {"ticket": body.ticket, "decision": chance.choice(("approve", "deny"))}
    return {"ticket": body.ticket, "value": f"number {chance.randint(1, 1000)}"}


def _judge(stage: Stage, service: Path, plan: Plan, status: WorkflowExecutionStatus) -> None:
    died, lived = died_on(stage), lived_on(stage)
    assert_whole(stage, died)
    assert_whole(stage, lived)
    (run,) = stage.log.runs(died)
    assert run.cause is not None
    assert status == STATUS[run.cause.kind]
    charges = Charges(service)
    assert set(charges.charged(died).values()) <= {1}
    assert all(calls <= 1 + len(plan.crashes) for calls in charges.calls(died).values())
    if plan.arrivals & {"cancel", "native cancel"} and run.cause.kind == "Cancelled":
        return
    assert run.cause.kind == "NaturalEnd"
    assert charges.charged(died) == charges.charged(lived)
    one, other = thread_of(stage, died), thread_of(stage, lived)
    if plan.graph is charges_side_by_side or "pause" in plan.arrivals:
        # Which charge is committed first, and which ordinal a pause takes, is of the moment.
        one, other = _what_it_came_to(one), _what_it_came_to(other)
    assert one == other


def _what_it_came_to(thread: JsonObject) -> JsonObject:
    state = {key: value for key, value in thread["state"].items() if key != "messages"}
    said = [(message["role"], message["content"]) for message in thread["messages"]]
    return {"state": state, "messages": said, "outputs": sorted(map(repr, thread["outputs"][0]))}
