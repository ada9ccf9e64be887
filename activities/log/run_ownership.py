"""Taking runs over, as a part of the log."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from activities.log.log_writer import LogWriter
from activities.log.ownership import take_over
from activities.log.stored import Execution, Takeover


class RunOwnership(LogWriter):
    """The part of the log that says who owns a run."""

    def take_over(
        self,
        run_id: str,
        chain_id: str,
        execution: Execution | None = None,
        takeover: Takeover | None = None,
    ) -> int:
        """Make an execution chain the owner of a run and return its owner epoch.

        The chain that owns the run already keeps its epoch; another one gets the next, and
        every writer before it is fenced.

        Args:
            run_id: The run.
            chain_id: The chain's first execution.
            execution: Temporal's names of the execution that takes over.
            takeover: How it starts, kept with the owner.

        Raises:
            RunTerminal: The run has ended.
            UnknownThread: The log has no such run.
        """
        return self._write(*self._taking_over(run_id, chain_id, execution, takeover))

    async def take_over_async(
        self,
        run_id: str,
        chain_id: str,
        execution: Execution | None = None,
        takeover: Takeover | None = None,
    ) -> int:
        """Do what :meth:`take_over` does, in one hop off the event loop."""
        return await self._write_async(*self._taking_over(run_id, chain_id, execution, takeover))

    def _taking_over(
        self,
        run_id: str,
        chain_id: str,
        execution: Execution | None,
        takeover: Takeover | None,
    ) -> tuple[Callable[[Connection], int], str]:
        work = partial(
            take_over,
            run_id=run_id,
            chain_id=chain_id,
            execution=execution or Execution(),
            takeover=takeover,
            at=self._now(),
        )
        return work, f"taking over run {run_id}"
