"""One call of a node between its intent and its outcome in the effect ledger."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from activities.judging_outcomes import NodeEnd
from activities.log import CommitLog, EffectIntent
from activities.nodes import NodeCall
from seeding.canonical import canonical_hash
from seeding.errors import CommitUnavailable
from workflows.wire import NodeCallInput

LOG_WAIT_SECONDS = 0.5
"""How long to wait before the log is asked again that did not answer."""


def arguments_hash(node_type: str, call: NodeCall) -> str:
    """Return the hash of what makes a call of an effect this one and no other.

    That is the type, the inputs with their references resolved, and the config; not what the
    node reads of its thread, which is of the moment.
    """
    # Pairs, because two ports may have names that are equal in Unicode form NFC.
    inputs = [[port, call.inputs[port]] for port in sorted(call.inputs)]
    return canonical_hash({"type": node_type, "inputs": inputs, "config": dict(call.config)})


class EffectCall:
    """Asks the ledger before the node is called, and tells it what the call came to.

    Args:
        log: The log with the ledger.
        call: The call as the workflow made it.
        arguments: Hash of what the node is given.
        last_moment: Time of the event loop at which no more is to be tried after the call.
        waits_for: Told what the log said while it does not answer, and None once it does.
    """

    def __init__(
        self,
        log: CommitLog,
        call: NodeCallInput,
        arguments: str,
        *,
        last_moment: float,
        waits_for: Callable[[str | None], None],
    ) -> None:
        self._log = log
        self._intent = EffectIntent(
            effect_key=call.effect_key,
            thread_id=call.thread_id,
            run_id=call.run_id,
            node_id=call.node_id,
            occurrence=call.occurrence,
            ask=call.ask,
            node_type=call.type,
            arguments_hash=arguments,
            owner_epoch=call.owner_epoch,
        )
        self._last_moment = last_moment
        self._waits_for = waits_for
        self._attempt = 0

    async def begin(self) -> NodeEnd | None:
        """Return what the effect came to before; None means that the node is to be called.

        A log that does not answer is waited for: the node has not run.

        Raises:
            RunTerminal: The run has ended.
            Fenced: Another execution took the run over.
            EffectArgsMismatch: The effect is known with other arguments.
            CorruptLog: The effect's row changed since it was written.
        """
        while True:
            try:
                standing = await self._log.begin_effect_async(self._intent, quick=True)
            except CommitUnavailable as error:
                self._waits_for(error.message)
                await asyncio.sleep(LOG_WAIT_SECONDS)
                continue
            self._waits_for(None)
            self._attempt = standing.attempt
            if standing.outcome is None:
                return None
            return NodeEnd.model_validate(standing.outcome)

    async def finish(self, end: NodeEnd) -> None:
        """Record what the call came to.

        The effect has happened, so a log that does not answer is asked again until shortly
        before the activity's own time is over, or its worker stops. Then this returns all the
        same: the outcome still reaches the workflow's history. Only a reset to a moment before
        that, or a takeover, would find no outcome and call the node again, on the same key.

        Raises:
            RunTerminal: The run has ended meanwhile.
            Fenced: A newer attempt has begun, so that this one changes nothing.
            CorruptLog: The effect's row changed since it was written.
        """
        while True:
            writing = asyncio.ensure_future(self._write(end))
            try:
                await asyncio.shield(writing)
            except CommitUnavailable as error:
                self._waits_for(error.message)
            except asyncio.CancelledError:
                # The worker stops; a write that has begun is still waited for.
                with suppress(CommitUnavailable):
                    await writing
                return
            else:
                self._waits_for(None)
                return
            if asyncio.get_running_loop().time() + LOG_WAIT_SECONDS > self._last_moment:
                return
            try:
                await asyncio.sleep(LOG_WAIT_SECONDS)
            except asyncio.CancelledError:
                return

    async def _write(self, end: NodeEnd) -> bool:
        key, attempt = self._intent.effect_key, self._attempt
        if end.may_be_tried_again:
            return await self._log.finish_effect_async(
                key, attempt, None, "begun", end.code, quick=True
            )
        return await self._log.finish_effect_async(
            key, attempt, end.kept(), end.status, end.code, quick=True
        )
