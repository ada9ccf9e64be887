"""The queue of a thread's turns, whatever happens meanwhile (design 4; KU-35, PB-E2)."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
)
from temporalio.common import RawValue, WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from seeding.model import JsonObject
from seeding.queued_turns import NewTurn
from seeding.request import parse_request
from tests.engine.gone import terminated
from tests.engine.graphs import graph, held_chain, until_called
from tests.engine.nodes import GATES
from tests.engine.queues import (
    ECHO,
    GATED,
    ended_runs,
    has_queue,
    queue_closed,
    said,
    send,
    states,
    until_turn,
)
from tests.engine.stage import Handle, Stage, failure_of, staged, until, update

FAILS = graph("fails", {"pay": ("fails_with", {"code": "no"})})


async def queued(stage: Stage, thread: str, request: JsonObject) -> JsonObject:
    """Put a start request into the queue by its own door, whatever the thread is doing."""
    start: WithStartWorkflowOperation[Any, Any] = WithStartWorkflowOperation(
        "TurnQueue",
        id=f"queue/{thread}",
        task_queue=stage.task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
    )
    # The SDK leaves a type of one overload open.
    return await stage.client.execute_update_with_start_workflow(  # pyright: ignore[reportUnknownMemberType]
        "turn", request, start_workflow_operation=start
    )


def put(stage: Stage, thread: str, request: JsonObject, operation: str | None = None) -> None:
    """Put a turn into the log, where no queue looks at it yet."""
    count = len(stage.log.queued_turns(thread))
    turn = NewTurn(
        operation=operation or f"by hand {count}",
        request=parse_request(request, f"thread/{thread}"),
        graph_given=True,
        namespace="default",
    )
    stage.log.queue_turn(thread, turn)


def put_past_the_key(stage: Stage, thread: str, request: JsonObject) -> None:
    """Put a turn into the log as one that came when its key had not begun a run yet."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("activities.log.turn_rows._sent_before", _unknown)
        put(stage, thread, request)


def _unknown(*_sent: object) -> None:
    """Know no turn that was sent before."""


class TestDoor:
    async def test_a_whole_start_request_is_queued_behind_an_open_run(self, stage: Stage) -> None:
        handle = await stage.start("door", {"graph": GATED, "message": "0"})
        run_id = (await until(handle, "awaiting"))["run"]["runId"]

        reply = await queued(
            stage,
            "door",
            {
                "graph": ECHO,
                "message": "1",
                "data": {"x": 1},
                "metadata": {"y": 2},
                "config": {"onBusy": "queue", "maxIterations": 7},
            },
        )

        assert (reply["runId"], reply["queuedTurn"]) == (run_id, 1)
        await handle.signal("cancel", {})
        runs = await ended_runs(stage, "door", 2)
        assert runs[1].config["maxIterations"] == 7
        state = stage.log.state("door").state
        assert (state.data, state.metadata) == ({"x": 1}, {"y": 2})

    async def test_on_an_idle_thread_it_starts_at_once(self, stage: Stage) -> None:
        request: JsonObject = {"graph": ECHO, "message": "1", "config": {"onBusy": "queue"}}

        reply = await queued(stage, "door-idle", request)

        assert (reply["runId"], reply["queuedTurn"]) == (None, 1)
        await ended_runs(stage, "door-idle", 1)
        assert await queue_closed(stage, "door-idle") == WorkflowExecutionStatus.COMPLETED
        assert said(stage, "door-idle") == ["1"]

    async def test_one_that_supersedes_cancels_the_open_run(self, stage: Stage) -> None:
        handle = await stage.start("door-supersedes", {"graph": GATED})
        await until(handle, "awaiting")
        request: JsonObject = {"graph": ECHO, "message": "1", "config": {"onBusy": "supersede"}}

        await queued(stage, "door-supersedes", request)

        runs = await ended_runs(stage, "door-supersedes", 2)
        causes = [(run.cause.kind, run.cause.message) for run in runs if run.cause is not None]
        assert causes == [("Cancelled", "superseded"), ("NaturalEnd", None)]

    async def test_what_can_be_no_turn_is_refused_by_name(self, stage: Stage) -> None:
        async def code(**more: object) -> str:
            request = {"graph": ECHO, "config": {"onBusy": "queue"}, **more}
            try:
                await queued(stage, "door-refuses", request)
            except WorkflowUpdateFailedError as error:
                assert isinstance(error.cause, ApplicationError)
                return str(error.cause.type)
            raise AssertionError("it was taken")

        assert await code(config={}) == "InvalidCommand"
        assert await code(graph=7) == "InvalidRequest"
        assert await code(graph="nowhere") == "UnknownGraph"
        assert await code(forkFrom="r:1") == "InvalidRequest"
        assert await code(queuedTurn=3) == "InvalidRequest"
        assert stage.log.queued_turns("door-refuses") == []


