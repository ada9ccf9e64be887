"""A list of operations in one transaction: each stands on those before it, on any branch."""

from log_writer import Writer, message, next_turn, opening, put

from activities.log import CommitLog
from seeding.commits import BranchPoint, CommitOperation, EndCause, RunPoint


def _end_and_open(running: Writer, fork: BranchPoint) -> list[CommitOperation]:
    """End r1 with a message and a cell, and open r2 on a branch that stands on that end."""
    end = running.commit(
        "Ended",
        cause=EndCause(kind="Stopped"),
        messages=(message("last words"),),
        state=(put("a", {"x": 1}), put("gone", 1)),
    )
    second = Writer(running.log, "r2")
    opens = second.commit(
        opening=opening(run_epoch=2, branch="b2", lineage=(fork,)),
        messages=(message("first words"),),
        state=(put("a", {"y": 2}, policy="commutative"),),
    )
    ended_at = running.version + 1
    return [running.make(end), second.make(opens, expected_thread_version=ended_at)]


def test_a_branch_stands_on_a_commit_of_the_same_list(running: Writer) -> None:
    tip = BranchPoint(thread_id="t", branch="main", up_to=2)
    assert running.log.append(_end_and_open(running, tip), whole=True).accepted == 2
    view = running.log.state("t")
    assert [found["id"] for found in view.state.messages] == ["m0", "last words", "first words"]
    assert (view.state.data, view.message_count) == ({"a": {"x": 1, "y": 2}, "gone": 1}, 3)


def test_a_branch_below_a_commit_of_the_same_list_does_not_see_it(running: Writer) -> None:
    below = BranchPoint(thread_id="t", branch="main", up_to=1)
    assert running.log.append(_end_and_open(running, below), whole=True).accepted == 2
    view = running.log.state("t")
    assert [found["id"] for found in view.state.messages] == ["m0", "first words"]
    assert (view.state.data, view.message_count) == ({"a": {"y": 2}}, 2)


def test_a_run_opened_by_a_list_merges_into_what_it_goes_on_with(log: CommitLog) -> None:
    first = Writer(log)
    first.open(state=(put("node/a", {"x": 1}, "position"),))
    first.end()
    point = RunPoint(thread_id="t", branch="main", run_id="r1", up_to=1)
    second = Writer(log, "r2")
    lineage = (BranchPoint(thread_id="t", branch="main", up_to=1),)
    how = opening(run_epoch=2, branch="b2", lineage=lineage, continues=(point,))
    merges = second.commit(state=(put("node/a", {"y": 2}, "position", "commutative"),))
    answer = log.append(
        [
            second.make(second.commit(opening=how)),
            second.make(merges, ordinal=1, expected_thread_version=3),
        ]
    )
    assert (answer.accepted, answer.refusal) == (2, None)
    assert log.position("r2")[1] == {"node/a": {"x": 1, "y": 2}}
    assert log.position("r1")[1] == {"node/a": {"x": 1}}


def test_the_next_turn_of_the_same_list_goes_on_after_its_messages(running: Writer) -> None:
    end = running.ending()
    said = running.make(
        end.commit.model_copy(update={"messages": (message("m1"),)}),
    )
    second = Writer(running.log, "r2")
    opens = second.make(
        second.commit(opening=opening(run_epoch=2), messages=(message("m2"),)),
        expected_thread_version=2,
    )
    assert running.log.append([said, opens], whole=True).accepted == 2
    assert [found["id"] for found in running.log.messages("t")] == ["m0", "m1", "m2"]
    second.ordinal, second.version = 1, 3
    second.end()
    third = next_turn(second, "r3", run_epoch=3)
    third.step(messages=(message("m3"),))
    assert [found["id"] for found in running.log.messages("t", after=2)] == ["m2", "m3"]


def test_only_a_commutative_set_merges_an_exclusive_one_replaces(running: Writer) -> None:
    running.step(state=(put("a", {"x": 1}), put("b", {"x": 1})))
    running.step(
        state=(put("a", {"y": 2}, policy="exclusive"), put("b", {"y": 2}, policy="disjoint"))
    )
    assert running.log.state("t").state.data == {"a": {"y": 2}, "b": {"y": 2}}
