"""A call between its intent and its outcome: what the ledger is asked and told, and when."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from activities import NodeCall
from activities.effect_calls import EffectCall, arguments_hash
from activities.judging_outcomes import Crash, NodeEnd
from activities.log import CommitLog
from seeding.commits import Disposition, Opening, ThreadCommit, operation
from seeding.errors import CommitUnavailable, Fenced
from workflows.wire import AskWire, NodeCallInput, NodeCallResult, NodeFailureWire

CALL = NodeCallInput(
    type="pay",
    thread_id="t",
    run_id="r",
    node_id="pay",
    occurrence=0,
    effect_key="k" * 40,
    ordinal=0,
    inputs={"amount": 150},
)
PAID = NodeEnd(result=NodeCallResult(outputs={"paid": 150, "note": None}))


class AwayLog(CommitLog):
    """A log that does not answer the ledger's writes as often as told, and may be held up."""

    away: int = 0
    tries: int = 0
    held: asyncio.Event | None = None

    async def begin_effect_async(self, *given: Any, **named: Any) -> Any:
        await self._answer()
        return await super().begin_effect_async(*given, **named)

    async def finish_effect_async(self, *given: Any, **named: Any) -> Any:
        await self._answer()
        return await super().finish_effect_async(*given, **named)

    async def _answer(self) -> None:
        self.tries += 1
        if self.held is not None:
            await self.held.wait()
        if self.away > 0:
            self.away -= 1
            raise CommitUnavailable("database is locked")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[AwayLog]:
    """A log with run r, which is open."""
    with AwayLog.open(f"sqlite:///{tmp_path / 'log.db'}") as opened:
        opening = Opening(run_epoch=1, chain_id="r", graph_id="g", graph_digest="f" * 64)
        commit = ThreadCommit(
            thread_id="t", run_id="r", disposition=Disposition(kind="Running"), opening=opening
        )
        opened.append([operation(commit, ordinal=0, owner_epoch=1, expected_thread_version=0)])
        yield opened


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.effect_calls.LOG_WAIT_SECONDS", 0.01)


def effect_of(
    log: CommitLog, said: list[str | None] | None = None, seconds: float = 60
) -> EffectCall:
    told: list[str | None] = [] if said is None else said
    return EffectCall(
        log,
        CALL,
        "a" * 64,
        last_moment=asyncio.get_running_loop().time() + seconds,
        waits_for=told.append,
    )


def call(**changes: Any) -> NodeCall:
    given: dict[str, Any] = {
        "inputs": {"amount": 150},
        "config": {"account": "savings"},
        "effect_key": "k",
        "thread_id": "t",
        "run_id": "r",
        "node_id": "pay",
        "occurrence": 0,
        **changes,
    }
    return NodeCall(**given)


class TestArguments:
    def test_type_inputs_and_config_make_a_call_what_it_is(self) -> None:
        hashes = [
            arguments_hash("pay", call()),
            arguments_hash("refund", call()),
            arguments_hash("pay", call(inputs={"amount": 151})),
            arguments_hash("pay", call(inputs={"amount": 150.0})),
            arguments_hash("pay", call(inputs={"sum": 150})),
            arguments_hash("pay", call(config={"account": "current"})),
        ]
        assert len(dict.fromkeys(hashes)) == len(hashes)

    def test_the_order_of_names_and_the_moment_of_the_thread_do_not(self) -> None:
        given = arguments_hash("pay", call(inputs={"a": 1, "b": {"x": 1, "y": 2}}))
        turned = call(inputs={"b": {"y": 2, "x": 1}, "a": 1}, internal={"__messages__": [1]})
        assert arguments_hash("pay", turned) == given

    def test_ports_whose_names_are_one_text_in_nfc_have_a_hash(self) -> None:
        assert len(arguments_hash("pay", call(inputs={"e\u0301": 1, "\u00e9": 2}))) == 64


