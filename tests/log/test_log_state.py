"""What is read: the state at any commit, branches, positions, rows."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_writer import Clock, Writer, drop, message, next_turn, opening, put

from activities.log import CommitLog
from seeding.commits import (
    CauseKind,
    IteratorHead,
    PositionHead,
    RunRow,
    StateCommand,
)
from seeding.errors import UnknownCheckpoint, UnknownThread
from seeding.fold import fold as fold_commits
from seeding.model import Json, JsonObject
from seeding.state import merge_keys
from seeding.tickets import TicketClosing


def test_a_new_thread_shows_its_opening(running: Writer) -> None:
    view = running.log.state("t")
    assert view.state.to_json() == {
        "status": None,
        "isComplete": False,
        "error": None,
        "messages": [message("m0")],
        "data": {},
        "metadata": {},
        "threadId": "t",
        "currentNodeId": "",
        "iterationCount": 0,
        "iterator": None,
    }
    assert (view.checkpoint_id, view.version, view.branch) == ("r1:0", 1, "main")
    assert (view.phase, view.message_count, view.run.phase) == ("running", 1, "running")


def test_a_run_paused_in_a_loop_shows_its_position_and_keys_nobody_knows(
    running: Writer,
) -> None:
    items = tuple(
        RunRow(kind="item", node_id="each", occurrence=0, index=n, value=value)
        for n, value in enumerate([50, 150])
    )
    result = RunRow(kind="result", node_id="each", occurrence=0, index=0, value=50)
    running.step(rows=items)
    running.wait(
        running.ticket(),
        rows=(result,),
        state=(put("state/colour", {"deep": [1]}, "position"), put("node/gate", 1, "position")),
        position=PositionHead(
            current_node_id="gate",
            iteration_count=2,
            iterator=IteratorHead(node_id="each", occurrence=0, index=1, items=2, results=1),
        ),
    )
    view = running.log.state("t", messages=False)
    assert view.state.to_json() == {
        "status": None,
        "isComplete": False,
        "error": None,
        "messages": [],
        "data": {},
        "metadata": {},
        "threadId": "t",
        "currentNodeId": "gate",
        "iterationCount": 2,
        "iterator": {"items": [50, 150], "index": 1, "results": [50]},
        "colour": {"deep": [1]},
    }
    assert view.phase == "awaiting"
    assert [ticket.body.ticket for ticket in view.open_tickets] == ["r1:gate:0:0"]
    assert running.log.state("t", "r1:1").state.iterator is None


def test_rows_given_again_are_read_as_of_the_checkpoint(running: Writer) -> None:
    def row(value: Json) -> RunRow:
        return RunRow(kind="item", node_id="each", occurrence=0, index=0, value=value)

    head = PositionHead(
        iterator=IteratorHead(node_id="each", occurrence=0, index=0, items=1, results=0)
    )
    before = running.step(rows=(row("old"),), position=head)
    running.step(rows=(row("new"),), position=head)
    assert running.log.state("t", before).state.iterator == {
        "items": ["old"],
        "index": 0,
        "results": [],
    }
    assert running.log.rows("r1", "item", "each", 0, 1) == ["new"]


OUTCOMES: list[tuple[CauseKind, str, str | None]] = [
    ("NaturalEnd", "completed", None),
    ("Stopped", "completed", None),
    ("MaxIterations", "failed", "why"),
    ("Error", "failed", "why"),
    ("FailedVerification", "failed", "why"),
    ("Indeterminate", "failed", "why"),
    ("Cancelled", "cancelled", None),
]


@pytest.mark.parametrize(("kind", "status", "error"), OUTCOMES)
def test_a_cause_decides_status_and_error_from_the_end_on(
    running: Writer, kind: CauseKind, status: str, error: str | None
) -> None:
    before = running.step()
    end = running.end(kind, "why")
    ended = running.log.state("t").state
    assert (ended.status, ended.is_complete, ended.error) == (status, True, error)
    assert running.log.state("t", "workflow_end").checkpoint_id == end
    live = running.log.state("t", before)
    assert (live.state.status, live.state.is_complete, live.phase) == (None, False, "running")
    assert live.run.phase == "ended"


def test_aw_61_a_new_run_does_not_see_what_the_finished_one_owned(running: Writer) -> None:
    running.step(
        state=(
            put("node/a", "first", "position"),
            put("state/colour", "red", "position"),
            put("kept", 1),
            put("kept", 2, "metadata"),
        ),
        position=PositionHead(current_node_id="a", iteration_count=3),
    )
    end = running.end()
    second = next_turn(running, "r2")
    assert second.log.position("r2") == (PositionHead(), {})
    state = second.log.state("t").state.to_json()
    assert (state["currentNodeId"], state["iterationCount"], "colour" in state) == ("", 0, False)
    assert (state["data"], state["metadata"], state["status"]) == ({"kept": 1}, {"kept": 2}, None)
    second.step(state=(put("node/a", "second", "position"),))
    assert second.log.position("r1")[1]["node/a"] == "first"
    assert second.log.position("r2")[1] == {"node/a": "second"}
    assert second.log.state("t", end).state.to_json()["colour"] == "red"


def test_a_commutative_set_merges_objects_and_replaces_anything_else(running: Writer) -> None:
    def merge(key: str, value: Json) -> StateCommand:
        return put(key, value, policy="commutative")

    running.step(state=(put("a", {"x": 1, "y": {"deep": 1}}), put("b", [1])))
    running.step(state=(merge("a", {"y": 2}), merge("b", {"x": 1}), merge("c", {"x": 1})))
    running.step(state=(merge("a", {"z": 3}), merge("a", {"x": 9}), merge("c", 5)))
    assert running.log.state("t").state.data == {
        "a": {"x": 9, "y": 2, "z": 3},
        "b": {"x": 1},
        "c": 5,
    }
    running.step(state=(drop("a"), merge("a", {"new": True})))
    assert running.log.state("t").state.data["a"] == {"new": True}


def test_an_explicit_null_is_a_value_and_a_removed_key_is_absent(running: Writer) -> None:
    before = running.step(state=(put("a", None), put("b", 1), put("", 2)))
    running.step(state=(drop("b"),))
    assert running.log.state("t").state.data == {"a": None, "": 2}
    assert running.log.state("t", before).state.data == {"a": None, "b": 1, "": 2}


def test_a_branch_sees_the_prefix_it_stands_on_and_nothing_after(running: Writer) -> None:
    fork = running.step(messages=(message("m1"),), state=(put("a", 1), put("b", 1)))
    running.step(messages=(message("m2"),), state=(put("a", 2), put("c", 1)))
    end = running.end()
    point = running.log.checkpoint(fork)
    assert point is not None
    lineage = running.log.lineage("t", point.branch, point.version)
    second = next_turn(running, "r2", branch="b2", lineage=lineage)
    second.step(messages=(message("m2"), message("n1")), state=(drop("b"), put("d", 4)))
    view = second.log.state("t")
    assert [found["id"] for found in view.state.messages] == ["m0", "m1", "m2", "n1"]
    assert (view.state.data, view.message_count) == ({"a": 1, "d": 4}, 4)
    assert second.log.messages("t", after=1, limit=2) == [message("m1"), message("m2")]
    assert second.log.messages("t", after=3) == [message("n1")]
    old = second.log.state("t", end).state
    assert [found["id"] for found in old.messages] == ["m0", "m1", "m2"]
    assert old.data == {"a": 2, "b": 1, "c": 1}

    second.end()
    deep = second.log.lineage("t", "b2", second.version)
    third = next_turn(second, "r3", branch="b3", lineage=deep, run_epoch=3)
    third.step(messages=(message("z1"),))
    names = [found["id"] for found in third.log.messages("t")]
    assert names == ["m0", "m1", "m2", "n1", "z1"]
    clash = third.commit(messages=(message("m0"),))
    answer = third.log.append([third.make(clash)])
    assert answer.refusal is not None
    assert answer.refusal.code == "DuplicateMessage"
    assert [branch.name for branch in third.log.branches("t")] == ["main", "b2", "b3"]


def test_a_branch_on_nothing_starts_empty(running: Writer) -> None:
    running.step(state=(put("a", 1),))
    running.end()
    second = next_turn(running, "r2", branch="b2", lineage=())
    second.step(messages=(message("m0"),))
    state = second.log.state("t").state
    assert (state.data, state.messages) == ({}, [message("m0")])


def test_a_fork_onto_another_thread_reads_the_prefix_of_the_first(running: Writer) -> None:
    running.step(messages=(message("m1"),), state=(put("a", 1),))
    lineage = running.log.lineage("t", "main", running.version)
    fork = Writer(running.log, "f1", "forked")
    fork.open(how=opening(lineage=lineage), messages=(message("f0"),))
    running.step(state=(put("a", 2),))
    state = running.log.state("forked").state
    assert [found["id"] for found in state.messages] == ["m0", "m1", "f0"]
    assert (state.data, state.thread_id) == ({"a": 1}, "forked")


def test_outputs_come_in_the_order_of_completion(running: Writer) -> None:
    def output(node: str, occurrence: int, value: Json) -> RunRow:
        return RunRow(kind="output", node_id=node, occurrence=occurrence, value={"outputs": value})

    running.step(rows=(output("b", 0, 1),))
    running.step(rows=(output("a", 0, 2), output("b", 1, 3)))
    found = running.log.all_outputs("r1")
    assert [(row.node_id, row.occurrence, row.value["outputs"]) for row in found] == [
        ("b", 0, 1),
        ("a", 0, 2),
        ("b", 1, 3),
    ]
    assert running.log.outputs("r1", [("b", 1), ("a", 0), ("c", 0)]) == {
        ("b", 1): {"outputs": 3},
        ("a", 0): {"outputs": 2},
    }
    assert running.log.outputs("r1", []) == {}
    assert running.log.outputs("r9", [("b", 1)]) == {}


def test_a_position_is_read_as_of_any_commit(running: Writer) -> None:
    running.step(
        state=(put("node/a", 1, "position"), put("due/b", {}, "position")),
        position=PositionHead(current_node_id="a"),
    )
    running.step(
        state=(put("node/a", 2, "position"), drop("due/b", "position")),
        position=PositionHead(current_node_id="b", counters={"order": 2}),
    )
    assert running.log.position("r1", 1) == (
        PositionHead(current_node_id="a"),
        {"node/a": 1, "due/b": {}},
    )
    assert running.log.position("r1") == (
        PositionHead(current_node_id="b", counters={"order": 2}),
        {"node/a": 2},
    )


def test_closed_tickets_come_in_the_order_of_closing(running: Writer) -> None:
    tickets = [running.ticket(f"gate{n}") for n in range(4)]
    running.wait(*tickets)
    for ticket in (tickets[2], tickets[0], tickets[3]):
        running.answer(ticket)
    found = running.log.closed_tickets("r1", 2)
    assert [closing.ticket for closing in found] == ["r1:gate0:0:0", "r1:gate3:0:0"]
    assert found[0] == TicketClosing(ticket="r1:gate0:0:0", outcome="answered", decision="approve")


@pytest.mark.parametrize("name", ["r1:9", "r9:0", "nonsense", "workflow_end", "r1:01", ""])
def test_a_checkpoint_that_names_nothing_is_unknown(running: Writer, name: str) -> None:
    with pytest.raises(UnknownCheckpoint):
        running.log.state("t", name)
    assert running.log.checkpoint(name) is None


def test_a_checkpoint_of_another_thread_is_unknown_here(running: Writer) -> None:
    other = Writer(running.log, "o1", "other")
    other.open()
    with pytest.raises(UnknownCheckpoint, match="it is one of thread 'other'"):
        running.log.state("t", "o1:0")


def test_a_thread_without_a_run_is_unknown(log: CommitLog) -> None:
    for read in (log.state, log.messages, log.checkpoints):
        with pytest.raises(UnknownThread):
            read("nobody")
    assert log.latest_run("nobody") is None
    assert log.run("nobody") is None
    assert log.run_of_chain("nobody") is None
    assert (log.runs("nobody"), log.threads(), log.branches("nobody")) == ([], [], [])
    assert (log.highest_epoch("nobody"), log.thread_version("nobody")) == (0, 0)
    with pytest.raises(UnknownCheckpoint):
        log.position("nobody")


# --- the state at every checkpoint is a plain fold ------------------------------------------

KEYS = st.sampled_from(["a", "b", "c", "é"])
VALUES = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.text(max_size=3),
    st.dictionaries(KEYS, st.integers(0, 3), max_size=2),
    st.lists(st.booleans(), max_size=2),
)


def _command(remove: bool, cell: str, key: str, value: Json, policy: str) -> StateCommand:
    return drop(key, cell) if remove else put(key, value, cell, policy)


COMMANDS = st.builds(
    _command,
    st.booleans(),
    st.sampled_from(["data", "metadata", "position"]),
    KEYS,
    VALUES,
    st.sampled_from(["disjoint", "commutative"]),
)
STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.lists(COMMANDS, max_size=4), st.sampled_from("-----ebf")),
    min_size=1,
    max_size=12,
)


class Fold:
    """A thread held in memory, one copy of everything for every commit."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []
        self.cells: dict[str, JsonObject] = {"data": {}, "metadata": {}, "position": {}}

    def copy(self) -> "Fold":
        other = Fold()
        other.messages = list(self.messages)
        other.cells = {name: dict(cell) for name, cell in self.cells.items()}
        return other

    def apply(self, added: list[JsonObject], commands: list[StateCommand]) -> None:
        self.messages += added
        for command in commands:
            cell = self.cells[command.cell]
            pair: list[Json] = [cell.get(command.key), command.value]
            both = all(isinstance(value, dict) for value in pair)
            if command.op == "remove":
                cell.pop(command.key, None)
            elif command.policy == "commutative" and both:
                cell[command.key] = merge_keys(*pair)
            else:
                cell[command.key] = command.value


