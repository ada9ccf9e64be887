"""What a node function's outcome comes to: outputs, a failure of the node, a question, a crash."""

from typing import Literal

from activities.failure_texts import (
    MAX_CODE,
    MAX_MESSAGE,
    bounded_details,
    log_crash,
    printable,
    text_of,
    type_of,
)
from activities.node_loop import Outcome
from activities.nodes import Ask, NodeError
from activities.questions import question_problem
from seeding.durations import parse_duration
from seeding.json_values import (
    MAX_DEPTH,
    MAX_PAYLOAD_BYTES,
    MAX_VALUE_BYTES,
    find_not_json,
    size_in_bytes,
)
from seeding.model import Json, JsonObject, Model, as_object
from workflows.state_updates import CONTROL_OUTPUTS
from workflows.wire import AskWire, NodeCallInput, NodeCallResult, NodeFailureWire


class Crash(Model):
    """An exception that is no node error: the run fails with it (ERR-3).

    It has no cause: a failure travels with its whole chain, of whatever size that is.
    """

    type: str
    message: str


class NodeEnd(Model):
    """What one call of a node came to; just one of both is there."""

    result: NodeCallResult | None = None
    crash: Crash | None = None

    @property
    def may_be_tried_again(self) -> bool:
        """Whether it is a failure that the same call may not come to another time."""
        failure = None if self.result is None else self.result.failure
        return failure is not None and failure.retryable

    @property
    def status(self) -> Literal["done", "asked", "failed"]:
        """How the effect finished, unless it may be tried again."""
        if self.result is None or self.result.failure is not None:
            return "failed"
        return "done" if self.result.ask is None else "asked"

    @property
    def code(self) -> str | None:
        """Code of the failure, or the type of the exception."""
        if self.crash is not None:
            return self.crash.type
        failure = None if self.result is None else self.result.failure
        return None if failure is None else failure.code

    def kept(self) -> JsonObject:
        """Return the JSON object that this is read from again."""
        if self.result is not None:
            return {"result": self.result.to_json()}
        return {"crash": None if self.crash is None else self.crash.to_json()}


def judge_outcome(call: NodeCallInput, outcome: Outcome) -> NodeEnd:
    """Return what a node's outcome comes to."""
    match outcome.error:
        case None:
            return NodeEnd(result=judge_outputs(call, outcome.returned))
        case NodeError() as error:
            failed = _failed(
                printable(error.message), error.code, error.retryable is True, error.details
            )
            return NodeEnd(result=failed)
        case Ask() as ask:
            return NodeEnd(result=_asked(call, ask))
        case crashed:
            # Also an exit or an interrupt: its worker serves others.
            return NodeEnd(crash=crash_of(call, crashed))


def crash_of(call: NodeCallInput, error: BaseException) -> Crash:
    """Return what is kept of an exception, and write all of it to the worker's own log."""
    log_crash(f"node {call.node_id!r} (type {call.type!r}) of run {call.run_id}", error)
    kind = type_of(error)
    return Crash(type=kind, message=text_of(error) or kind)


def judge_outputs(call: NodeCallInput, returned: Json) -> NodeCallResult:
    """Return what a node's return value comes to.

    A value that is no JSON, or too large, is a node-level failure that names its dotted path,
    and is never converted silently (ERR-6); hidden ones too, which are then left out, so that
    they are in no history and no log (DATA-8). What a node says to the engine is never hidden.
    """
    outputs = as_object(returned)
    if outputs is None:
        return _failed(
            f"node {call.node_id} (type {call.type}) returned {type(returned).__name__}; "
            "a node returns a dict of outputs by port",
            "OutputNotJson",
        )
    # One level more: the object of outputs is none of the author's nesting.
    found = find_not_json(outputs, depth=MAX_DEPTH + 1)
    if found is not None:
        return _failed(
            f"node {call.node_id} (type {call.type}): output {found.path or '(root)'} is "
            f"{found.kind}, which is no JSON value",
            "OutputNotJson",
            details={"path": found.path, "kind": found.kind},
        )
    return _judge_sizes(call, outputs)


def _judge_sizes(call: NodeCallInput, outputs: JsonObject) -> NodeCallResult:
    total = 0
    for port, value in outputs.items():
        size = size_in_bytes(value)
        total += size
        if size > MAX_VALUE_BYTES or total > MAX_PAYLOAD_BYTES * 3 // 4:
            return _failed(
                f"node {call.node_id} (type {call.type}): output {port} is {size} bytes of "
                f"JSON; one value may have {MAX_VALUE_BYTES}, all of a node's outputs "
                f"{MAX_PAYLOAD_BYTES * 3 // 4}. Keep it elsewhere and return where it is",
                "OutputTooLarge",
                details={"port": port, "bytes": size},
            )
    shown = {
        port: value
        for port, value in outputs.items()
        if port not in call.hidden or port in CONTROL_OUTPUTS
    }
    return NodeCallResult(outputs=shown)


def _failed(
    message: str, code: str, retryable: bool = False, details: Json = None
) -> NodeCallResult:
    return NodeCallResult(
        failure=NodeFailureWire(
            message=message[:MAX_MESSAGE],
            code=printable(code, MAX_CODE),
            retryable=retryable,
            details=bounded_details(details),
        )
    )


def _asked(call: NodeCallInput, ask: Ask) -> NodeCallResult:
    problem = question_problem(ask)
    if problem is not None:
        return _failed(
            f"node {call.node_id} (type {call.type}) cannot ask: {problem}", "InvalidAsk"
        )
    return NodeCallResult(
        ask=AskWire(
            message=ask.message,
            kind=ask.kind,
            answer_schema=ask.schema,
            deadline_after=parse_duration(ask.deadline, "deadline"),
        )
    )
