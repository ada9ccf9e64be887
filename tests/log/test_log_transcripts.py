"""A transcript is a reference to a prefix that only grows (awaken 2.10)."""

from datetime import timedelta

import pytest
from log_writer import Writer, change, message, next_turn, opening

from activities.log import CommitLog, TranscriptReference
from seeding.errors import (
    CorruptLog,
    InvalidRange,
    OverlappingRanges,
    SnapshotMismatch,
    SnapshotUnavailable,
    UnknownCheckpoint,
    UnknownThread,
)
from seeding.request import EPHEMERAL


@pytest.fixture
def talking(running: Writer) -> Writer:
    """A run with the messages m0 to m4."""
    for number in range(1, 5):
        running.step(messages=(message(f"m{number}"),))
    return running


def ids(log: CommitLog, reference: TranscriptReference, *ranges: tuple[int, int]) -> list[str]:
    found = log.transcript_messages(reference, ranges or None)
    return [one["id"] for one in found]


def test_it_names_thread_branch_version_count_and_digest(talking: Writer) -> None:
    reference = talking.log.transcript("t")

    assert (reference.thread_id, reference.branch, reference.version) == ("t", "main", 5)
    assert reference.count == 5
    assert talking.log.transcript_messages(reference) == talking.log.messages("t")
    assert TranscriptReference.model_validate(reference.to_json()) == reference


def test_messages_appended_later_do_not_disturb_it(talking: Writer) -> None:
    reference = talking.log.transcript("t")
    talking.step(messages=(message("m5"),))
    talking.end()
    next_turn(talking, "r2").step(messages=(message("m6"),))

    assert ids(talking.log, reference) == ["m0", "m1", "m2", "m3", "m4"]
    assert talking.log.transcript("t", "r1:4") == reference


def test_at_an_earlier_checkpoint_it_is_the_prefix_up_to_there(talking: Writer) -> None:
    assert ids(talking.log, talking.log.transcript("t", "r1:2")) == ["m0", "m1", "m2"]


def test_on_a_branch_it_goes_along_the_lineage(talking: Writer) -> None:
    talking.end()
    lineage = talking.log.lineage("t", "main", 3)
    second = next_turn(talking, "r2", branch="b2", lineage=lineage)
    second.step(messages=(message("n1"),))

    reference = second.log.transcript("t")

    assert (reference.branch, ids(second.log, reference)) == ("b2", ["m0", "m1", "m2", "n1"])


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([(0, 5)], ["m0", "m1", "m2", "m3", "m4"]),
        ([(1, 3)], ["m1", "m2"]),
        ([(4, 5), (0, 1)], ["m0", "m4"]),
        ([(0, 2), (2, 3)], ["m0", "m1", "m2"]),
        ([(2, 2)], []),
        ([(0, 5), (2, 2), (5, 5)], ["m0", "m1", "m2", "m3", "m4"]),
    ],
)
def test_slices_are_half_open_and_given_in_ascending_order(
    talking: Writer, ranges: list[tuple[int, int]], expected: list[str]
) -> None:
    assert ids(talking.log, talking.log.transcript("t"), *ranges) == expected


@pytest.mark.parametrize("wrong", [(-1, 2), (0, 6), (3, 2), (6, 6)])
def test_a_slice_outside_is_refused(talking: Writer, wrong: tuple[int, int]) -> None:
    with pytest.raises(InvalidRange, match="transcript of 5 messages"):
        ids(talking.log, talking.log.transcript("t"), (0, 1), wrong)


@pytest.mark.parametrize("ranges", [[(0, 3), (2, 4)], [(2, 4), (0, 3)], [(0, 5), (1, 2), (3, 4)]])
def test_slices_that_overlap_are_refused(talking: Writer, ranges: list[tuple[int, int]]) -> None:
    with pytest.raises(OverlappingRanges):
        ids(talking.log, talking.log.transcript("t"), *ranges)


def test_other_messages_than_it_was_made_of_are_a_mismatch(talking: Writer) -> None:
    reference = talking.log.transcript("t")

    for changed in ({"digest": "0" * 64}, {"version": 4}, {"count": 4}):
        with pytest.raises(SnapshotMismatch):
            talking.log.transcript_messages(reference.model_copy(update=changed))


def test_a_version_that_was_given_again_after_an_ephemeral_run_is_a_mismatch(
    talking: Writer,
) -> None:
    talking.end()
    passing = next_turn(talking, "e1", config={"checkpointStore": EPHEMERAL})
    passing.step(messages=(message("e.1"),))
    passing.end()
    reference = passing.log.transcript("t")
    passing.log.forget_run("e1")
    with pytest.raises(SnapshotUnavailable, match="no commit 9"):
        talking.log.transcript_messages(reference)

    second = next_turn(talking, "r2")
    second.step(messages=(message("n1"),))
    second.end()

    with pytest.raises(SnapshotMismatch):
        talking.log.transcript_messages(reference)


def test_a_commit_that_was_pruned_or_never_was_is_unavailable(talking: Writer) -> None:
    reference = talking.log.transcript("t", "r1:2")
    talking.end()
    next_turn(talking, "r2").end()
    last = talking.log.transcript("t")
    talking.log.prune(older_than=timedelta(0), keep=1, apply=True)

    with pytest.raises(SnapshotUnavailable, match="it was pruned"):
        talking.log.transcript_messages(reference)
    with pytest.raises(SnapshotUnavailable):
        talking.log.transcript_messages(reference.model_copy(update={"branch": "nowhere"}))
    assert ids(talking.log, last) == ["m0", "m1", "m2", "m3", "m4"]


def test_of_a_branch_that_went_whole_it_is_unavailable(talking: Writer) -> None:
    talking.end()
    second = Writer(talking.log, "r2")
    second.open(how=opening(run_epoch=2, branch="b2", lineage=()))
    second.end()
    reference = talking.log.transcript("t", "r1:5")
    talking.log.prune(older_than=timedelta(0), keep=0, apply=True)

    with pytest.raises(SnapshotUnavailable):
        talking.log.transcript_messages(reference)


def test_a_message_that_changed_is_corrupt(talking: Writer, log_url: str) -> None:
    reference = talking.log.transcript("t")
    change(log_url, "UPDATE messages SET body = '{}' WHERE place = 1")

    with pytest.raises(CorruptLog, match="message 1 of thread t"):
        talking.log.transcript_messages(reference)


def test_what_is_not_there_has_none(talking: Writer) -> None:
    with pytest.raises(UnknownThread):
        talking.log.transcript("nobody")
    with pytest.raises(UnknownCheckpoint):
        talking.log.transcript("t", "r1:99")
