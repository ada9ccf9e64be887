"""The effect ledger, as a part of the log: intent before a call, its outcome after."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from activities.log.effect_rows import (
    EffectIntent,
    EffectStanding,
    EffectStatus,
    begin_effect,
    finish_effect,
)
from activities.log.log_writer import LogWriter
from seeding.model import JsonObject


class EffectLedger(LogWriter):
    """The part of the log that keeps an effect which has finished from being run again."""

    def begin_effect(self, effect: EffectIntent, *, quick: bool = False) -> EffectStanding:
        """Record that a call is about to be made, or answer with what it came to before.

        Nothing is written where the outcome is known. Otherwise this is the effect's newest
        attempt, and no earlier one can finish it any more.

        Args:
            effect: The call.
            quick: Wait 200 ms for a lock that another process holds, not 5 seconds.

        Returns:
            The number of the attempt; with an outcome the call is not to be made.

        Raises:
            RunTerminal: The run has ended.
            RunNotInLog: The log does not know it, as of ``CommitUnavailable``.
            Fenced: Another execution took the run over.
            EffectArgsMismatch: The key is known with other arguments.
            CommitUnavailable: The intent is not recorded, or it is not known whether it is.
            CorruptLog: The effect's row changed since it was written.
        """
        return self._write(*self._beginning(effect), quick=quick)

    async def begin_effect_async(
        self, effect: EffectIntent, *, quick: bool = False
    ) -> EffectStanding:
        """Do what :meth:`begin_effect` does, in one hop off the event loop."""
        return await self._write_async(*self._beginning(effect), quick=quick)

    def _beginning(
        self, effect: EffectIntent
    ) -> tuple[Callable[[Connection], EffectStanding], str]:
        work = partial(begin_effect, effect=effect, at=self._now())
        return work, f"beginning effect {effect.effect_key}"

    def finish_effect(
        self,
        effect_key: str,
        attempt: int,
        outcome: JsonObject | None,
        status: EffectStatus,
        code: str | None = None,
        *,
        quick: bool = False,
    ) -> bool:
        """Record what the newest attempt of an effect came to.

        Args:
            effect_key: The effect.
            attempt: The number that :meth:`begin_effect` gave.
            outcome: What is answered from now on, instead of a call; None for a failure that
                may be tried again.
            status: ``begun`` for such a failure; else how the effect finished.
            code: The failure's code.
            quick: Wait 200 ms for a lock that another process holds, not 5 seconds.

        Returns:
            Whether it was written; False where this attempt had said the same before.

        Raises:
            RunTerminal: The run has ended; nothing is written.
            Fenced: A newer attempt has begun; nothing is written.
            OperationReused: The attempt came to another end before.
            InvalidCommit: An outcome with status ``begun``, or another status without one.
            CommitUnavailable: It is not known whether it was written: say the same again.
            CorruptLog: The effect's row changed since it was written.
        """
        finishing = self._finishing(effect_key, attempt, outcome, status, code)
        return self._write(*finishing, quick=quick)

    async def finish_effect_async(
        self,
        effect_key: str,
        attempt: int,
        outcome: JsonObject | None,
        status: EffectStatus,
        code: str | None = None,
        *,
        quick: bool = False,
    ) -> bool:
        """Do what :meth:`finish_effect` does, in one hop off the event loop."""
        finishing = self._finishing(effect_key, attempt, outcome, status, code)
        return await self._write_async(*finishing, quick=quick)

    def _finishing(
        self,
        effect_key: str,
        attempt: int,
        outcome: JsonObject | None,
        status: EffectStatus,
        code: str | None,
    ) -> tuple[Callable[[Connection], bool], str]:
        work = partial(
            finish_effect,
            effect_key=effect_key,
            attempt=attempt,
            outcome=outcome,
            status=status,
            code=code,
            at=self._now(),
        )
        return work, f"finishing effect {effect_key}"
