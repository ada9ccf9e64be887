"""What a passed deadline does to a gate, by its ``onDeadline``; days pass on a server's clock."""

from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import pytest
import pytest_asyncio
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.testing import WorkflowEnvironment

from activities.log import CommitLog
from seeding.model import Json, JsonObject
from tests.engine.stage import Handle, Stage, closed, until, update
from tests.engine.test_gates import asked, gated, second_ticket

LATER = timedelta(days=2, minutes=1)


class MovedLog(CommitLog):
    """A log whose clock is moved with the server's: a deadline counts from the log's own time."""

    ahead = timedelta(0)

    @classmethod
    def open(cls, url: str, *, clock: Callable[[], datetime] | None = None) -> Self:
        return super().open(url, clock=clock or (lambda: datetime.now(UTC) + cls.ahead))


@pytest_asyncio.fixture(loop_scope="session")
async def skipping(skipping_client: Client, log_url: str) -> AsyncGenerator[Stage]:
    """A stage on the server whose time can be moved."""
    stage = Stage(skipping_client, log_url)
    stage.open(MovedLog)
    await stage.serve()
    try:
        yield stage
    finally:
        await stage.close()
        MovedLog.ahead = timedelta(0)


async def move_on(clock: WorkflowEnvironment, handle: Handle, time: timedelta = LATER) -> None:
    MovedLog.ahead += time
    await clock.fast_forward(handle, time)


@pytest.mark.parametrize(
    ("config", "follows", "output"),
    [
        ({"default": "approve"}, "yes", {"answer": "approve", "decision": "approve"}),
        ({"kind": "text", "default": "no word"}, "then", {"answer": "no word", "decision": None}),
        (
            {"kind": "choice", "options": ["a", "b"], "default": "b"},
            "then",
            {"answer": "b", "decision": "b"},
        ),
    ],
    ids=["approval", "text", "choice"],
)
async def test_a_default_is_taken_as_the_answer_and_the_ticket_has_expired(
    skipping: Stage,
    clock: WorkflowEnvironment,
    config: JsonObject,
    follows: str,
    output: dict[str, Json],
    request: pytest.FixtureRequest,
) -> None:
    thread = f"gate-default-{request.node.callspec.id}"
    handle, ticket = await asked(skipping, thread, **config, deadline="2d", onDeadline="default")
    await move_on(clock, handle)
    result = await handle.result()
    assert result["results"]["gate"] == {**output, "actor": None, "expired": True}
    assert [key for key in result["results"] if key != "gate"] == [follows]
    (closing,) = skipping.log.closed_tickets(result["runId"], 10)
    assert (closing.ticket, closing.outcome) == (ticket["ticket"], "expired")


async def test_escalated_it_is_asked_of_somebody_else_once(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    escalating: dict[str, Any] = {
        "deadline": "2d",
        "onDeadline": "escalate",
        "escalateTo": "cfo",
        "who": "ann",
    }
    handle, first = await asked(skipping, "gate-escalated", **escalating)
    await move_on(clock, handle)
    second = await second_ticket(handle, first)
    assert (second["ticket"], second["who"]) == (
        f"{handle.first_execution_run_id}:gate:0:1",
        ["cfo"],
    )
    assert second["message"] == first["message"]
    await update(
        handle, "resume", {"ticket": second["ticket"], "decision": "approve", "actor": "cfo"}
    )
    assert sorted((await handle.result())["results"]) == ["gate", "yes"]
    outcomes = skipping.log.closed_tickets(handle.first_execution_run_id or "", 10)
    assert sorted((item.ticket[-1], item.outcome) for item in outcomes) == [
        ("0", "expired"),
        ("1", "answered"),
    ]


async def test_escalated_and_not_answered_again_it_expires(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    handle, first = await asked(
        skipping, "gate-escalated-twice", deadline="2d", onDeadline="escalate", escalateTo="cfo"
    )
    await move_on(clock, handle)
    await second_ticket(handle, first)
    await move_on(clock, handle)
    result = await handle.result()
    assert sorted(result["results"]) == ["gate", "late"]
    assert result["results"]["gate"]["expired"] is True


async def test_by_cancel_the_run_is_cancelled_and_its_thread_goes_on(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    handle, ticket = await asked(skipping, "gate-cancels", deadline="2d", onDeadline="cancel")
    await move_on(clock, handle)
    assert await closed(handle) == WorkflowExecutionStatus.CANCELED
    (run,) = skipping.log.runs("gate-cancels")
    assert run.cause is not None
    assert (run.cause.kind, run.cause.message) == (
        "Cancelled",
        f"nobody answered ticket {ticket['ticket']} by its deadline",
    )
    (closing,) = skipping.log.closed_tickets(run.run_id, 10)
    assert closing.outcome == "expired"
    again = await skipping.start("gate-cancels", graph=gated())
    await until(again, "awaiting")
    await again.signal("cancel", {})


async def test_kept_it_can_be_answered_long_after_its_deadline(
    skipping: Stage, clock: WorkflowEnvironment
) -> None:
    handle, ticket = await asked(skipping, "gate-keeps", deadline="2d", onDeadline="keep")
    await move_on(clock, handle, timedelta(days=30))
    assert await handle.query("tickets") == [ticket]
    await update(handle, "resume", {"ticket": ticket["ticket"], "decision": "approve"})
    result = await handle.result()
    assert (result["results"]["gate"]["expired"], sorted(result["results"])) == (
        False,
        ["gate", "yes"],
    )
