"""What is lost of a log is called by its name: the last commits, rows of lists, the ledger."""

import pytest
from log_writer import Writer, change, dump, message, next_turn, put
from test_log_effects import KEY, OUTCOME, intent

from seeding.errors import CorruptLog

PROJECTIONS = ("threads", "runs", "tickets")


def findings(writer: Writer) -> list[str]:
    return [finding.what for finding in writer.log.verify()]


def test_a_last_commit_that_is_gone_is_missing_and_no_list_is_made_to_fit(
    running: Writer, log_url: str
) -> None:
    running.end()
    change(log_url, "DELETE FROM commits WHERE thread_id = 't' AND thread_version = 2")
    before = dump(log_url)

    missing = "commit 2 is missing: the thread was at version 2, and the last commit is 1"
    assert missing in findings(running)
    assert not any("fermata rebuild" in found for found in findings(running))
    report = running.log.rebuild()
    assert [(one.thread_id, one.what) for one in report.damaged] == [
        ("t", f"{missing}; its lists stay as they are")
    ]
    assert report.changed == ()
    assert dump(log_url) == before


def test_the_commit_that_opened_a_question_is_missing_too(running: Writer, log_url: str) -> None:
    running.wait(running.ticket())
    change(log_url, "DELETE FROM commits WHERE thread_id = 't' AND thread_version = 2")
    assert any(found.startswith("commit 2 is missing") for found in findings(running))
    assert len(running.log.rebuild().damaged) == 1


def test_a_single_row_of_a_list_that_is_ahead_is_wrong_by_itself(
    running: Writer, log_url: str
) -> None:
    before = dump(log_url)
    change(log_url, "UPDATE threads SET version = 9 WHERE thread_id = 't'")
    assert any("fermata rebuild makes it again" in found for found in findings(running))
    assert running.log.rebuild().damaged == ()
    assert dump(log_url) == before


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_commit_that_is_gone_in_the_middle_is_missing_and_no_list_is_made_to_fit(
    running: Writer, log_url: str, version: int
) -> None:
    running.step()
    running.end()
    next_turn(running, "r2").step()
    change(log_url, f"DELETE FROM commits WHERE thread_version = {version}")
    before = dump(log_url)

    assert f"commit {version} is missing" in findings(running)
    report = running.log.rebuild()
    assert [one.what for one in report.damaged] == [f"commit {version} is missing"]
    assert dump(log_url) == before


@pytest.mark.parametrize(
    "also", ["DELETE FROM threads", "DELETE FROM runs", "DELETE FROM threads; DELETE FROM runs"]
)
def test_a_last_commit_is_missed_by_what_came_with_it(
    running: Writer, log_url: str, also: str
) -> None:
    running.step(messages=(message("m1"),), state=(put("a", 1),))
    change(log_url, "DELETE FROM commits WHERE thread_version = 2", *also.split("; "))
    before = dump(log_url)

    assert findings(running)[0] == "commit 2 is missing, 2 rows of it are there"
    (damaged,) = running.log.rebuild().damaged
    assert damaged.what.startswith("commit 2 is missing: ")
    assert dump(log_url) == before


@pytest.mark.parametrize("lost", ["threads", "runs"])
def test_a_last_commit_is_missed_by_one_list_where_the_other_is_lost_as_well(
    running: Writer, log_url: str, lost: str
) -> None:
    running.step()
    running.step()
    change(log_url, "DELETE FROM commits WHERE thread_version > 1", f"DELETE FROM {lost}")

    missing = "commits 2 to 3 are missing: the thread was at version 3, and the last commit is 1"
    assert missing in findings(running)
    assert [one.what for one in running.log.rebuild().damaged] == [
        f"{missing}; its lists stay as they are"
    ]


def test_a_floor_that_no_pruning_made_is_found_and_no_list_is_made_to_fit(
    running: Writer, log_url: str
) -> None:
    """A floor says how much pruning took; one that nobody made takes no checkpoint away."""
    running.wait(running.ticket())
    running.answer(running.ticket(), checkpoint="node", node_id="gate")
    running.end()
    next_turn(running, "r2").step()
    change(
        log_url,
        "INSERT INTO floors (thread_id, branch, version, at) VALUES ('t', 'main', 5, 'x')",
    )
    before = dump(log_url)
    said = "branch 'main' was pruned up to 5, where no run of it ended"
    assert said in findings(running)
    assert [one.what for one in running.log.rebuild().damaged] == [said]
    assert dump(log_url) == before


