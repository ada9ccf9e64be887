"""The result of an ended run, put together from its report and its rows (contract, section 3)."""

from activities.log import AsyncLogReader
from seeding.bounded import shown_by_reference
from seeding.identity import checkpoint_id
from seeding.json_values import MAX_PAYLOAD_BYTES
from seeding.model import JsonObject, as_object
from workflows.scheduler import result_key

RESULTS_BYTES = MAX_PAYLOAD_BYTES * 3 // 4
"""The most bytes ``results`` has by value, so that the whole result stays below 256 KB."""


def run_result(log: AsyncLogReader, run_id: str) -> JsonObject | None:
    """Return the whole result of an ended run; None while it is live.

    ``results`` holds the outputs of every execution by key (SG-8), the largest by reference,
    and is an empty list where the iteration budget ended the run (SG-14). Of a pruned run no
    outputs are left; its result says so with ``pruned``.
    """
    run = log.run(run_id)
    if run is None or run.result is None:
        return None
    results: JsonObject | list[JsonObject] = []
    if run.result.get("status") != "max_iterations_exceeded":
        results = _results(log, run_id)
    pruned: JsonObject = {"pruned": True} if run.pruned else {}
    return {
        "runId": run_id,
        "threadId": run.thread_id,
        "status": run.result.get("status"),
        "checkpointId": checkpoint_id(run_id, run.last_ordinal),
        "results": results,
        "metadata": run.result.get("metadata", {}),
        "warnings": run.result.get("warnings", []),
        "start": run.result.get("start", {}),
        **pruned,
    }


def _results(log: AsyncLogReader, run_id: str) -> JsonObject:
    outputs: JsonObject = {}
    for row in log.completed_outputs(run_id):
        recorded = as_object(row.value) or {}
        outputs[result_key(row.node_id, row.occurrence)] = recorded.get("outputs", {})
    return shown_by_reference(outputs, f"outputs/{run_id}", RESULTS_BYTES)
