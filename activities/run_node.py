"""Running one node: the wrapper around people's functions."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import cast

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.effect_calls import LOG_WAIT_SECONDS, EffectCall, arguments_hash
from activities.judging_outcomes import Crash, NodeEnd, crash_of, judge_outcome
from activities.log_failures import SHOWN_CHARACTERS
from activities.node_loop import Outcome
from activities.nodes import NodeCall, RegisteredNode
from activities.resources import Resources
from activities.seen_through import is_worker_stopping, seen_through
from seeding.errors import (
    CommitUnavailable,
    CorruptLog,
    EffectArgsMismatch,
    Fenced,
    RunTerminal,
)
from seeding.identity import checkpoint_id
from seeding.model import Json, JsonObject, as_object
from seeding.tickets import TicketClosing
from workflows.wire import (
    RUN_NODE,
    UNKNOWN_NODE_TYPE,
    WORKER_STOPPED,
    NodeCallInput,
    NodeCallResult,
)

HEARTBEAT_SECONDS = 5.0
LAST_SECONDS = 2.0
"""What is left of a call's time, at most, for its answer to reach the server."""


class NodeActivities:
    """Executes node functions for the worker's registry."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @activity.defn(name=RUN_NODE)
    async def run_node(self, call: NodeCallInput) -> NodeCallResult:
        """Run one node once, heartbeating for it; an effect that finished is not run again.

        A run that is cancelled asks for the call's end, which takes back what nobody has begun.
        A node that is running comes to its end all the same (INT-5).

        Raises:
            ApplicationError: The function raised something that is no node error; the run
                fails with it (ERR-3). The type is the exception's, the message its text. Or
                the effect ledger refused the call: ``EffectArgsMismatch`` fails the run too,
                and ``Fenced`` and ``RunTerminal`` the run finds out by its own next commit.
                Or this worker serves no such type: ``UnknownNodeType``, the only one that is
                retryable, so that the server offers the call again until a worker takes it.
        """
        heartbeats = Heartbeats()
        try:
            return _reported(await seen_through(self._effect(call, heartbeats)))
        except asyncio.CancelledError:
            # This worker is stopping: the effect is dispatched again elsewhere, on the same key.
            raise ApplicationError(
                "the worker stopped", type=WORKER_STOPPED, non_retryable=True
            ) from None
        except ApplicationError:
            raise
        except CorruptLog as damage:
            # The server offers the call again: nothing is decided on a log that is damaged.
            raise ApplicationError(damage.message, type=damage.code) from None
        except (EffectArgsMismatch, Fenced, RunTerminal) as refused:
            raise ApplicationError(refused.message, type=refused.code, non_retryable=True) from None
        except Exception as error:
            raise _failure(crash_of(call, error)) from None
        finally:
            heartbeats.stop()

    async def _effect(self, call: NodeCallInput, heartbeats: "Heartbeats") -> NodeEnd:
        last_moment = asyncio.get_running_loop().time() + _seconds_to_try()
        registered = self._registered(call)
        prepared = await self._prepare(call, heartbeats)
        effect = EffectCall(
            self._resources.log,
            call,
            arguments_hash(call.type, prepared),
            last_moment=last_moment,
            waits_for=heartbeats.say,
        )
        known = await effect.begin()
        if known is not None:
            return known
        end = await self._execute(registered, call, prepared)
        await effect.finish(end)
        return end

    def _registered(self, call: NodeCallInput) -> RegisteredNode:
        registered = self._resources.registry.find(call.type)
        if registered is None:
            said = (
                f"node {call.node_id!r} waits for a worker that serves node type {call.type!r}: "
                "this one does not; name the type's module in FERMATA_NODES"
            )
            activity.logger.warning(said)
            # Benign, so that the SDK does not write the same with a stack trace.
            raise ApplicationError(
                said, type=UNKNOWN_NODE_TYPE, category=ApplicationErrorCategory.BENIGN
            )
        return registered

    async def _execute(
        self, registered: RegisteredNode, call: NodeCallInput, prepared: NodeCall
    ) -> NodeEnd:
        outcome = await self._invoke(registered, prepared)
        if isinstance(outcome.error, asyncio.CancelledError):
            if is_worker_stopping():
                raise outcome.error
            text = f"node {call.node_id!r} cancelled itself"
            return NodeEnd(crash=Crash(type="CancelledError", message=text))
        try:
            return judge_outcome(call, outcome)
        except Exception as error:  # What a node gives may raise while it is looked at.
            return NodeEnd(crash=crash_of(call, error))

    async def _prepare(self, call: NodeCallInput, heartbeats: "Heartbeats") -> NodeCall:
        if not (call.references or call.declares or call.ask):
            return self._prepared(call)
        while True:
            try:
                return await self._resources.read(lambda: self._prepared_from_log(call))
            except CommitUnavailable as error:
                # The node has not run: wait for the log, within the node's own timeout.
                heartbeats.say(error.message)
                await asyncio.sleep(LOG_WAIT_SECONDS)

    def _prepared_from_log(self, call: NodeCallInput) -> NodeCall:
        if self._resources.log.run(call.run_id) is None:
            # Nothing read here would be the run's: no answer, no output, no state.
            raise self._resources.log.lacks(
                f"does not know run {call.run_id}, of which node {call.node_id!r} is to be called"
            )
        return self._prepared(call)

    def _prepared(self, call: NodeCallInput) -> NodeCall:
        inputs = dict(call.inputs)
        wanted = [(item.node_id, item.occurrence) for item in call.references.values()]
        stored = self._resources.log.outputs(call.run_id, wanted) if wanted else {}
        for port, source in call.references.items():
            if (source.node_id, source.occurrence) not in stored:
                raise CorruptLog(
                    f"output {source.node_id}:{source.occurrence} of run {call.run_id}, an input "
                    f"of node {call.node_id!r}, is missing"
                )
            recorded = as_object(stored[(source.node_id, source.occurrence)]) or {}
            passed = as_object(recorded.get("passed")) or {}
            outputs = as_object(recorded.get("outputs")) or {}
            inputs[port] = outputs.get(source.port, passed.get(source.port))
        closings = self._answers(call)
        answers = [
            closing.decision if closing.value is None else closing.value for closing in closings
        ]
        return NodeCall(
            inputs=inputs,
            config=dict(call.config),
            effect_key=call.effect_key,
            thread_id=call.thread_id,
            run_id=call.run_id,
            node_id=call.node_id,
            occurrence=call.occurrence,
            internal=self._internal(call, closings),
            answer=answers[-1] if answers else None,
            answers=answers,
            allowed_hosts=self._resources.http_hosts,
        )

    async def _invoke(self, registered: RegisteredNode, call: NodeCall) -> Outcome:
        function = registered.function
        if registered.is_async:
            return await self._resources.run_async(lambda: cast(Awaitable[Json], function(call)))
        return await self._resources.run_plain(lambda: function(call))

    def _answers(self, call: NodeCallInput) -> list[TicketClosing]:
        if call.ask == 0:
            return []
        return self._resources.log.answers(call.run_id, call.node_id, call.occurrence, call.ask)

    def _internal(self, call: NodeCallInput, closings: Sequence[TicketClosing]) -> JsonObject:
        internal: JsonObject = {}
        if closings:
            internal["__interrupt_id__"] = closings[-1].ticket
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


def _reported(end: NodeEnd) -> NodeCallResult:
    if end.crash is not None:
        raise _failure(end.crash)
    return end.result or NodeCallResult()


def _failure(crash: Crash) -> ApplicationError:
    return ApplicationError(crash.message, type=crash.type, non_retryable=True)


def _seconds_to_try() -> float:
    """Return for how long from now on this call may go on before its answer would be late."""
    allowed = activity.info().start_to_close_timeout
    if allowed is None:
        return 0.0
    seconds = allowed.total_seconds()
    return seconds - min(LAST_SECONDS, seconds / 10)


class Heartbeats:
    """Heartbeats for a node; what a call waits for is shown in its details."""

    def __init__(self) -> None:
        self._said: str | None = None
        self._beating = asyncio.create_task(self._beat())

    def say(self, waits_for: str | None) -> None:
        """Show from now on what the log said, or no longer anything."""
        if waits_for != self._said:
            self._said = waits_for
            self._heartbeat()

    def stop(self) -> None:
        """Heartbeat no more."""
        self._beating.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            self._heartbeat()

    def _heartbeat(self) -> None:
        if self._said is None:
            activity.heartbeat()
        else:
            activity.heartbeat({"waitsFor": self._said[:SHOWN_CHARACTERS]})
