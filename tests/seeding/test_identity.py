"""The ids of threads, runs, checkpoints, tickets, messages and effects."""

import pytest

from seeding import identity
from seeding.errors import InvalidRequest

EFFECT = identity.EffectName(
    thread_id="alice",
    run_id="R",
    run_epoch=1,
    graph="g@0123456789abcdef",
    node_id="pay",
    occurrence=0,
    ask=0,
)


@pytest.mark.parametrize("thread", ["a", "x" * 150, "with space", "ünï:code", "'; rm"])
def test_thread_ids_have_1_to_150_characters(thread: str) -> None:
    assert identity.check_thread_id(thread) == thread
    assert identity.thread_of_workflow(identity.workflow_id(thread)) == thread


@pytest.mark.parametrize("thread", ["", "x" * 151, "a/b", "a\nb", "a\x00", "a\x7f", "\u2028"])
def test_other_thread_ids_are_refused(thread: str) -> None:
    with pytest.raises(InvalidRequest, match="a thread id"):
        identity.check_thread_id(thread)


@pytest.mark.parametrize("workflow", ["alice", "threads/alice", "queue/alice", ""])
def test_a_workflow_id_of_another_form_is_refused_with_advice(workflow: str) -> None:
    with pytest.raises(InvalidRequest, match="--workflow-id thread/<thread id>"):
        identity.thread_of_workflow(workflow)


def test_checkpoint_ids_are_run_and_ordinal() -> None:
    assert identity.checkpoint_id("R", 7) == "R:7"
    assert identity.parse_checkpoint_id("R:7") == identity.CheckpointName("R", 7)
    assert identity.parse_checkpoint_id("a:b:0") == identity.CheckpointName("a:b", 0)


@pytest.mark.parametrize(
    "text", ["nope", "R:", ":7", "R:-1", "R:07", "R:x", "R:1234567890", "a\0b:1", ""]
)
def test_what_is_no_checkpoint_id_is_none(text: str) -> None:
    assert identity.parse_checkpoint_id(text) is None


def test_ticket_ids_name_run_node_occurrence_and_number() -> None:
    assert identity.ticket_id("R", "gate", 0, 1) == "R:gate:0:1"
    assert identity.parse_ticket_id("R:a.b:2:0") == identity.TicketName("R", "a.b", 2, 0)


def test_a_pauses_ticket_has_no_node() -> None:
    assert identity.ticket_id("R", "", 0, 2) == "R::0:2"
    assert identity.parse_ticket_id("R::0:2") == identity.TicketName("R", "", 0, 2)


@pytest.mark.parametrize("text", ["R:gate:0", "R:gate:x:0", ":gate:0:0", "R:a:b:0:0", ""])
def test_what_is_no_ticket_id_is_none(text: str) -> None:
    assert identity.parse_ticket_id(text) is None


def test_message_ids_are_commit_and_index() -> None:
    assert identity.message_id("R", 3, 0) == "R:3:0"


def test_an_effect_key_is_equal_for_equal_names_only() -> None:
    key = identity.effect_key(EFFECT)
    assert identity.effect_key(EFFECT.model_copy()) == key
    changes = {
        "thread_id": "bob",
        "run_id": "S",
        "run_epoch": 2,
        "graph": "g@fedcba9876543210",
        "node_id": "pay2",
        "occurrence": 1,
        "ask": 1,
    }
    others = [
        identity.effect_key(EFFECT.model_copy(update={name: value}))
        for name, value in changes.items()
    ]
    assert len({key, *others}) == 8
