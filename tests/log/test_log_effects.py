"""The effect ledger: intent before a call, its outcome after, and never another one."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from log_writer import Clock, Writer, dump, next_turn
from sqlalchemy import create_engine, text

from activities.log import CommitLog, EffectIntent, EffectStanding, StoredEffect
from seeding.errors import (
    CorruptLog,
    EffectArgsMismatch,
    Fenced,
    InvalidCommit,
    OperationReused,
    RunNotInLog,
    RunTerminal,
)
from seeding.model import JsonObject

KEY = "k" * 40
ARGUMENTS = "a" * 64
OUTCOME: JsonObject = {"result": {"outputs": {"paid": 150, "note": None}}}
FIRST = EffectStanding(attempt=1)


def intent(run: Writer, **changes: Any) -> EffectIntent:
    given: dict[str, Any] = {
        "effect_key": KEY,
        "thread_id": run.thread_id,
        "run_id": run.run_id,
        "node_id": "pay",
        "occurrence": 0,
        "node_type": "bank",
        "arguments_hash": ARGUMENTS,
        "owner_epoch": run.owner_epoch,
        **changes,
    }
    return EffectIntent(**given)


def stored(run: Writer, **changes: Any) -> StoredEffect:
    given: dict[str, Any] = {
        **dict(intent(run)),
        "status": "begun",
        "code": None,
        "outcome": None,
        "attempts": 1,
        "begun_at": "2030-01-02T12:00:01.000Z",
        "finished_at": None,
        **changes,
    }
    return StoredEffect(**given)


def change(log_url: str, column: str, value: Any) -> None:
    """Change a column of every effect behind the log's back."""
    engine = create_engine(log_url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE effects SET {column} = :value"), {"value": value})
    engine.dispose()


def test_an_intent_is_on_disk_before_the_call(running: Writer) -> None:
    assert running.log.begin_effect(intent(running)) == FIRST
    assert running.log.effects("t") == [stored(running)]


def test_what_a_call_came_to_is_kept_as_it_is(running: Writer) -> None:
    running.log.begin_effect(intent(running))
    assert running.log.finish_effect(KEY, 1, OUTCOME, "done")
    assert running.log.effects("t") == [
        stored(running, status="done", outcome=OUTCOME, finished_at="2030-01-02T12:00:02.000Z")
    ]


@pytest.mark.parametrize(
    ("status", "code"), [("done", None), ("asked", None), ("failed", "no_funds")]
)
def test_a_finished_effect_is_answered_and_no_byte_of_the_log_changes(
    running: Writer, log_url: str, status: Any, code: str | None
) -> None:
    """AW-9: what has happened is not invoked again."""
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, status, code)
    before = dump(log_url)

    known = EffectStanding(attempt=1, status=status, code=code, outcome=OUTCOME)
    assert running.log.begin_effect(intent(running)) == known
    assert running.log.begin_effect(intent(running)) == known
    assert dump(log_url) == before


def test_a_finished_effect_is_known_to_another_process_and_to_the_next_owner(
    running: Writer, log_url: str
) -> None:
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, "done")
    assert running.log.take_over("r1", "chain-2") == 2

    with CommitLog.open(log_url, clock=Clock()) as other:
        known = other.begin_effect(intent(running, owner_epoch=2))
    assert known == EffectStanding(attempt=1, status="done", outcome=OUTCOME)


def test_every_call_of_an_effect_that_has_not_finished_is_an_attempt(running: Writer) -> None:
    attempts = [running.log.begin_effect(intent(running)).attempt for _ in range(3)]
    assert attempts == [1, 2, 3]
    assert running.log.effects("t") == [stored(running, attempts=3)]


def test_pb_e11_an_attempt_that_has_a_successor_changes_nothing(
    running: Writer, log_url: str
) -> None:
    running.log.begin_effect(intent(running))
    running.log.begin_effect(intent(running))
    before = dump(log_url)
    with pytest.raises(Fenced, match="is over: attempt 2 has begun"):
        running.log.finish_effect(KEY, 1, OUTCOME, "done")
    assert dump(log_url) == before

    assert running.log.finish_effect(KEY, 2, {"result": {}}, "done")
    with pytest.raises(Fenced):
        running.log.finish_effect(KEY, 1, OUTCOME, "done")
    assert running.log.effects("t")[0].outcome == {"result": {}}


