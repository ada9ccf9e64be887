"""The events of a thread, derived from its commits, paged without a gap or a repeat (AW-65)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from full_log import MixedThreads, write_ephemeral_run, write_full_log
from log_writer import Clock, Writer, change, drop, dump, message, next_turn, put

from activities.log import CommitLog, EventRow
from seeding.commits import AuditDraft, CauseKind
from seeding.errors import CorruptLog, UnknownRun, UnknownThread


def said(events: list[EventRow]) -> list[tuple[int, str, object]]:
    """Return version, kind and body of each."""
    return [(event.version, event.kind, event.body) for event in events]


def states(log: CommitLog, run_id: str | None = None) -> list[str]:
    """Return what the feed says of the runs, in order."""
    events = log.events("t", run_id=run_id)
    return [event.body["state"] for event in events if event.kind == "run"]


def paged(log: CommitLog, thread_id: str, limit: int, run_id: str | None = None) -> list[EventRow]:
    """Return the events of a thread, page by page."""
    found: list[EventRow] = []
    while page := log.events(
        thread_id, after=found[-1].version if found else 0, limit=limit, run_id=run_id
    ):
        found.extend(page)
    return found


class TestWhatACommitSays:
    def test_run_tickets_state_and_audit_in_this_order(self, running: Writer) -> None:
        running.wait(running.ticket(message="Sure?"))
        running.answer(
            running.ticket(),
            state=(put("a", 1), put("node/a", 1, "position"), put("m", 1, "metadata"), drop("a")),
            events=(AuditDraft(kind="warning", body={"code": "c"}),),
        )

        ticket = "r1:gate:0:0"
        opened = {"ticket": ticket, "nodeId": "gate", "kind": "approval", "message": "Sure?"}
        closed = {"ticket": ticket, "outcome": "answered", "decision": "approve", "actor": None}
        assert said(running.log.events("t")) == [
            (1, "run", {"state": "Running"}),
            (2, "run", {"state": "Awaiting"}),
            (2, "ticketOpened", opened),
            (3, "run", {"state": "Resumed"}),
            (3, "ticketClosed", closed),
            (3, "stateChanged", {"data": ["a"], "metadata": ["m"]}),
            (3, "audit", {"kind": "warning", "body": {"code": "c"}}),
        ]

    def test_where_it_stands_in_the_log(self, running: Writer) -> None:
        running.end()

        assert running.log.events("t", after=1) == [
            EventRow(
                version=2,
                index=0,
                run_id="r1",
                ordinal=1,
                at="2030-01-02T12:00:01.000Z",
                kind="run",
                body={"state": "Completed", "cause": "NaturalEnd"},
            )
        ]

    def test_a_state_that_stays_is_no_event(self, running: Writer) -> None:
        running.step()
        running.wait(running.ticket())
        running.wait(running.ticket("gate2"))
        running.answer(running.ticket("gate2"))
        running.answer(running.ticket())
        running.step()

        assert states(running.log) == ["Running", "Awaiting", "Resumed"]

    @pytest.mark.parametrize(
        ("cause", "word"),
        [
            ("NaturalEnd", "Completed"),
            ("Stopped", "Completed"),
            ("Cancelled", "Cancelled"),
            ("MaxIterations", "Failed"),
            ("Error", "Failed"),
            ("FailedVerification", "Failed"),
            ("Indeterminate", "Failed"),
        ],
    )
    def test_aw_66_an_end_is_told_by_its_cause(
        self, running: Writer, cause: CauseKind, word: str
    ) -> None:
        running.wait(running.ticket())
        running.end(cause, "why")

        assert states(running.log) == ["Running", "Awaiting", word]
        assert running.log.events("t")[-2].body == {"state": word, "cause": cause}

    def test_the_next_turn_runs_and_is_not_resumed(self, running: Writer) -> None:
        running.wait(running.ticket())
        running.end()
        next_turn(running, "r2")

        assert states(running.log)[-1] == "Running"
        assert states(running.log, "r2") == ["Running"]


class TestPaging:
    @pytest.mark.parametrize("limit", [1, 2, 7, 100])
    def test_aw_65_pages_of_any_size_are_one_big_page(self, log: CommitLog, limit: int) -> None:
        write_full_log(log)
        MixedThreads(log, seed=2, threads=("mixed",)).write(250)
        for thread in ("t", "other", "mixed"):
            whole = log.events(thread, limit=10_000)

            assert paged(log, thread, limit) == whole
            places = [(event.version, event.index) for event in whole]
            assert places == sorted(set(places))

    def test_aw_65_limit_0_gives_nothing(self, running: Writer) -> None:
        assert running.log.events("t", limit=0) == []
        assert running.log.events("t", after=1) == []
        assert running.log.events("t", after=99) == []

    def test_a_commit_is_never_split_over_pages(self, running: Writer) -> None:
        running.wait(*(running.ticket(f"g{n}") for n in range(5)))

        assert [event.version for event in running.log.events("t", after=1, limit=2)] == [2] * 6

    def test_aw_65_a_thread_or_run_that_is_not_there_is_an_error(self, running: Writer) -> None:
        other = Writer(running.log, "o1", "other")
        other.open()

        with pytest.raises(UnknownThread, match="nobody"):
            running.log.events("nobody")
        with pytest.raises(UnknownRun, match=r"thread 't' has no run 'r9'$"):
            running.log.events("t", run_id="r9")
        with pytest.raises(UnknownRun, match="it is one of thread 'other'"):
            running.log.events("t", run_id="o1")

    def test_one_run_alone_has_its_events_in_their_places(self, log: CommitLog) -> None:
        write_full_log(log)
        whole = log.events("t", limit=10_000)

        for run_id in ("r1", "r2", "r3"):
            own = [event for event in whole if event.run_id == run_id]
            assert paged(log, "t", 1, run_id) == own
            assert own

    def test_a_cursor_at_an_ephemeral_run_misses_nothing_of_the_turn_after(
        self, running: Writer
    ) -> None:
        running.end()
        before = running.log.events("t")
        write_ephemeral_run(running, forget=False)
        assert running.log.events("t") == before
        assert [event.kind for event in running.log.events("t", run_id="e1")][:2] == ["run", "run"]

        running.log.forget_run("e1")
        next_turn(running, "r2")

        after = running.log.events("t", after=before[-1].version)
        assert said(after) == [(3, "run", {"state": "Running"})]

    def test_of_a_pruned_run_its_beginning_and_end_are_left(self, log: CommitLog) -> None:
        writer = Writer(log)
        writer.open()
        writer.wait(writer.ticket())
        writer.end()
        next_turn(writer, "r2").end()
        log.prune(older_than=timedelta(0), keep=1, apply=True)

        assert said(log.events("t")) == [
            (1, "run", {"state": "Running"}),
            (3, "run", {"state": "Completed", "cause": "NaturalEnd"}),
            (3, "ticketClosed", log.events("t")[2].body),
            (4, "run", {"state": "Running"}),
            (5, "run", {"state": "Completed", "cause": "NaturalEnd"}),
        ]

    @pytest.mark.parametrize("version", [1, 2, 3, 4])
    @pytest.mark.parametrize("run_id", [None, "r1"])
    def test_a_missing_commit_is_an_error_and_no_shorter_feed(
        self, running: Writer, log_url: str, version: int, run_id: str | None
    ) -> None:
        running.step()
        running.step()
        running.end()
        change(log_url, f"DELETE FROM commits WHERE thread_version = {version}")

        with pytest.raises(CorruptLog, match="is missing"):
            running.log.events("t", run_id=run_id)


def test_a_reader_beside_writers_sees_every_event_once(log_url: str) -> None:
    """Nothing turns up behind a cursor, whoever's transaction is still open (B14)."""
    count, threads = 40, ("a", "b", "c")

    def write(thread: str) -> None:
        with CommitLog.open(log_url, clock=Clock()) as own:
            writer = Writer(own, f"{thread}1", thread)
            writer.open()
            for number in range(count):
                writer.step(messages=(message(f"{thread}{number}"),), state=(put("k", number),))
            writer.end()

    def follow(thread: str) -> list[EventRow]:
        found: list[EventRow] = []
        with CommitLog.open(log_url) as own:
            while not found or found[-1].body.get("state") != "Completed":
                if own.thread_version(thread):
                    after = found[-1].version if found else 0
                    found.extend(own.events(thread, after=after, limit=3))
        return found

    CommitLog.open(log_url).close()
    with ThreadPoolExecutor(6) as pool:
        followed = [pool.submit(follow, thread) for thread in threads]
        for writing in [pool.submit(write, thread) for thread in threads]:
            writing.result(timeout=100)
        found = [following.result(timeout=100) for following in followed]

    with CommitLog.open(log_url) as log:
        for thread, events in zip(threads, found, strict=True):
            assert [event.version for event in events] == list(range(1, count + 3))
            assert events == log.events(thread)


def test_reading_events_writes_nothing(log: CommitLog, log_url: str) -> None:
    write_full_log(log)
    before = dump(log_url)
    log.events("t")
    assert dump(log_url) == before