@pytest.mark.parametrize(
    ("end", "status", "code"),
    [
        (PAID, "done", None),
        (NodeEnd(result=NodeCallResult(ask=AskWire(message="Which?"))), "asked", None),
        (
            NodeEnd(result=NodeCallResult(failure=NodeFailureWire(message="no", code="empty"))),
            "failed",
            "empty",
        ),
        (NodeEnd(crash=Crash(type="ValueError", message="boom")), "failed", "ValueError"),
    ],
    ids=["outputs", "question", "failure", "crash"],
)
async def test_a_call_that_finished_is_answered_with_exactly_what_it_came_to(
    log: AwayLog, end: NodeEnd, status: str, code: str | None
) -> None:
    effect = effect_of(log)
    assert await effect.begin() is None
    await effect.finish(end)

    assert await effect_of(log).begin() == end
    [row] = log.effects("t")
    assert (row.status, row.code, row.attempts) == (status, code, 1)


async def test_a_failure_that_may_be_tried_again_is_tried_again(log: AwayLog) -> None:
    busy = NodeFailureWire(message="not yet", code="busy", retryable=True)
    effect = effect_of(log)
    await effect.begin()
    await effect.finish(NodeEnd(result=NodeCallResult(failure=busy)))

    again = effect_of(log)
    assert await again.begin() is None
    await again.finish(PAID)
    [row] = log.effects("t")
    assert (row.status, row.code, row.attempts) == ("done", None, 2)


async def test_the_log_is_waited_for_before_the_call_and_what_it_said_is_told(
    log: AwayLog,
) -> None:
    log.away, said = 3, list[str | None]()
    assert await effect_of(log, said).begin() is None
    assert said == ["database is locked"] * 3 + [None]
    assert log.effects("t")[0].attempts == 1


async def test_the_log_is_waited_for_after_the_call(log: AwayLog) -> None:
    said = list[str | None]()
    effect = effect_of(log, said)
    await effect.begin()
    log.away = 3
    await effect.finish(PAID)
    assert said == [None, *["database is locked"] * 3, None]
    assert log.effects("t")[0].status == "done"


async def test_the_log_is_asked_once_at_least_and_not_beyond_the_last_moment(
    log: AwayLog,
) -> None:
    effect = effect_of(log, seconds=0)
    await effect.begin()
    log.away, log.tries = 1000, 0
    await effect.finish(PAID)
    assert log.tries == 1
    assert log.effects("t")[0].status == "begun"


async def test_a_write_that_has_begun_when_the_worker_stops_is_finished(log: AwayLog) -> None:
    effect = effect_of(log)
    await effect.begin()
    log.held, log.tries = asyncio.Event(), 0
    finishing = asyncio.create_task(effect.finish(PAID))
    while log.tries == 0:
        await asyncio.sleep(0)
    finishing.cancel()
    await asyncio.sleep(0)
    assert not finishing.done()

    log.held.set()
    assert await finishing is None, "what the node came to is reported, not the stop"
    assert log.effects("t")[0].status == "done"


async def test_a_worker_that_stops_does_not_wait_for_a_log_that_is_away(log: AwayLog) -> None:
    effect = effect_of(log)
    await effect.begin()
    log.away, log.tries = 1000, 0
    finishing = asyncio.create_task(effect.finish(PAID))
    while log.tries < 2:
        await asyncio.sleep(0)
    finishing.cancel()
    await finishing
    assert log.effects("t")[0].status == "begun"


async def test_a_slow_attempt_that_has_a_successor_is_refused(log: AwayLog) -> None:
    slow, quick = effect_of(log), effect_of(log)
    await slow.begin()
    await quick.begin()
    await quick.finish(PAID)
    with pytest.raises(Fenced):
        await slow.finish(NodeEnd(result=NodeCallResult(outputs={"paid": 151})))
    assert await effect_of(log).begin() == PAID
