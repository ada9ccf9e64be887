"""A stage whose log notes what the effect ledger refuses, and can be away for it alone."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from temporalio.client import Client

from activities.log import CommitLog
from seeding.errors import CommitUnavailable, FermataError
from tests.engine.stage import Stage


class WatchedLedger(CommitLog):
    """A log that notes what the ledger refused, and is away for an effect when told so."""

    away: str = ""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.refused: list[str] = []

    async def begin_effect_async(self, *given: Any, **named: Any) -> Any:
        if self.away == "begin":
            raise CommitUnavailable("the disk is full")
        return await super().begin_effect_async(*given, **named)

    async def finish_effect_async(self, *given: Any, **named: Any) -> Any:
        if self.away == "finish":
            raise CommitUnavailable("the disk is full")
        try:
            return await super().finish_effect_async(*given, **named)
        except FermataError as error:
            self.refused.append(error.code)
            raise


@asynccontextmanager
async def watched(client: Client, log_url: str) -> AsyncGenerator[tuple[Stage, WatchedLedger]]:
    stage = Stage(client, log_url)
    stage.open(WatchedLedger)
    log = stage.log
    assert isinstance(log, WatchedLedger)
    await stage.serve()
    try:
        yield stage, log
    finally:
        await stage.close()
