"""The queue of a thread's turns in the log: its order, its keys, its bounds (KU-34, KU-41)."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from log_writer import Clock, Writer, change, opening

from activities.log import CommitLog, ReadOnlyLog
from activities.log.tables import queued_turns
from seeding import queued_turns as rules
from seeding.errors import CorruptLog, IdempotencyKeyReuse, InvalidRequest, ThreadBusy
from seeding.queued_turns import NewTurn, QueueReceipt
from seeding.request import parse_request


def turn(name: str, key: str | None = None, *, graph: str | None = "g", **more: Any) -> NewTurn:
    request = {"graph": graph or "g", "message": name, **({"idempotencyKey": key} if key else {})}
    return NewTurn(
        operation=more.pop("operation", f"op {name}"),
        request=parse_request({**request, **more}, "thread/t"),
        graph_given=graph is not None,
        behind="R",
        namespace="default",
    )


def opened_as(log: CommitLog, number: int, run_id: str = "r1") -> Writer:
    writer = Writer(log, run_id)
    writer.open(how=opening(queued_turn=number, chain_id=run_id))
    return writer


def states(log: CommitLog) -> list[str]:
    return [item.state for item in log.queued_turns("t")]


class TestOrder:
    def test_turns_are_numbered_as_they_come_and_the_first_is_next(self, log: CommitLog) -> None:
        receipts = [log.queue_turn("t", turn(name)) for name in "abc"]
        log.queue_turn("other", turn("x"))

        assert receipts == [QueueReceipt(number=n, behind="R", waiting=n) for n in (1, 2, 3)]
        first = log.first_queued("t")
        assert first is not None
        assert (first.number, first.request) == (1, {"graph": "g", "message": "a"})
        assert first.start() == {"graph": "g", "message": "a", "queuedTurn": 1}
        assert (log.count_queued("t"), log.count_queued("other")) == (3, 1)

    def test_the_same_sending_again_is_the_same_turn(self, log: CommitLog) -> None:
        first = log.queue_turn("t", turn("a", operation="same"))
        assert log.queue_turn("t", turn("a", operation="same")) == first
        assert len(log.queued_turns("t")) == 1

    async def test_turns_that_come_at_once_get_one_number_each(self, log: CommitLog) -> None:
        receipts = await asyncio.gather(
            *(log.queue_turn_async("t", turn(str(n))) for n in range(12))
        )
        assert sorted(receipt.number or 0 for receipt in receipts) == list(range(1, 13))


class TestStarting:
    def test_the_opening_takes_its_turn_out_of_the_queue(self, log: CommitLog) -> None:
        log.queue_turn("t", turn("a"))
        log.queue_turn("t", turn("b"))

        opened_as(log, 1)

        first, second = log.queued_turns("t")
        assert (first.state, first.run_id) == ("started", "r1")
        assert first.settled_at is not None
        assert second.state == "queued"
        assert log.verify() == []

    def test_a_turn_begins_one_run(self, log: CommitLog) -> None:
        log.queue_turn("t", turn("a"))
        opened_as(log, 1).end()

        second = Writer(log, "r2")
        how = opening(queued_turn=1, run_epoch=2, chain_id="r2")
        refusal = log.append([second.make(second.commit(opening=how))]).refusal

        assert refusal is not None
        assert refusal.code == "ThreadVersionConflict"
        assert refusal.message == "queued turn 1 of thread 't' is started"
        assert [run.run_id for run in log.runs("t")] == ["r1"]

    def test_nothing_leaves_the_queue_with_an_opening_that_is_refused(self, log: CommitLog) -> None:
        log.queue_turn("t", turn("a"))
        writer = Writer(log)
        good = writer.make(writer.commit(opening=opening(queued_turn=1)))
        bad = writer.make(writer.commit(), ordinal=7)

        assert log.append([good, bad], whole=True).accepted == 0

        assert states(log) == ["queued"]

    def test_the_same_opening_again_is_answered_as_before(self, log: CommitLog) -> None:
        log.queue_turn("t", turn("a"))
        writer = Writer(log)
        operation = writer.make(writer.commit(opening=opening(queued_turn=1)))
        first = log.append([operation]).receipt
        second = log.append([operation]).receipt
        assert first is not None
        assert second == first.model_copy(update={"duplicate": True})

    async def test_a_turn_leaves_the_queue_once(self, log: CommitLog) -> None:
        refusal = {"code": "UnknownGraph", "message": "none"}
        for name in "abc":
            log.queue_turn("t", turn(name))

        assert await log.refuse_turn_async("t", 1, refusal)
        assert not await log.refuse_turn_async("t", 1, refusal)
        assert not await log.started_before_async("t", 1, "r9")
        assert await log.started_before_async("t", 2, "r9")
        assert log.withdraw_turn("t", 3).state == "withdrawn"

        assert states(log) == ["refused", "started", "withdrawn"]
        assert log.queued_turns("t")[0].refusal == refusal
        for number, said in ((1, "is refused"), (2, "is started and began run r9"), (9, "no queu")):
            with pytest.raises(InvalidRequest, match=said):
                log.withdraw_turn("t", number)


class TestKeys:
    def test_the_same_key_gets_the_first_answer_and_writes_nothing(self, log: CommitLog) -> None:
        log.queue_turn("t", turn("a", "k"))
        again = log.queue_turn("t", turn("a", "k", operation="another sending"))
        assert again == QueueReceipt(number=1, duplicate=True, behind="R", waiting=1)
        opened_as(log, 1)
        later = log.queue_turn("t", turn("a", "k", operation="a third"))
        assert (later.number, later.duplicate, later.run_id) == (1, True, "r1")
        assert len(log.queued_turns("t")) == 1

    def test_the_same_key_with_another_request_is_refused(self, log: CommitLog) -> None:
        log.queue_turn("t", turn("a", "k"))
        for other in (turn("b", "k"), turn("a", "k", graph="h", operation="x")):
            with pytest.raises(IdempotencyKeyReuse, match="came with queued turn 1"):
                log.queue_turn("t", other)
        assert len(log.queued_turns("t")) == 1

    def test_a_message_without_a_graph_is_the_same_whatever_graph_it_got(
        self, log: CommitLog
    ) -> None:
        log.queue_turn("t", turn("a", "k", graph=None))
        request = parse_request(
            {"graph": "another", "message": "a", "idempotencyKey": "k"}, "thread/t"
        )
        later = NewTurn(operation="x", request=request, graph_given=False, namespace="default")
        assert log.queue_turn("t", later).duplicate

    def test_what_onbusy_says_makes_no_other_request(self, log: CommitLog) -> None:
        log.queue_turn("t", turn("a", "k"))
        busy = turn("a", "k", operation="x", config={"onBusy": "supersede"})
        assert log.queue_turn("t", busy).duplicate

    def test_a_key_that_a_start_has_used_is_known(self, log: CommitLog) -> None:
        asked = turn("a", "k", graph=None)
        hashed = rules.request_hash(asked.request.model_copy(update={"graph": "greet"}))
        Writer(log).open(how=opening(idempotency_key="k", request_hash=hashed))

        assert log.queue_turn("t", asked) == QueueReceipt(duplicate=True, run_id="r1")
        with pytest.raises(IdempotencyKeyReuse, match="began run r1"):
            log.queue_turn("t", turn("b", "k"))

    async def test_the_key_of_a_refused_turn_is_free_again(self, log: CommitLog) -> None:
        log.queue_turn("t", turn("a", "k"))
        await log.refuse_turn_async("t", 1, {"code": "UnknownGraph", "message": "none"})
        assert log.queue_turn("t", turn("b", "k")).number == 2


class TestBounds:
    def test_a_full_queue_takes_no_more(
        self, log: CommitLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("activities.log.turn_rows.MAX_QUEUED", 3)
        for name in "abc":
            log.queue_turn("t", turn(name, name))
        with pytest.raises(ThreadBusy, match="3 turns of thread 't' are queued already"):
            log.queue_turn("t", turn("d"))
        assert log.queue_turn("t", turn("a", "a", operation="again")).duplicate

    def test_what_left_the_queue_is_forgotten_in_time_but_for_the_key_of_a_run(
        self, log_url: str
    ) -> None:
        clock = Clock()
        with CommitLog.open(log_url, clock=clock) as log:
            for name in ("a", "b"):
                log.queue_turn("t", turn(name, name))
            hashed = rules.request_hash(turn("a", "a").request)
            writer = Writer(log)
            writer.open(
                how=opening(queued_turn=1, idempotency_key="a", request_hash=hashed, graph_id="g")
            )
            log.withdraw_turn("t", 2)
            clock.moment += timedelta(days=29)
            log.queue_turn("t", turn("c"))
            assert [item.number for item in log.queued_turns("t")] == [1, 2, 3]
            clock.moment += timedelta(days=2)
            assert log.queue_turn("t", turn("d")).number == 4
            assert [item.number for item in log.queued_turns("t")] == [3, 4]
            again = log.queue_turn("t", turn("a", "a", operation="again"))
            assert (again.number, again.duplicate, again.run_id) == (None, True, "r1")

    def test_only_the_newest_of_them_are_remembered(self, log: CommitLog) -> None:
        for number in range(1, rules.MAX_SETTLED + 6):
            log.queue_turn("t", turn(str(number)))
            log.withdraw_turn("t", number)
        assert log.queue_turn("t", turn("last")).number == rules.MAX_SETTLED + 6
        kept = log.queued_turns("t")
        assert len(kept) == rules.MAX_SETTLED
        assert kept[-1].number == rules.MAX_SETTLED + 6


class TestDamage:
    def test_every_column_is_under_the_checksum(self, log: CommitLog, log_url: str) -> None:
        log.queue_turn("t", turn("a", "k"))
        for column in queued_turns.columns:
            if column.name in ("thread_id", "checksum"):
                continue
            before = "2" if column.name == "number" else "'x'"
            change(log_url, "CREATE TABLE kept AS SELECT * FROM queued_turns")
            change(log_url, f"UPDATE queued_turns SET {column.name} = {before}")
            found = [finding.what for finding in log.verify()]
            with pytest.raises(CorruptLog, match="queued turn"):
                log.queued_turns("t")
            change(
                log_url,
                "DELETE FROM queued_turns",
                "INSERT INTO queued_turns SELECT * FROM kept",
                "DROP TABLE kept",
            )
            assert len(found) == 1, column.name
            assert found[0].startswith("queued turn"), column.name
        assert log.verify() == []

    def test_rebuilding_keeps_them_and_deleting_removes_them(
        self, log: CommitLog, log_url: str
    ) -> None:
        log.queue_turn("t", turn("a"))
        opened_as(log, 1).end()
        log.queue_turn("t", turn("b"))
        log.rebuild("t")
        assert states(log) == ["started", "queued"]
        with ReadOnlyLog.open(log_url) as reading:
            assert reading.count_queued("t") == 1
        assert log.delete_thread("t").rows["queued_turns"] == 2
        assert log.queued_turns("t") == []
