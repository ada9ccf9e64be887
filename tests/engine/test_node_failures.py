"""How nodes fail: along an error edge, or the run with its cause."""

from tests.engine.failed_runs import alone, cause_of, failed_run, handled
from tests.engine.graphs import graph, until_called, until_completed
from tests.engine.nodes import CALLS, GATES
from tests.engine.stage import Stage, failure_of


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
