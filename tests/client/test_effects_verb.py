"""``fermata effects``: the effect ledger as people and programs read it."""

from collections.abc import Callable

import pytest
from command_runner import Answer
from written_log import WrittenThread

from activities.log import EffectIntent

Command = Callable[..., Answer]


def begin(alice: WrittenThread, key: str, node: str, run_id: str = "R") -> None:
    alice.log.begin_effect(
        EffectIntent(
            effect_key=key,
            thread_id=alice.thread_id,
            run_id=run_id,
            node_id=node,
            occurrence=0,
            node_type="bank",
            arguments_hash="ab" * 32,
        )
    )


@pytest.fixture
def paying(alice: WrittenThread) -> WrittenThread:
    """Run R with a finished effect and two that are not."""
    alice.open()
    begin(alice, "k1", "pay")
    alice.log.finish_effect("k1", 1, {"result": {"outputs": {}}}, "done")
    begin(alice, "k2", "post")
    alice.log.finish_effect("k2", 1, None, "begun", "busy")
    begin(alice, "k3", "tell")
    return alice


def test_a_row_has_the_fields_of_contract_1_and_no_outcome(
    fermata: Command, paying: WrittenThread
) -> None:
    assert fermata("effects", "alice", "--json").document[0] == {
        "effectKey": "k1",
        "runId": "R",
        "nodeId": "pay",
        "occurrence": 0,
        "ask": 0,
        "type": "bank",
        "status": "done",
        "code": None,
        "attempts": 1,
        "argumentsHash": "ab" * 32,
        "begunAt": "2030-01-02T12:00:01.000Z",
        "finishedAt": "2030-01-02T12:00:02.000Z",
    }


def test_a_failure_that_may_be_tried_again_is_told_from_a_call_on_its_way(
    fermata: Command, paying: WrittenThread
) -> None:
    shown = fermata("effects", "alice", "--json").document

    assert [(row["status"], row["code"], row["finishedAt"]) for row in shown[1:]] == [
        ("begun", "busy", "2030-01-02T12:00:04.000Z"),
        ("begun", None, None),
    ]


def test_the_effects_of_one_run(fermata: Command, paying: WrittenThread) -> None:
    paying.end("R")
    paying.open_next_turn()
    begin(paying, "k4", "pay", "S")

    def keys(*options: str) -> list[str]:
        rows = fermata("effects", "alice", *options, "--json").document
        return [row["effectKey"] for row in rows]

    assert keys() == ["k1", "k2", "k3", "k4"]
    assert keys("--run", "R") == ["k1", "k2", "k3"]
    assert keys("--run", "S") == ["k4"]


def test_a_run_the_thread_does_not_have_exits_1(fermata: Command, alice: WrittenThread) -> None:
    alice.open()
    WrittenThread(alice.log, "bob").open("B")

    for run_id in ("B", "none"):
        assert fermata("effects", "alice", "--run", run_id).refusal == (
            f"UnknownRun: thread 'alice' has no run '{run_id}'; see `fermata runs alice`"
        )


def test_people_get_a_table(fermata: Command, paying: WrittenThread) -> None:
    answer = fermata("effects", "alice")

    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].split() == [
        *("effect", "node", "type", "status", "code", "attempts", "begun", "finished", "run")
    ]
    assert lines[1].split()[:4] == ["k1", "pay:0", "bank", "done"]


def test_a_thread_without_effects_says_so(fermata: Command, alice: WrittenThread) -> None:
    alice.open()

    assert fermata("effects", "alice").out == "no effects\n"
    assert fermata("effects", "alice", "--json").document == []
