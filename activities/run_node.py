"""Running one node: the wrapper around people's functions."""

import asyncio
from collections.abc import Awaitable
from typing import cast

from temporalio import activity
from temporalio.exceptions import ApplicationError

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
from activities.nodes import Ask, NodeCall, NodeError, RegisteredNode
from activities.questions import question_problem
from activities.resources import Resources
from seeding.durations import parse_duration
from seeding.errors import CommitUnavailable
from seeding.identity import checkpoint_id, ticket_id
from seeding.json_values import (
    MAX_PAYLOAD_BYTES,
    MAX_VALUE_BYTES,
    find_not_json,
    size_in_bytes,
)
from seeding.model import Json, JsonObject, as_object
from workflows.wire import (
    RUN_NODE,
    WORKER_STOPPED,
    AskWire,
    NodeCallInput,
    NodeCallResult,
    NodeFailureWire,
)

HEARTBEAT_SECONDS = 5.0
LOG_WAIT_SECONDS = 0.5
MAX_CLOSINGS = 10_000


class NodeActivities:
    """Executes node functions for the worker's registry."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @activity.defn(name=RUN_NODE)
    async def run_node(self, call: NodeCallInput) -> NodeCallResult:
        """Run one node once, heartbeating for it.

        Raises:
            ApplicationError: The function raised something that is no node error; the run
                fails with it (ERR-3). The type is the exception's, the message its text.
        """
        beating = asyncio.create_task(_heartbeat())
        try:
            return judge_outcome(call, await self._execute(call))
        except asyncio.CancelledError:
            # Node calls are never cancelled by the workflow: this worker is stopping, and the
            # effect is dispatched again elsewhere, under the same key.
            raise ApplicationError(
                "the worker stopped", type=WORKER_STOPPED, non_retryable=True
            ) from None
        except ApplicationError:
            raise
        except Exception as error:
            raise _crash(call, error) from None
        finally:
            beating.cancel()

    async def _execute(self, call: NodeCallInput) -> Outcome:
        registered = self._resources.registry.find(call.type)
        if registered is None:
            raise ApplicationError(
                f"node {call.node_id!r}: this worker serves no node type {call.type!r}; "
                "name its module in FERMATA_NODES",
                type="UnknownNodeType",
                non_retryable=True,
            )
        outcome = await self._invoke(registered, await self._prepare(call))
        if isinstance(outcome.error, asyncio.CancelledError):
            if activity.is_cancelled() or activity.is_worker_shutdown():
                raise outcome.error
            raise ApplicationError(
                f"node {call.node_id!r} cancelled itself", type="CancelledError", non_retryable=True
            )
        return outcome

    async def _prepare(self, call: NodeCallInput) -> NodeCall:
        if not (call.references or call.declares or call.ask):
            return self._prepared(call)
        while True:
            try:
                return await self._resources.read(lambda: self._prepared(call))
            except CommitUnavailable:
                # The node has not run: wait for the log, within the node's own timeout.
                await asyncio.sleep(LOG_WAIT_SECONDS)

    def _prepared(self, call: NodeCallInput) -> NodeCall:
        inputs = dict(call.inputs)
        wanted = [(item.node_id, item.occurrence) for item in call.references.values()]
        stored = self._resources.log.outputs(call.run_id, wanted) if wanted else {}
        for port, source in call.references.items():
            recorded = as_object(stored[(source.node_id, source.occurrence)]) or {}
            passed = as_object(recorded.get("passed")) or {}
            outputs = as_object(recorded.get("outputs")) or {}
            inputs[port] = outputs.get(source.port, passed.get(source.port))
        answers = self._answers(call)
        return NodeCall(
            inputs=inputs,
            config=dict(call.config),
            effect_key=call.effect_key,
            thread_id=call.thread_id,
            run_id=call.run_id,
            node_id=call.node_id,
            occurrence=call.occurrence,
            internal=self._internal(call),
            answer=answers[-1] if answers else None,
            answers=answers,
            allowed_hosts=self._resources.http_hosts,
        )

    async def _invoke(self, registered: RegisteredNode, call: NodeCall) -> Outcome:
        function = registered.function
        if registered.is_async:
            return await self._resources.run_async(lambda: cast(Awaitable[Json], function(call)))
        return await self._resources.run_plain(lambda: function(call))

    def _answers(self, call: NodeCallInput) -> list[Json]:
        if call.ask == 0:
            return []
        tickets = _asked_tickets(call)
        closings = {
            closing.ticket: closing
            for closing in self._resources.log.closed_tickets(call.run_id, MAX_CLOSINGS)
        }
        given = [closings[ticket] for ticket in tickets if ticket in closings]
        return [closing.decision if closing.value is None else closing.value for closing in given]

    def _internal(self, call: NodeCallInput) -> JsonObject:
        internal: JsonObject = {}
        if call.ask > 0:
            internal["__interrupt_id__"] = _asked_tickets(call)[-1]
        if not call.declares:
            return internal
        whole = "__messages__" in call.declares or "__state__" in call.declares
        view = self._resources.log.state(
            call.thread_id, checkpoint_id(call.run_id, call.ordinal), messages=whole
        )
        state = view.state.to_json()
        iterator = as_object(state.get("iterator"))
        available: JsonObject = {
            "__state__": state,
            "__messages__": state["messages"],
            "__data__": state["data"],
            "__iterator__": iterator,
        }
        if iterator is not None:
            available["__current_item__"] = iterator["items"][iterator["index"]]
        internal.update({name: available[name] for name in call.declares if name in available})
        return internal


def _asked_tickets(call: NodeCallInput) -> list[str]:
    return [ticket_id(call.run_id, call.node_id, call.occurrence, n) for n in range(call.ask)]


def judge_outcome(call: NodeCallInput, outcome: Outcome) -> NodeCallResult:
    """Return what a node's outcome comes to.

    Raises:
        ApplicationError: What it raised is no node error (ERR-3). It has no cause: a failure
            travels with its whole chain, of whatever size that is.
    """
    match outcome.error:
        case None:
            return judge_outputs(call, outcome.returned)
        case NodeError() as error:
            return _failed(
                printable(error.message), error.code, error.retryable is True, error.details
            )
        case Ask() as ask:
            return _asked(call, ask)
        case crashed:
            # Also an exit or an interrupt: its worker serves others.
            raise _crash(call, crashed)


def _crash(call: NodeCallInput, error: BaseException) -> ApplicationError:
    log_crash(f"node {call.node_id!r} (type {call.type!r}) of run {call.run_id}", error)
    kind = type_of(error)
    return ApplicationError(text_of(error) or kind, type=kind, non_retryable=True)


def judge_outputs(call: NodeCallInput, returned: Json) -> NodeCallResult:
    """Return what a node's return value comes to.

    A value that is no JSON, or too large, is a node-level failure that names its dotted path,
    and is never converted silently (ERR-6).
    """
    outputs = as_object(returned)
    if outputs is None:
        return _failed(
            f"node {call.node_id} (type {call.type}) returned {type(returned).__name__}; "
            "a node returns a dict of outputs by port",
            "OutputNotJson",
        )
    found = find_not_json(outputs)
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
    return NodeCallResult(outputs=outputs)


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


async def _heartbeat() -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        activity.heartbeat()