class TestStarts:
    async def test_a_start_does_not_go_before_what_is_queued(self, stage: Stage) -> None:
        await stage.run("line", {"graph": ECHO, "message": "0"})
        put(stage, "line", {"graph": ECHO, "message": "1", "idempotencyKey": "k"})

        held = await failure_of(await stage.start("line", {"graph": ECHO, "message": "2"}))

        assert held.type == "ThreadBusy"
        assert held.details[0]["details"] == {"runId": None, "tickets": [], "queued": 1}
        await ended_runs(stage, "line", 2)
        assert said(stage, "line") == ["0", "1"]

    async def test_a_start_under_the_key_of_a_queued_turn_is_that_turn(self, stage: Stage) -> None:
        sent: JsonObject = {"graph": ECHO, "message": "1", "idempotencyKey": "k"}
        put(stage, "line-key", sent)

        held = await failure_of(await stage.start("line-key", sent))

        assert (held.type, held.details[0]["details"]["queuedTurn"]) == ("ThreadBusy", 1)
        other = await failure_of(await stage.start("line-key", {**sent, "message": "2"}))
        assert other.type in ("IdempotencyKeyReuse", "ThreadBusy")
        await ended_runs(stage, "line-key", 1)
        assert said(stage, "line-key") == ["1"]

    @pytest.mark.parametrize("sender", ["its own door", "another"])
    async def test_a_start_goes_before_what_is_queued_once_it_is_there(
        self, idle: Stage, sender: str
    ) -> None:
        thread = f"line-later-{sender}"
        handle = await idle.start(thread, {"graph": ECHO, "message": "0"})
        own = f"{handle.first_execution_run_id}:1:x" if sender == "its own door" else "other"
        put(idle, thread, {"graph": ECHO, "message": "1"}, operation=own)

        await idle.serve()

        assert (await handle.result())["status"] == "completed"
        await ended_runs(idle, thread, 2)
        assert said(idle, thread) == ["0", "1"]

    async def test_a_turn_whose_key_has_begun_a_run_meanwhile_begins_no_other(
        self, stage: Stage
    ) -> None:
        sent: JsonObject = {"graph": ECHO, "message": "1", "idempotencyKey": "k"}
        failing: JsonObject = {**sent, "graph": FAILS}
        for thread, request in (("begun", sent), ("begun-failed", failing)):
            handle = await stage.start(thread, request)
            with suppress(WorkflowFailureError):
                await handle.result()
            for message in ("1", "2"):
                put_past_the_key(stage, thread, {**request, "message": message})
            await queued(stage, thread, {"graph": ECHO, "config": {"onBusy": "queue"}})

            runs = await ended_runs(stage, thread, 2)

            assert len(runs) == 2
            turns = stage.log.queued_turns(thread)
            assert [turn.state for turn in turns] == ["started", "refused", "started"]
            assert turns[0].run_id == runs[0].run_id
            assert turns[1].refusal is not None
            assert turns[1].refusal["code"] == "IdempotencyKeyReuse"

    async def test_abandon_goes_before_them(self, stage: Stage) -> None:
        handle = await stage.start("line-abandoned", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        await send(handle, "1", graph=ECHO)
        await terminated(handle)

        await stage.run("line-abandoned", {"graph": ECHO, "message": "2", "abandon": True})

        await ended_runs(stage, "line-abandoned", 3)
        assert said(stage, "line-abandoned") == ["0", "2", "1"]

    async def test_no_stranger_says_that_a_start_is_a_queued_turn(self, stage: Stage) -> None:
        put(stage, "forged", {"graph": ECHO, "message": "1"})

        for request in ({"message": "2", "queuedTurn": 1}, {"message": "1", "queuedTurn": 2}):
            failure = await failure_of(await stage.start("forged", {"graph": ECHO, **request}))
            assert failure.type == "InvalidRequest"

        assert states(stage, "forged") == ["queued"]

    async def test_a_refused_turn_leaves_the_queue_and_the_next_one_starts(
        self, stage: Stage
    ) -> None:
        put(stage, "refused-turn", {"graph": "nowhere", "message": "m"})
        put(stage, "refused-turn", {"graph": ECHO, "message": "m"})

        await queued(
            stage, "refused-turn", {"graph": ECHO, "message": "n", "config": {"onBusy": "queue"}}
        )

        await ended_runs(stage, "refused-turn", 2)
        assert states(stage, "refused-turn") == ["refused", "started", "started"]
        refusal = stage.log.queued_turns("refused-turn")[0].refusal
        assert refusal is not None
        assert refusal["code"] == "UnknownGraph"
        assert said(stage, "refused-turn") == ["m", "n"]

    async def test_what_a_start_brings_to_a_run_it_takes_over_is_the_next_turn(
        self, stage: Stage
    ) -> None:
        handle = await stage.start("brought", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        await terminated(handle)

        again = await stage.start(
            "brought", {"graph": GATED, "message": "1", "config": {"onBusy": "queue"}}
        )

        await until(again, "awaiting")
        await until_turn(stage, "brought", 1, "queued")
        assert said(stage, "brought") == ["0"]
        await update(again, "resume", {"decision": "approve"})
        await until_turn(stage, "brought", 1, "started")
        assert said(stage, "brought") == ["0", "1"]

    async def test_ku_38_a_request_with_a_history_is_applied_once_however_often_it_is_sent(
        self, stage: Stage
    ) -> None:
        handle = await stage.start("history", {"graph": GATED})
        await until(handle, "awaiting")
        request: JsonObject = {
            "graph": ECHO,
            "messages": [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}],
            "data": {"seen": [1]},
            "idempotencyKey": "k",
            "config": {"onBusy": "queue"},
        }

        replies = [await queued(stage, "history", request) for _ in range(3)]

        assert [reply["duplicate"] for reply in replies] == [False, True, True]
        await handle.signal("cancel", {})
        await ended_runs(stage, "history", 2)
        assert (await queued(stage, "history", request))["duplicate"] is True
        assert said(stage, "history") == ["a", "b"]
        assert stage.log.state("history").state.data == {"seen": [1]}
        assert len(stage.log.runs("history")) == 2


class TestLosses:
    async def test_a_message_that_comes_before_a_worker_is_not_lost(self, idle: Stage) -> None:
        handle = await idle.start("early", {"graph": GATED, "config": {"onBusy": "queue"}})
        await handle.signal("message", {"message": "1", "graph": ECHO})
        await handle.signal("cancel", {})

        await idle.serve()

        await ended_runs(idle, "early", 2)
        assert said(idle, "early") == ["1"]

    async def test_a_queue_survives_the_loss_of_its_worker(self, stage: Stage) -> None:
        handle = await stage.start("worker-lost", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        await send(handle, "1", graph=ECHO)
        await stage.stop()
        await handle.signal("message", {"message": "2", "graph": ECHO, "onBusy": "queue"})
        await handle.signal("cancel", {})

        await stage.serve()

        await ended_runs(stage, "worker-lost", 3)
        assert said(stage, "worker-lost") == ["0", "1", "2"]
        assert await queue_closed(stage, "worker-lost") == WorkflowExecutionStatus.COMPLETED

    async def test_a_queue_that_was_terminated_goes_on_when_the_run_ends(
        self, stage: Stage
    ) -> None:
        handle = await stage.start("queue-gone", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        await send(handle, "1", graph=ECHO)
        await stage.client.get_workflow_handle("queue/queue-gone").terminate()

        await handle.signal("cancel", {})

        await ended_runs(stage, "queue-gone", 2)
        assert said(stage, "queue-gone") == ["0", "1"]

    async def test_what_a_stranger_starts_as_a_queue_is_in_nobodys_way(self, stage: Stage) -> None:
        handle = await stage.start("strange", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        garbled = Payload(metadata={"encoding": b"binary/strange"}, data=b"x")
        for arguments in ([RawValue(garbled)], [1, {"closing": True}]):
            strange = await stage.client.start_workflow(
                "TurnQueue", args=arguments, id="queue/strange", task_queue=stage.task_queue
            )
            with suppress(WorkflowFailureError):
                await strange.result()

        await send(handle, "1", graph=ECHO)
        queue = stage.client.get_workflow_handle("queue/strange")
        await queue.signal("nonsense", 1)
        await queue.signal("look", RawValue(garbled))
        await handle.signal("cancel", {})

        await ended_runs(stage, "strange", 2)
        assert said(stage, "strange") == ["0", "1"]

    async def test_only_a_thread_has_a_queue(self, stage: Stage) -> None:
        for name in ("queue/a/b", "nonsense"):
            strange = await stage.client.start_workflow(
                "TurnQueue", id=name, task_queue=stage.task_queue
            )
            assert (await failure_of(strange)).type == "InvalidRequest"

    async def test_a_run_whose_workflow_is_gone_while_it_waits_holds_the_queue(
        self, stage: Stage
    ) -> None:
        handle = await stage.start("held", {"graph": GATED, "message": "0"})
        await until(handle, "awaiting")
        await send(handle, "1", graph=ECHO)
        await terminated(handle)
        await stage.client.get_workflow_handle("queue/held").signal("look")

        back = await stage.start("held", {"graph": GATED})

        await until(back, "awaiting")
        assert states(stage, "held") == ["queued"]
        await update(back, "resume", {"decision": "approve"})
        await ended_runs(stage, "held", 2)
        assert said(stage, "held") == ["0", "1"]

    async def test_a_run_that_was_lost_while_it_ran_is_ended_by_the_next_turn(
        self, stage: Stage
    ) -> None:
        handle = await stage.start("lost", {"graph": held_chain("queue-lost"), "message": "0"})
        await until_called("lost", "first:0")
        await send(handle, "1", graph=ECHO)
        await terminated(handle)
        await stage.client.get_workflow_handle("queue/lost").signal("look")

        runs = await ended_runs(stage, "lost", 2)

        causes = [run.cause.kind for run in runs if run.cause is not None]
        assert causes == ["Indeterminate", "NaturalEnd"]
        assert said(stage, "lost") == ["0", "1"]
        GATES["queue-lost"].set()

    async def test_turns_and_keys_are_kept_over_continue_as_new(
        self, client: Client, log_url: str
    ) -> None:
        async with staged(client, log_url, continue_after=20) as stage:
            handle = await stage.start("continued", {"graph": GATED, "message": "0"})
            await until(handle, "awaiting")
            first = [await send(handle, str(n), graph=ECHO) for n in range(1, 9)]
            again = await send(handle, "9", graph=ECHO, idempotencyKey="k")
            assert (await send(handle, "9", graph=ECHO, idempotencyKey="k"))["duplicate"] is True
            assert (await handle.describe()).run_id != handle.first_execution_run_id
            await handle.signal("cancel", {})
            await ended_runs(stage, "continued", 10)
            assert [reply["queuedTurn"] for reply in (*first, again)] == list(range(1, 10))
            assert said(stage, "continued") == [str(n) for n in range(10)]


async def test_a_message_beside_the_end_of_the_run_is_refused_or_a_turn_and_never_both(
    stage: Stage,
) -> None:
    """PB-E2: an accepted message is on the thread exactly once, also while the end is committed."""
    accepted: list[str] = []

    async def offer(handle: Handle, text: str, delay: float) -> None:
        await asyncio.sleep(delay)
        with suppress(RPCError, WorkflowUpdateFailedError):
            await send(handle, text, graph=ECHO)
            accepted.append(text)

    for number in range(3):
        thread = f"beside-{number}"
        handle = await stage.start(thread, {"graph": ECHO, "message": "0"})
        await asyncio.gather(
            *(offer(handle, f"{number}.{n}", 0.01 * n) for n in range(5)), handle.result()
        )
        mine = [text for text in accepted if text.startswith(f"{number}.")]
        await ended_runs(stage, thread, 1 + len(mine))
        assert sorted(said(stage, thread)) == sorted(["0", *mine])
        assert await has_queue(stage, thread) == bool(mine)
    assert accepted
