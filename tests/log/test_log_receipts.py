"""What an accepted operation gets: receipts, times, lists, and the same again when repeated."""

from log_writer import Clock, Writer, dump, message, opening, put

from activities.log import CommitLog, Execution
from seeding.commits import BatchReceipt, EndCause, Receipt, TicketTimes, commit_hash
from seeding.tickets import TicketClosing


def test_a_receipt_says_what_was_accepted_and_when(running: Writer) -> None:
    made = running.make(running.commit())
    assert running.log.append([made]) == BatchReceipt(
        accepted=1,
        receipt=Receipt(
            run_id="r1",
            ordinal=1,
            thread_version=2,
            payload_hash=commit_hash(made.commit),
            created_at="2030-01-02T12:00:01.000Z",
        ),
    )


def test_a_lost_acknowledgement_is_answered_with_the_first_receipt_and_times(
    running: Writer, log_url: str
) -> None:
    ticket = running.ticket(deadline_after=1.5)
    made = running.make(running.commit("Awaiting", named=[ticket], opened=(ticket,)))
    first = running.log.append([made])
    assert first.times == (
        TicketTimes(
            ticket="r1:gate:0:0",
            created_at="2030-01-02T12:00:01.000Z",
            deadline="2030-01-02T12:00:02.500Z",
        ),
    )
    before = dump(log_url)
    again = running.log.append([made])
    assert first.receipt is not None
    assert again.receipt == first.receipt.model_copy(update={"duplicate": True})
    assert again.times == first.times
    assert dump(log_url) == before


def test_a_duplicate_is_recognised_whatever_the_expected_version_says_now(
    running: Writer,
) -> None:
    made = running.make(running.commit())
    running.send(made)
    again = running.log.append([made.model_copy(update={"expected_thread_version": 77})])
    assert again.refusal is None
    assert again.receipt is not None
    assert again.receipt.duplicate


def test_a_duplicate_that_is_not_the_runs_last_commit_says_so(running: Writer) -> None:
    made = running.make(running.commit())
    running.send(made)
    running.step()
    again = running.log.append([made])
    assert again.receipt is not None
    assert (again.receipt.ordinal, again.receipt.duplicate, again.receipt.last) == (1, True, False)


def test_aw_34_the_order_of_keys_is_no_difference_and_every_value_is(running: Writer) -> None:
    made = running.make(running.commit(state=(put("a", {"x": 1, "y": 2}),)))
    running.send(made)
    turned = running.commit(state=(put("a", {"y": 2, "x": 1}),))
    floating = running.commit(state=(put("a", {"x": 1.0, "y": 2}),))
    same = running.log.append([running.make(turned, ordinal=1)])
    assert same.receipt is not None
    assert same.receipt.duplicate
    other = running.log.append([running.make(floating, ordinal=1)])
    assert other.refusal is not None
    assert other.refusal.code == "OperationReused"


def test_of_a_list_the_operations_before_a_refused_one_stay_accepted(running: Writer) -> None:
    good = [
        running.make(
            running.commit(messages=(message(f"m{n}"),)),
            ordinal=n,
            expected_thread_version=n,
        )
        for n in (1, 2)
    ]
    bad = running.make(
        running.commit(messages=(message("m1"),)), ordinal=3, expected_thread_version=3
    )
    never = running.make(running.commit(), ordinal=4, expected_thread_version=4)
    answer = running.log.append([*good, bad, never])
    assert answer.accepted == 2
    assert answer.receipt is not None
    assert (answer.receipt.ordinal, answer.receipt.thread_version) == (2, 3)
    assert answer.refusal is not None
    assert (answer.refusal.code, answer.refusal.ordinal) == ("DuplicateMessage", 3)
    assert [found["id"] for found in running.log.messages("t")] == ["m0", "m1", "m2"]


