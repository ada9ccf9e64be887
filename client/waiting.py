"""Which open tickets of the log have a run behind them that could take an answer now."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from activities.log import AsyncLogReader
from client.connection import connect
from client.forked_threads import find_forked
from client.settings import DEFAULT_TASK_QUEUE, callback_secret
from client.threads import Threads
from seeding.callbacks import callback_token
from seeding.errors import FermataError, UnknownThread
from seeding.facts import is_elsewhere
from seeding.model import JsonObject
from seeding.tickets import OpenTicket

Live = Literal["yes", "no", "unknown"]

CONNECT_SECONDS = 2.0
ASK_SECONDS = 3.0
"""How long the server has for all threads together; what it left out is unknown."""


async def tickets_document(log: AsyncLogReader, thread_id: str | None = None) -> list[JsonObject]:
    """Return the open tickets of one thread, or of all, oldest first in each (contract 1).

    ``live`` says whether the run that waits is open on the server, in the execution that the log
    has as its owner: ``unknown`` where no server answered, and where the run belongs to another
    namespace than the one that was asked. A ticket of kind ``external`` has its ``callback``, the
    token of a call that answers it, where a secret for that is configured.

    Raises:
        InvalidSettings: The secret's variable is not set.
        UnknownThread: No run was ever opened on the thread.
    """
    if thread_id is not None and await log.latest_run_async(thread_id) is None:
        if find_forked(log, thread_id) is not None:
            return []
        raise log.without_run(thread_id)
    tickets = await log.open_tickets_async(thread_id)
    live = await _live_runs(log, tickets) if tickets else {}
    secret = callback_secret()
    return [
        {
            "threadId": item.body.thread_id,
            "runId": item.body.run_id,
            **item.shown(),
            **_callback(item, secret),
            "live": live.get(item.body.run_id, "unknown"),
        }
        for item in tickets
    ]


def _callback(ticket: OpenTicket, secret: str | None) -> JsonObject:
    if secret is None or ticket.body.kind != "external":
        return {}
    return {"callback": callback_token(ticket.body.ticket, secret)}


async def _live_runs(log: AsyncLogReader, tickets: Sequence[OpenTicket]) -> dict[str, Live]:
    """Return whether each run behind ``tickets`` is open on the server, as far as it said."""
    found: dict[str, Live] = {}
    waiting = {item.body.run_id: item.body.thread_id for item in tickets}
    try:
        client = await connect(within=CONNECT_SECONDS)
    except FermataError:
        return found
    threads = Threads(client, DEFAULT_TASK_QUEUE)
    try:
        async with asyncio.timeout(ASK_SECONDS):
            for run_id, thread_id in waiting.items():
                owner = (await log.owners_async(run_id))[-1]
                if not is_elsewhere(owner.execution.namespace, client.namespace):
                    found[run_id] = await _is_live(threads, thread_id, owner.chain_id)
    except (TimeoutError, FermataError):
        pass  # What was not asked stays unknown.
    return found


async def _is_live(threads: Threads, thread_id: str, owner: str) -> Live:
    try:
        chain = await threads.open_execution(thread_id, within=ASK_SECONDS)
    except UnknownThread:
        return "no"
    # Another chain on the thread was fenced off, or has not taken the run over yet.
    return "yes" if chain == owner else "no"