def test_an_end_that_is_told_twice_is_a_duplicate(running: Writer, log_url: str) -> None:
    """Its acknowledgement was lost."""
    running.log.begin_effect(intent(running))
    assert running.log.finish_effect(KEY, 1, OUTCOME, "done")
    before = dump(log_url)
    assert not running.log.finish_effect(KEY, 1, OUTCOME, "done")
    assert dump(log_url) == before


@pytest.mark.parametrize(
    "other", [({"result": {}}, "done", None), (OUTCOME, "failed", "x"), (None, "begun", "busy")]
)
def test_an_attempt_has_one_end(running: Writer, log_url: str, other: Any) -> None:
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, "done")
    before = dump(log_url)
    with pytest.raises(OperationReused):
        running.log.finish_effect(KEY, 1, *other)
    assert dump(log_url) == before


def test_a_failure_that_may_be_tried_again_is_not_kept_but_its_code_is(running: Writer) -> None:
    running.log.begin_effect(intent(running))
    assert running.log.finish_effect(KEY, 1, None, "begun", "busy")
    assert not running.log.finish_effect(KEY, 1, None, "begun", "busy")
    failed = stored(running, code="busy", finished_at="2030-01-02T12:00:02.000Z")
    assert running.log.effects("t") == [failed]

    assert running.log.begin_effect(intent(running)) == EffectStanding(attempt=2)
    assert running.log.effects("t") == [stored(running, code="busy", attempts=2)]
    assert running.log.finish_effect(KEY, 2, OUTCOME, "done")
    [effect] = running.log.effects("t")
    assert (effect.status, effect.code, effect.attempts) == ("done", None, 2)


def test_pb_b4_the_same_effect_with_other_arguments_is_refused(
    running: Writer, log_url: str
) -> None:
    running.log.begin_effect(intent(running))
    for finish in (False, True):
        if finish:
            running.log.finish_effect(KEY, 1, OUTCOME, "done")
        before = dump(log_url)
        with pytest.raises(EffectArgsMismatch, match="node 'pay', occurrence 0"):
            running.log.begin_effect(intent(running, arguments_hash="b" * 64))
        assert dump(log_url) == before


def test_a_call_of_a_former_owner_is_fenced_and_what_it_began_before_counts(
    running: Writer, log_url: str
) -> None:
    running.log.begin_effect(intent(running))
    running.log.take_over("r1", "chain-2")
    before = dump(log_url)
    with pytest.raises(Fenced, match="owned under epoch 2"):
        running.log.begin_effect(intent(running))
    assert dump(log_url) == before

    assert running.log.finish_effect(KEY, 1, OUTCOME, "done"), "it has happened"
    again = running.log.begin_effect(intent(running, owner_epoch=2))
    assert again.outcome == OUTCOME


def test_an_effect_under_an_owner_epoch_that_was_never_granted_waits_for_the_log_that_did(
    running: Writer,
) -> None:
    with pytest.raises(RunNotInLog, match=r"never granted owner epoch 2 of run r1, .* is 1"):
        running.log.begin_effect(intent(running, owner_epoch=2))


def test_an_effect_of_a_run_that_is_not_there_is_refused(running: Writer) -> None:
    with pytest.raises(RunNotInLog):
        running.log.begin_effect(intent(running, run_id="r9"))
    with pytest.raises(RunNotInLog):
        running.log.finish_effect("x" * 40, 1, OUTCOME, "done")
    assert running.log.effects("t") == []


@pytest.mark.parametrize(("outcome", "status"), [(None, "done"), (OUTCOME, "begun")])
def test_just_what_stays_begun_has_no_outcome(
    running: Writer, outcome: JsonObject | None, status: Any
) -> None:
    running.log.begin_effect(intent(running))
    with pytest.raises(InvalidCommit):
        running.log.finish_effect(KEY, 1, outcome, status)