def test_a_list_returns_the_times_of_every_ticket_it_opens(running: Writer) -> None:
    first, second = running.ticket("one"), running.ticket("two", deadline_after=60)
    made = [
        running.make(running.commit("Awaiting", named=[first], opened=(first,))),
        running.make(
            running.commit("Awaiting", named=[first, second], opened=(second,)),
            ordinal=2,
            expected_thread_version=2,
        ),
    ]
    answer = running.log.append(made)
    at = "2030-01-02T12:00:01.000Z"
    assert [(times.ticket, times.created_at, times.deadline) for times in answer.times] == [
        ("r1:one:0:0", at, None),
        ("r1:two:0:0", at, "2030-01-02T12:01:01.000Z"),
    ]
    run = running.log.run("r1")
    assert run is not None
    assert [ticket.body for ticket in run.open_tickets] == [first, second]
    assert [ticket.deadline for ticket in run.open_tickets] == [None, "2030-01-02T12:01:01.000Z"]


def test_a_ticket_may_be_opened_and_closed_by_one_list(running: Writer) -> None:
    ticket = running.ticket()
    closing = TicketClosing(ticket=ticket.ticket, outcome="answered", decision="approve")
    made = [
        running.make(running.commit("Awaiting", named=[ticket], opened=(ticket,))),
        running.make(running.commit(closed=(closing,)), ordinal=2, expected_thread_version=2),
    ]
    assert running.log.append(made).accepted == 2
    assert running.log.open_tickets() == ()
    assert running.log.closed_tickets("r1", 10) == [closing]


def test_the_end_of_one_run_and_the_opening_of_the_next_are_one_transaction(
    running: Writer, log_url: str
) -> None:
    running.wait(running.ticket())
    second = Writer(running.log, "r2")
    opens = second.make(
        second.commit(opening=opening(run_epoch=2, chain_id="chain-2")),
        expected_thread_version=3,
    )
    end = running.ending("Cancelled", "abandoned")
    before = dump(log_url)
    broken = opens.model_copy(update={"expected_thread_version": 99})
    answer = running.log.append([end, broken], whole=True)
    assert answer.accepted == 0
    assert answer.receipt is None
    assert answer.refusal is not None
    assert (answer.refusal.code, answer.refusal.run_id) == ("ThreadVersionConflict", "r2")
    assert dump(log_url) == before

    answer = running.log.append([end, opens], whole=True)
    assert (answer.accepted, answer.refusal) == (2, None)
    old, new = running.log.runs("t")
    assert old.cause == EndCause(kind="Cancelled", message="abandoned")
    assert (old.phase, new.phase, new.thread_version) == ("ended", "running", 4)
    assert running.log.latest_run("t") == new
    assert running.log.open_tickets("t") == ()

    repeated = running.log.append([end, opens], whole=True)
    assert repeated.accepted == 2
    assert repeated.receipt is not None
    assert repeated.receipt.duplicate


def test_an_empty_list_is_accepted_and_writes_nothing(log: CommitLog, log_url: str) -> None:
    before = dump(log_url)
    assert log.append([]) == BatchReceipt(accepted=0)
    assert dump(log_url) == before


async def test_the_same_from_an_event_loop(log_url: str) -> None:
    with CommitLog.open(log_url, clock=Clock()) as log:
        writer = Writer(log)
        made = writer.make(writer.commit(opening=opening(chain_id="chain-9")))
        named = Execution(execution_run_id="execution-1", namespace="default")
        answer = await log.append_async([made], execution=named)
        assert answer.accepted == 1
        run = await log.run_of_chain_async("chain-9")
        assert run is not None
        assert run.run_id == "r1"
        assert (await log.state_async("t", messages=False)).checkpoint_id == "r1:0"
        assert await log.take_over_async("r1", "chain-10") == 2
        owners = [row[:-1] for row in dump(log_url)["run_owners"]]  # without its checksum
        assert owners == [
            (
                "r1",
                1,
                "chain-9",
                "execution-1",
                "default",
                "2030-01-02T12:00:00.000Z",
                -1,
                None,
                None,
            ),
            ("r1", 2, "chain-10", None, None, "2030-01-02T12:00:01.000Z", 0, None, None),
        ]
