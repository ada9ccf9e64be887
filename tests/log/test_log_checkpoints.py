"""What people list of a thread, and what a start may name."""

from log_writer import Writer, next_turn

from activities.log import CheckpointRow, CommitLog, StoredCheckpoint
from seeding.errors import RunTerminal, UnknownThread


def test_checkpoints_are_completions_pauses_and_ends_but_not_openings(running: Writer) -> None:
    running.step(node_id="draft", checkpoint="node")
    running.step()
    running.wait(running.ticket(), node_id="gate", checkpoint="pause")
    running.answer(running.ticket(), node_id="gate", checkpoint="node")
    running.end()
    assert running.log.checkpoints("t")[0] == CheckpointRow(
        id="r1:1",
        name=None,
        parent=None,
        run_id="r1",
        branch="main",
        ordinal=1,
        node_id="draft",
        kind="node",
        created_at="2030-01-02T12:00:01.000Z",
    )
    shown = [
        (row.id, row.name, row.parent, row.node_id, row.kind)
        for row in running.log.checkpoints("t")
    ]
    assert shown == [
        ("r1:1", None, None, "draft", "node"),
        ("r1:3", None, "r1:1", "gate", "pause"),
        ("r1:4", None, "r1:3", "gate", "node"),
        ("r1:5", "workflow_end", "r1:4", None, "end"),
    ]


def test_the_parent_of_a_turns_first_is_the_last_before_it_on_its_branch(
    running: Writer,
) -> None:
    first = running.step(checkpoint="node")
    running.step(checkpoint="node")
    running.end()
    second = next_turn(running, "r2")
    second.step(checkpoint="node")
    second.end()
    point = running.log.checkpoint(first)
    assert point is not None
    lineage = running.log.lineage("t", "main", point.version)
    third = next_turn(second, "r3", branch="b2", lineage=lineage)
    third.step(checkpoint="node")
    shown = {row.id: (row.parent, row.branch) for row in running.log.checkpoints("t")}
    assert shown == {
        "r1:1": (None, "main"),
        "r1:2": ("r1:1", "main"),
        "r1:3": ("r1:2", "main"),
        "r2:1": ("r1:3", "main"),
        "r2:2": ("r2:1", "main"),
        "r3:1": ("r1:1", "b2"),
    }


def test_a_checkpoint_says_whether_its_run_has_ended_by_now(running: Writer) -> None:
    at = running.step()
    expected = StoredCheckpoint(
        checkpoint_id="r1:1",
        run_id="r1",
        ordinal=1,
        thread_id="t",
        version=2,
        branch="main",
        run_ended=False,
        is_last=True,
    )
    assert running.log.checkpoint(at) == expected
    running.end()
    assert running.log.checkpoint(at) == expected.model_copy(
        update={"run_ended": True, "is_last": False}
    )


def test_threads_are_listed_with_the_run_opened_last(running: Writer) -> None:
    running.end()
    next_turn(running, "r2", start={"source": "thread"}, idempotency_key="key-1")
    Writer(running.log, "o1", "other").open()
    listed = running.log.threads()
    assert [(thread.thread_id, thread.version, thread.run.run_id) for thread in listed] == [
        ("other", 1, "o1"),
        ("t", 3, "r2"),
    ]
    assert listed[1].run.start == {"source": "thread"}
    assert running.log.run_of_key("t", "key-1") == listed[1].run
    assert running.log.run_of_key("other", "key-1") is None
    assert running.log.highest_epoch("t") == 2
    assert [run.run_id for run in running.log.runs("t")] == ["r1", "r2"]


def test_open_tickets_are_listed_over_all_threads(running: Writer) -> None:
    other = Writer(running.log, "o1", "other")
    other.open()
    running.wait(running.ticket())
    other.wait(other.ticket())
    everywhere = [ticket.body.ticket for ticket in running.log.open_tickets()]
    assert everywhere == ["r1:gate:0:0", "o1:gate:0:0"]
    assert [found.body.run_id for found in running.log.open_tickets("other")] == ["o1"]


def test_only_a_run_that_has_not_ended_is_taken_over(running: Writer) -> None:
    running.end()
    for run_id, error in (("r1", RunTerminal), ("nobody", UnknownThread)):
        try:
            running.log.take_over(run_id, "chain-2")
        except error:
            continue
        raise AssertionError(f"{run_id} was taken over")


def test_graphs_are_kept_once_by_digest(log: CommitLog) -> None:
    log.put_graph("d1", "greet", {"id": "greet", "nodes": []})
    log.put_graph("d1", "greet", {"id": "greet", "nodes": [], "label": "moved"})
    log.put_graph("d1", "copy", {"id": "copy", "nodes": []})
    log.put_graph("d2", "greet", {"id": "greet", "nodes": [1]})
    first = log.graph("d1")
    assert first is not None
    assert (first.graph_id, first.body) == ("greet", {"id": "greet", "nodes": []})
    copy = log.graph("d1", "copy")
    assert copy is not None
    assert copy.body == {"id": "copy", "nodes": []}
    assert [graph.digest for graph in log.graphs_named("greet")] == ["d1", "d2"]
    assert log.graph("d3") is None
    assert log.graphs_named("nobody") == []