def test_the_end_of_a_run_drops_what_its_effects_came_to_and_nothing_else(
    running: Writer, log_url: str
) -> None:
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, "done")
    running.log.begin_effect(intent(running, effect_key="l" * 40, node_id="post"))
    running.end()

    assert running.log.effects("t") == [
        stored(running, status="done", finished_at="2030-01-02T12:00:02.000Z"),
        stored(running, effect_key="l" * 40, node_id="post", begun_at="2030-01-02T12:00:03.000Z"),
    ]
    before = dump(log_url)
    for key, node in ((KEY, "pay"), ("l" * 40, "post"), ("n" * 40, "new")):
        with pytest.raises(RunTerminal):
            running.log.begin_effect(intent(running, effect_key=key, node_id=node))
        with pytest.raises(RunNotInLog if node == "new" else RunTerminal):
            running.log.finish_effect(key, 1, OUTCOME, "done")
    assert dump(log_url) == before


def test_a_refused_end_drops_nothing(running: Writer) -> None:
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, "done")
    late = running.make(running.ending().commit, expected_thread_version=7)
    refused = running.log.append([late]).refusal
    assert refused is not None
    assert refused.code == "ThreadVersionConflict"
    assert running.log.effects("t")[0].outcome == OUTCOME


def test_effects_are_listed_oldest_first_of_a_thread_or_of_one_run(running: Writer) -> None:
    running.log.begin_effect(intent(running, effect_key="z" * 40))
    running.log.begin_effect(intent(running, effect_key="b" * 40, occurrence=1))
    running.end()
    second = next_turn(running, "r2")
    second.log.begin_effect(intent(second, effect_key="c" * 40))
    other = Writer(running.log, "r3", "other")
    other.open()
    other.log.begin_effect(intent(other, effect_key="d" * 40))

    def keys(*named: str) -> list[str]:
        return [effect.effect_key[0] for effect in running.log.effects(*named)]

    assert keys("t") == ["z", "b", "c"]
    assert keys("t", "r1") == ["z", "b"]
    assert keys("t", "r2") == ["c"]
    assert keys("t", "r3") == keys("nobody") == []
    assert keys("other") == ["d"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("outcome", '{"result":{"outputs":{"paid":151,"note":null}}}'),
        ("outcome", None),
        ("status", "failed"),
        ("arguments_hash", "b" * 64),
        ("attempts", 7),
        ("checksum", 0),
    ],
)
def test_a_row_that_was_changed_on_disk_is_no_answer(
    running: Writer, log_url: str, column: str, value: Any
) -> None:
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, "done")
    change(log_url, column, value)
    with pytest.raises(CorruptLog, match="was changed on disk"):
        running.log.begin_effect(intent(running))
    with pytest.raises(CorruptLog):
        running.log.effects("t")


def test_a_code_may_be_any_text(running: Writer) -> None:
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, "failed", "a\x00ü\n")
    assert running.log.effects("t")[0].code == "a\N{REPLACEMENT CHARACTER}ü\n"


async def test_both_writes_have_a_form_for_an_event_loop(running: Writer) -> None:
    assert await running.log.begin_effect_async(intent(running)) == FIRST
    assert await running.log.finish_effect_async(KEY, 1, OUTCOME, "done", quick=True)
    assert await running.log.effects_async("t") == running.log.effects("t")


def test_attempts_that_begin_at_once_all_have_numbers_of_their_own(
    running: Writer, log_url: str
) -> None:
    with CommitLog.open(log_url) as other, ThreadPoolExecutor(4) as threads:
        running.log.begin_effect(intent(running))
        logs: list[CommitLog] = [running.log, other] * 10
        waiting = [threads.submit(log.begin_effect, intent(running)) for log in logs]
        begun = [one.result() for one in waiting]
    assert sorted(standing.attempt for standing in begun) == list(range(2, 22))
