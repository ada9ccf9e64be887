"""How nodes fail: along an error edge, or the run with its cause; retried in place, in bounds."""

from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from seeding.model import JsonObject
from tests.engine.failing_nodes import ENORMOUS
from tests.engine.graphs import graph, until_called, until_completed
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Handle, Stage, failure_of, until


def handled(kind: str, config: JsonObject | None = None, *more: str) -> JsonObject:
    """A graph whose first node has an error edge to a handler, and a successor."""
    return graph(
        "handled",
        {"risky": (kind, config or {}), "handler": "noted", "after": "noted"},
        "risky.error -> handler.error",
        "risky.value -> after.value",
        *more,
    )


def alone(kind: str, config: JsonObject | None = None) -> JsonObject:
    return graph("alone", {"risky": (kind, config or {}), "after": "noted"}, "risky.v -> after.v")


async def failed_run(stage: Stage, thread: str, document: JsonObject) -> JsonObject:
    """Run a graph that fails and return the result in the failure's details."""
    handle = await stage.start(thread, graph=document)
    failure = await failure_of(handle)
    assert failure.type == "Error"
    assert failure.non_retryable
    (result,) = failure.details
    assert failure.message == stage.log.state(thread).state.error
    return result


async def cause_of(stage: Stage, thread: str) -> JsonObject:
    run = stage.log.latest_run(thread)
    assert run is not None
    assert run.cause is not None
    return run.cause.to_json()


async def test_a_node_error_with_an_error_edge_reaches_its_handler_exactly_so(
    stage: Stage,
) -> None:
    """ERR-1, ERR-7, ERR-10: the run completes, the successor is skipped."""
    config = {"code": "no_funds", "details": {"missing": 3}}
    result = await stage.run("error-routed", {"graph": handled("fails_with", config)})
    error = {
        "message": "it failed",
        "code": "no_funds",
        "node_id": "risky",
        "retryable": False,
        "details": {"missing": 3},
    }
    assert result["status"] == "completed"
    assert result["results"] == {
        "risky": {"error": error},
        "handler": {"value": {"error": error}},
    }
    assert result["metadata"] == {"nodes_skipped": 1, "skipped_node_ids": ["after"]}
    assert CALLS["error-routed"] == ["handler:0"]


async def test_details_are_in_the_error_object_only_where_they_were_given(stage: Stage) -> None:
    """ERR-7."""
    document = handled("fails_with", {"retryable": True})
    result = await stage.run("error-plain", {"graph": document})
    assert result["results"]["risky"] == {
        "error": {
            "message": "it failed",
            "code": "node_error",
            "node_id": "risky",
            "retryable": True,
        }
    }


async def test_a_node_error_without_an_error_edge_fails_the_run_with_it(stage: Stage) -> None:
    """ERR-8; contract 3: the result is in the error's details."""
    thread = "error-alone"
    document = alone("fails_with", {"code": "no_funds", "details": {"missing": 3}})
    handle = await stage.start(thread, graph=document)
    failure = await failure_of(handle)
    assert (failure.type, failure.message) == ("Error", "it failed")
    run = handle.first_execution_run_id
    assert failure.details == (
        {
            "runId": run,
            "threadId": thread,
            "status": "failed",
            "checkpointId": f"{run}:2",
            "results": {},
            "metadata": {"nodes_skipped": 1, "skipped_node_ids": ["after"]},
            "warnings": [],
            "start": {
                "source": "fresh",
                "passedOver": [
                    {"source": "initialSnapshot", "why": "not given"},
                    {"source": "checkpoint", "why": "not given"},
                    {"source": "thread", "why": "no run yet"},
                ],
            },
        },
    )
    assert await cause_of(stage, thread) == {
        "kind": "Error",
        "message": "it failed",
        "details": {
            "code": "no_funds",
            "node_id": "risky",
            "occurrence": 0,
            "details": {"missing": 3},
        },
    }
    state = await handle.query("state")
    assert (state["status"], state["isComplete"], state["error"]) == ("failed", True, "it failed")
    assert (state["run"]["phase"], state["run"]["cause"]) == ("ended", "Error")
    assert (await handle.query("progress"))["risky"] == {"status": "failed", "executions": 1}
    assert thread not in CALLS
    assert (await stage.run(thread, {"graph": alone("noted")}))["start"]["source"] == "thread"


async def test_any_other_exception_fails_the_run_although_an_error_edge_is_there(
    stage: Stage,
) -> None:
    """ERR-3: no edge is followed, the original cause is kept."""
    thread = "error-crash"
    result = await failed_run(
        stage, thread, handled("fail", {"fatal": True, "message": "disk full"})
    )
    assert (result["status"], result["results"]) == ("failed", {})
    assert stage.log.state(thread).state.error == "RuntimeError: disk full"
    assert await cause_of(stage, thread) == {
        "kind": "Error",
        "message": "RuntimeError: disk full",
        "details": {
            "code": "RuntimeError",
            "node_id": "risky",
            "occurrence": 0,
            "cause": "RuntimeError: disk full",
        },
    }
    assert thread not in CALLS


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