@settings(
    max_examples=25,
    deadline=None,
    # Each example makes a log of its own.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS, data=st.data())
def test_the_state_at_every_checkpoint_is_the_fold_of_its_lineage(
    new_log_url: Callable[[], str],
    steps: list[tuple[int, list[StateCommand], str]],
    data: st.DataObject,
) -> None:
    with CommitLog.open(new_log_url(), clock=Clock()) as log:
        writer, fold, branch = Writer(log), Fold(), "main"
        writer.open()
        seen: dict[str, Fold] = {writer.at: fold.copy()}
        for number, (count, commands, then) in enumerate(steps):
            added = [message(f"{number}.{index}") for index in range(count)]
            fold.apply(added, commands)
            seen[writer.step(messages=tuple(added), state=tuple(commands))] = fold.copy()
            if then == "-":
                continue
            seen[writer.end()] = fold.copy()
            how: dict[str, Any] = {"run_epoch": number + 2, "branch": branch}
            if then != "e":
                at = data.draw(st.sampled_from(sorted(seen)))
                point = log.checkpoint(at)
                assert point is not None
                lineage = log.lineage("t", point.branch, point.version)
                fold = seen[at].copy() if then == "f" else Fold()
                branch = f"b{number}"
                how |= {"branch": branch, "lineage": lineage if then == "f" else ()}
            fold.cells["position"] = {}
            writer = next_turn(writer, f"r{number + 2}", **how)
            seen[writer.at] = fold.copy()
        for at, folded in seen.items():
            view = log.state("t", at)
            assert view.state.messages == folded.messages
            assert view.message_count == len(folded.messages)
            assert view.state.data == folded.cells["data"]
            assert view.state.metadata == folded.cells["metadata"]
            reach = {
                point.branch: point.up_to for point in log.lineage("t", view.branch, view.version)
            }
            along = [
                found.operation.commit
                for found in log.commits("t")
                if found.thread_version <= reach.get(found.branch, 0)
            ]
            assert view.state == fold_commits(along)
            run_id, ordinal = at.split(":")
            assert log.position(run_id, int(ordinal))[1] == folded.cells["position"]
