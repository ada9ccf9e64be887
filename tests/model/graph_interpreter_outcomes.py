"""What one execution comes to, how its end is recorded, and how a trace shows it."""

from dataclasses import replace

from seeding.model import Json, JsonObject
from tests.model.graph_interpreter_held import CODE
from tests.model.graph_interpreter_history import Facts, History, Ran
from tests.model.graph_interpreter_nodes import (
    Round,
    active_names,
    evaluate,
    evaluate_for_each,
)
from tests.model.graph_scripts import Done, Failed, Outcome, perform

_CONTROL_OUTPUTS = ("state_update", "active_branches", "error_retryable")
_UPDATE_FIELDS = ("messages", "data", "metadata", "iterationCount")


def is_effect(facts: Facts, ran: Ran) -> bool:
    """Whether an execution is called, and can be in flight."""
    return facts.types[ran.node].kind == "effect" and ran.stuck is None


def outcome_of(history: History, ran: Ran) -> tuple[Outcome, Round | None, int]:
    """Return what an execution comes to, the round it is of a ``for_each``, and its retries.

    An effect that fails is called again in place and at once, while its retries in the whole
    run are below those its type allows; only a literal true makes it so (ERR-2, ERR-11).
    """
    node = history.facts.nodes[ran.node]
    if ran.stuck is not None:
        return Failed("nothing can fill it", code=CODE, details=ran.stuck), None, 0
    if history.facts.iterates(ran.node):
        at = history.iterator(ran.node)
        outcome, turn = evaluate_for_each(node, ran.inputs, at, reentry=ran.reentry)
        return outcome, turn, 0
    if not is_effect(history.facts, ran):
        return evaluate(node, ran.inputs), None, 0
    if node.type == "delay":
        return Done(ran.inputs), None, 0
    before = sum(other.retries for other in history.runs_of(ran.node))
    allowed, spent = history.facts.types[ran.node].max_retries, 0
    while True:
        outcome = perform(
            node.config, ran.node, ran.occurrence, ran.inputs, spent, list(ran.answers)
        )
        again = isinstance(outcome, Failed) and outcome.routable and outcome.retryable is True
        if not again or before + spent >= allowed:
            return outcome, None, spent
        spent += 1


def ended_as(
    facts: Facts, ran: Ran, outcome: Done | Failed, retries: int
) -> tuple[Ran, JsonObject | None]:
    """Return an execution as it ended, and the verdict that this leaves on the run, if any.

    A stop leaves one (ERR-5), and so does a failure with nowhere to go (ERR-3, ERR-8); another
    one has the error as its only output (ERR-7).
    """
    where: JsonObject = {"node_id": ran.node, "occurrence": ran.occurrence}
    if isinstance(outcome, Done):
        outputs = {
            port: value for port, value in outcome.outputs.items() if port not in _CONTROL_OUTPUTS
        }
        active = active_names(outcome.outputs.get("active_branches"))
        done = replace(ran, status="completed", outputs=outputs, active=active, retries=retries)
        stops = facts.nodes[ran.node].type == "stop"
        return done, {"kind": "Stopped", **where} if stops else None
    told: JsonObject = {} if outcome.details is None else {"details": outcome.details}
    if outcome.routable and facts.routes_errors(ran.node):
        retryable = outcome.retryable is True
        said = {"message": outcome.message, "code": outcome.code, "retryable": retryable}
        error: JsonObject = {**said, "node_id": ran.node, **told}
        return replace(ran, status="routed", outputs={"error": error}, retries=retries), None
    code = outcome.code if outcome.routable else "crashed"
    failed = replace(ran, status="failed", retries=retries)
    return failed, {"kind": "Error", **where, "code": code, **told}


def update_problem(update: Json) -> str | None:
    """Return why a ``state_update`` cannot be applied, as far as scripts write such."""
    if update is None:
        return None
    for name in update:
        if name not in _UPDATE_FIELDS:
            return f"unknown field {name}"
    if (update.get("iterationCount") or 0) < 0:
        return "a negative count"
    for name in ("data", "metadata"):
        if not isinstance(update.get(name), dict | None):
            return f"{name} is no object"
    return None


def told_of(ran: Ran) -> JsonObject:
    """Return how a trace names an execution."""
    return {"node": ran.node, "occurrence": ran.occurrence, "stamp": ran.stamp}


def shown(ran: Ran) -> JsonObject:
    """Return how a trace shows an execution that was dispatched."""
    return {
        **told_of(ran),
        "order": ran.order,
        "reentry": ran.reentry,
        "sources": {port: list(source) for port, source in sorted(ran.sources.items())},
    }