async def test_what_runs_beside_a_failure_is_still_committed(stage: Stage) -> None:
    """ERR-8: nothing further starts, what is in flight completes."""
    thread = "error-beside"
    document = graph(
        "beside",
        {"risky": "fails_with", "slow": ("held", {"name": thread}), "after": "noted"},
        "slow.value -> after.value",
    )
    handle = await stage.start(thread, graph=document)
    await until_called(thread, "slow:0")
    await until_completed(handle, "risky", "failed")
    GATES[thread].set()
    failure = await failure_of(handle)
    assert failure.details[0]["results"] == {"slow": {"value": "slow"}}
    assert CALLS[thread] == ["slow:0"]


async def test_a_node_that_outlasts_its_timeout_fails_as_a_node(stage: Stage) -> None:
    result = await stage.run("error-timeout", {"graph": handled("stalls")})
    assert result["results"]["risky"] == {
        "error": {
            "message": "node 'risky' took longer than its timeout of 0.5 s",
            "code": "timeout",
            "node_id": "risky",
            "retryable": False,
        }
    }
    assert result["status"] == "completed"
    failed = await failed_run(stage, "error-timeout-alone", alone("stalls"))
    assert failed["status"] == "failed"


# --- retries ------------------------------------------------------------------------------------


def effect_calls(events: Any) -> list[str]:
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]


async def calls_of(handle: Handle) -> int:
    return effect_calls((await handle.fetch_history()).events).count("run_node")


async def test_a_retryable_failure_is_tried_again_under_the_same_key(stage: Stage) -> None:
    """ERR-11: no result key, no checkpoint and no occurrence more."""
    thread = "retry-twice"
    handle = await stage.start(thread, graph=graph("flaky", {"a": ("flaky", {"failures": 2})}))
    result = await handle.result()
    keys = CALLS[thread]
    assert len(keys) == 3
    assert [keys[0]] * 3 == keys
    assert result["results"] == {"a": {"keys": keys}}
    assert [(row.ordinal, row.node_id) for row in stage.log.checkpoints(thread)] == [
        (1, "a"),
        (2, None),
    ]
    assert await handle.query("progress") == {"a": {"status": "completed", "executions": 1}}


async def test_after_its_last_retry_a_failure_counts(stage: Stage) -> None:
    thread = "retry-thrice"
    result = await failed_run(stage, thread, graph("flaky", {"a": ("flaky", {"failures": 3})}))
    assert (result["status"], len(CALLS[thread])) == ("failed", 3)
    assert stage.log.state(thread).state.error == "not yet"


@pytest.mark.parametrize("retryable", [1, "true", False, None])
async def test_only_true_itself_is_retried(stage: Stage, retryable: Any) -> None:
    """ERR-2."""
    thread = f"retry-only-{retryable}"
    document = alone("fail", {"retryable": retryable})
    handle = await stage.start(thread, graph=document)
    await failure_of(handle)
    assert await calls_of(handle) == 1


async def test_a_type_without_retries_is_executed_once(stage: Stage) -> None:
    handle = await stage.start("retry-none", graph=alone("fails_with", {"retryable": True}))
    await failure_of(handle)
    assert await calls_of(handle) == 1


@pytest.mark.parametrize(
    ("failures", "calls", "completes"),
    [([2, 0], ["a:0"] * 3 + ["a:1"], True), ([2, 1], ["a:0"] * 3 + ["a:1"], False)],
)
async def test_the_bound_of_retries_is_that_of_the_whole_run(
    stage: Stage, failures: list[int], calls: list[str], completes: bool
) -> None:
    """FD-32: both retries used in the first round leave none for the second."""
    thread = f"retry-bound-{failures[1]}"
    document = graph(
        "rounds",
        {
            "items": ("value", {"value": ["x", "y"]}),
            "each": "for_each",
            "a": ("flaky_rounds", {"failures": failures}),
        },
        "items.value -> each.items",
        "each.current_item -> a.item",
        "a.attempts -> each.loop_back",
    )
    handle = await stage.start(thread, graph=document)
    if completes:
        result = await handle.result()
        assert result["results"]["each:2"]["collected_results"] == [3, 1]
    else:
        failure: ApplicationError = await failure_of(handle)
        assert failure.message == "not yet"
    assert CALLS[thread] == calls


async def test_nodes_that_are_ready_run_at_the_same_time_and_are_joined(stage: Stage) -> None:
    thread = "parallel"
    names = ["a", "b", "c", "d", "e"]
    document = graph(
        "fan",
        {
            **{name: ("together", {"count": 5}) for name in names},
            "join": ("reply", {"message": "{a}{b}{c}{d}{e}"}),
        },
        *(f"{name}.value -> join.{name}" for name in names),
    )
    result = await stage.run(thread, {"graph": document})
    assert sorted(CALLS[thread]) == [f"{name}:0" for name in names]
    assert result["results"]["join"] == {"message": "abcde"}
    assert len(stage.log.checkpoints(thread)) == 7


async def test_a_plain_function_blocks_neither_its_worker_nor_the_run(stage: Stage) -> None:
    """Contract 7: plain ``def`` nodes run in threads."""
    thread = "plain"
    document = graph(
        "plain",
        {
            "blocks": ("blocks", {"name": thread}),
            "start": ("value", {"value": 21}),
            "double": "sync_double",
        },
        "start.value -> double.value",
    )
    handle = await stage.start(thread, graph=document)
    await until_called(thread, "blocks:0")
    await until_completed(handle, "double")
    assert (await until(handle, "running"))["run"]["waitingFor"] == []
    GATES[thread].set()
    results = (await handle.result())["results"]
    assert (results["double"], results["blocks"]) == ({"value": 42}, {"value": False})
