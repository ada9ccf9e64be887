"""What is damaged in the log is named: a start is refused, and a call waits for it to be mended."""

import sqlite3
from contextlib import closing

import pytest

from seeding.errors import CorruptLog
from tests.engine.graphs import graph, until_completed
from tests.engine.stage import Stage, failure_of, until, update
from tests.engine.test_missing_node_types import until_given_back

TURN = graph("turn", {"keep": ("set", {"state_update": {"data": {"k": "v"}}})})


def damage(stage: Stage, statement: str) -> None:
    path = stage.log_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert other.execute(statement).rowcount == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("altered", """'"other"'"""), ("no-text", "cast(x'7b22ff' as text)")],
)
async def test_the_next_turn_of_a_damaged_thread_is_refused_and_the_others_go_on(
    stage: Stage, name: str, value: str
) -> None:
    thread = f"damaged-{name}"
    assert (await stage.run(thread, {"graph": TURN}))["status"] == "completed"
    damage(stage, f"UPDATE cells SET value = {value} WHERE thread_id = '{thread}' AND key = 'k'")

    refused = await failure_of(await stage.start(thread, graph=TURN))

    assert refused.type == "CorruptLog"
    assert refused.non_retryable
    again = await failure_of(await stage.start(thread, graph=TURN))
    assert again.type == "CorruptLog"
    assert (await stage.run(f"{thread}-other", {"graph": TURN}))["status"] == "completed"


async def test_a_thread_that_was_forked_from_what_is_lost_does_not_begin_afresh(
    stage: Stage,
) -> None:
    ran = await stage.run("lost-origin", {"graph": TURN})
    stage.log.fork(ran["checkpointId"], "lost-fork")
    last = int(ran["checkpointId"].rpartition(":")[2])
    damage(
        stage,
        f"DELETE FROM commits WHERE run_id = '{ran['runId']}' AND ordinal = {last}",
    )

    refused = await failure_of(await stage.start("lost-fork", graph=TURN))

    assert refused.type == "CorruptLog"
    assert refused.message.startswith(
        "thread 'lost-fork' was forked from thread 'lost-origin' at its commit "
    )
    assert stage.log.runs("lost-fork") == []


async def test_a_node_is_not_called_without_an_output_that_it_is_given(stage: Stage) -> None:
    document = graph(
        "given",
        {"make": ("large", {"size": 40_000}), "gate": "gate", "measure": "measure"},
        "make.value -> measure.text",
        "gate.answer -> measure.answer",
    )
    handle = await stage.start("damaged-output", graph=document)
    await until(handle, "awaiting")
    await until_completed(handle, "make")
    run = str(handle.first_execution_run_id)
    elsewhere = f"{run}-kept"
    damage(stage, f"UPDATE run_rows SET run_id = '{elsewhere}' WHERE run_id = '{run}'")
    await update(handle, "resume", {"decision": "approve"})

    shown = await until_given_back(handle)

    assert shown.application_failure_info.type == "CorruptLog"
    assert shown.message == (f"output make:0 of run {run}, an input of node 'measure', is missing")
    damage(stage, f"UPDATE run_rows SET run_id = '{run}' WHERE run_id = '{elsewhere}'")
    result = await handle.result()
    assert result["results"]["measure"] == {"length": 40_000}
    damage(stage, f"DELETE FROM run_rows WHERE run_id = '{run}' AND node_id = 'measure'")
    with pytest.raises(CorruptLog, match="has 2 outputs of 3"):
        stage.log.completed_outputs(run)