def test_a_missing_commit_is_no_shorter_list_of_checkpoints(running: Writer, log_url: str) -> None:
    running.step(checkpoint="node", node_id="a")
    running.step(checkpoint="node", node_id="b")
    assert len(running.log.checkpoints("t")) == 2
    change(log_url, "DELETE FROM commits WHERE thread_id = 't' AND thread_version = 2")
    with pytest.raises(CorruptLog, match="run r1 of thread 't' has 2 commits of 3"):
        running.log.checkpoints("t")


@pytest.mark.parametrize("table", ["threads", "runs"])
def test_a_thread_whose_row_in_a_list_is_missing_is_not_unknown(
    running: Writer, log_url: str, table: str
) -> None:
    before = dump(log_url)
    change(log_url, f"DELETE FROM {table}")
    for read in (
        lambda: running.log.latest_run("t"),
        lambda: running.log.state("t"),
        lambda: running.log.run("r1"),
    ):
        with pytest.raises(CorruptLog, match="fermata rebuild t makes it again"):
            read()
    assert running.log.forks() == []
    running.log.rebuild()
    assert dump(log_url) == before


def test_a_thread_without_its_head_is_listed_apart(running: Writer, log_url: str) -> None:
    Writer(running.log, "o1", "other").open()
    change(log_url, "DELETE FROM threads WHERE thread_id = 't'")
    assert running.log.threads_without_head() == ["t"]
    assert [thread.thread_id for thread in running.log.threads()] == ["other"]


def test_a_run_that_waits_for_nothing_has_lost_its_tickets(running: Writer, log_url: str) -> None:
    running.wait(running.ticket())
    change(log_url, "DELETE FROM tickets")
    with pytest.raises(CorruptLog, match="ticket r1:gate:0:0, which run r1 waits for, is not in"):
        running.log.latest_run("t")


def test_a_column_of_another_type_is_damage_and_the_other_threads_are_gone_over(
    running: Writer, sqlite_url: str, log_url: str
) -> None:
    if not log_url.startswith("sqlite"):
        pytest.skip("a server keeps the type of a column")
    Writer(running.log, "o1", "other").open()
    change(
        log_url,
        "UPDATE commits SET thread_version = x'00' WHERE thread_id = 't'",
        "DELETE FROM commits WHERE thread_id = 'other'",
    )
    found = running.log.verify()
    assert {finding.thread_id for finding in found} >= {"t", "other"}
    with pytest.raises(CorruptLog):
        running.log.events("t")


def test_text_that_is_no_unicode_is_damage_and_not_a_database_that_is_away(
    running: Writer, log_url: str
) -> None:
    if not log_url.startswith("sqlite"):
        pytest.skip("a server takes no such text")
    Writer(running.log, "o1", "other").open()
    change(
        log_url,
        "UPDATE messages SET body = CAST(x'7b22ff' AS TEXT) WHERE thread_id = 't'",
        "DELETE FROM commits WHERE thread_id = 'other'",
    )
    with pytest.raises(CorruptLog):
        running.log.messages("t")
    assert {finding.thread_id for finding in running.log.verify()} >= {"t", "other"}


# --- the ledger -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "altered",
    [
        "status = 'failed'",
        "code = 'card_declined'",
        "attempts = 9",
        "node_id = 'other'",
        "ask = 3",
        "owner_epoch = 2",
        "begun_at = '2030'",
        "finished_at = NULL",
    ],
)
def test_a_row_of_the_ledger_is_compared_after_its_runs_end_as_well(
    running: Writer, log_url: str, altered: str
) -> None:
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, "done")
    running.end()
    assert findings(running) == []
    assert running.log.effects("t")[0].outcome is None

    change(log_url, f"UPDATE effects SET {altered}")

    assert [found.split(" of run")[0] for found in findings(running)] == [f"effect {KEY}"]
    with pytest.raises(CorruptLog):
        running.log.effects("t")


def test_a_ledger_of_the_first_releases_is_read_as_it_was_written(
    running: Writer, log_url: str
) -> None:
    running.log.begin_effect(intent(running))
    running.log.finish_effect(KEY, 1, OUTCOME, "done")
    running.end()
    change(log_url, "UPDATE effects SET checksum = 0")
    assert findings(running) == []
    assert [effect.status for effect in running.log.effects("t")] == ["done"]


def test_a_later_turn_and_a_rebuild_change_none_of_it(running: Writer, log_url: str) -> None:
    running.log.begin_effect(intent(running))
    running.end()
    next_turn(running, "r2").end()
    assert findings(running) == []
    assert running.log.rebuild().changed == ()
