"""Nodes that crash in any way and with any text: reported once, in bounds, the worker goes on."""

import pytest

from tests.engine.failed_runs import alone, calls_of, cause_of, failed_run, handled
from tests.engine.failing_nodes import ENORMOUS
from tests.engine.stage import Stage, failure_of


async def test_an_exception_of_the_engines_own_kind_has_its_type_once(stage: Stage) -> None:
    thread = "error-type-once"
    await failed_run(stage, thread, alone("raises_a_type_error"))
    assert stage.log.state(thread).state.error == "TypeError: no number"
    assert (await cause_of(stage, thread))["details"] == {
        "code": "TypeError",
        "node_id": "risky",
        "occurrence": 0,
        "cause": "TypeError: no number",
    }


CRASHES = {
    "exits": "SystemExit: 3",
    "exits_plainly": "SystemExit: 3",
    "is_interrupted": "KeyboardInterrupt: enough",
    "is_interrupted_plainly": "KeyboardInterrupt: enough",
    "gives_up": "GivesUp: for good",
    "says_nothing": "ValueError",
    "cancels_itself": "CancelledError: node 'risky' cancelled itself",
    "ends_an_iteration": "StopIteration",
    "raises_unicode": "ValueError: a\\ud800b",
}


@pytest.mark.parametrize("kind", CRASHES)
async def test_however_a_node_crashes_its_run_fails_once_and_its_worker_goes_on(
    stage: Stage, kind: str
) -> None:
    handle = await stage.start(f"error-{kind}", graph=alone(kind))
    failure = await failure_of(handle)
    assert failure.message == CRASHES[kind]
    assert await calls_of(handle) == 1
    assert (await stage.run(f"error-{kind}", {"graph": alone("noted")}))["status"] == "completed"


@pytest.mark.parametrize("kind", ENORMOUS)
async def test_a_failure_of_any_size_is_reported_in_bounds(
    stage: Stage, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """5 MB in a text, a cause, a context, a note or a name; the server takes 4 in all."""
    thread = f"error-{kind}"
    handle = await stage.start(thread, graph=alone("is_enormous", {"kind": kind}))
    failure = await failure_of(handle)
    cause = await cause_of(stage, thread)
    assert failure.message.startswith(ENORMOUS[kind])
    assert len(failure.message) <= 4_300
    assert len(str(cause)) <= 9_000
    assert await calls_of(handle) == 1
    (failed,) = [
        event.activity_task_failed_event_attributes.failure
        for event in (await handle.fetch_history()).events
        if event.HasField("activity_task_failed_event_attributes")
    ]
    assert not failed.HasField("cause")
    assert all(len(record.getMessage()) <= 33_000 for record in caplog.records)


async def test_a_crash_is_in_its_workers_log_with_where_it_happened(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    await failed_run(stage, "error-logged", alone("is_enormous", {"kind": "cause"}))
    (logged,) = [
        record.getMessage()
        for record in caplog.records
        if record.name == "activities.failure_texts"
    ]
    assert logged.startswith("node 'risky' (type 'is_enormous') of run ")
    assert "in is_enormous\n" in logged
    assert logged.endswith("RuntimeError: outer")


async def test_enormous_parts_of_a_node_error_are_bounded_on_its_error_edge(stage: Stage) -> None:
    document = handled("is_an_enormous_node_error")
    error = (await stage.run("error-node-error", {"graph": document}))["results"]["risky"]["error"]
    assert error == {
        "message": "m" * 4_000,
        "code": "c" * 200,
        "node_id": "risky",
        "retryable": False,
        "details": {"omitted": "details were 5000002 bytes of JSON, at most 16384 are kept"},
    }


async def test_enormous_parts_of_a_node_error_are_bounded_in_the_cause_of_the_end(
    stage: Stage,
) -> None:
    thread = "error-node-error-alone"
    await failed_run(stage, thread, alone("is_an_enormous_node_error"))
    cause = await cause_of(stage, thread)
    assert cause["message"] == "m" * 4_000
    assert cause["details"]["code"] == "c" * 200
    assert len(cause["details"]["details"]["omitted"]) == 58


async def test_a_node_error_made_of_odd_values_is_still_a_node_error(stage: Stage) -> None:
    result = await stage.run("error-strange", {"graph": handled("fails_strangely")})
    assert result["results"]["risky"]["error"] == {
        "message": "None \\ud800",
        "code": "7",
        "node_id": "risky",
        "retryable": False,
    }


async def test_details_that_are_no_json_are_left_out_and_say_so(stage: Stage) -> None:
    result = await stage.run("error-odd", {"graph": handled("fails_oddly")})
    error = result["results"]["risky"]["error"]
    assert error["code"] == "odd"
    assert error["details"] == {"omitted": "details were no JSON"}


async def test_details_above_16_kb_are_left_out_and_say_so(stage: Stage) -> None:
    config = {"code": "long", "details": ["x" * 1_000] * 60}
    result = await stage.run("error-long", {"graph": handled("fails_with", config)})
    assert result["results"]["risky"]["error"]["details"] == {
        "omitted": "details were 60181 bytes of JSON, at most 16384 are kept"
    }
