"""Calls that end in time: to the server alone, or through it to whoever serves the run."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar

from temporalio.client import (
    Client,
    RPCTimeoutOrCancelledError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.service import RPCError

from client.errors_of_temporal import (
    OUT_OF_TIME,
    error_of_query,
    error_of_rpc,
    error_of_update,
)
from seeding.errors import FermataError, NoWorker, ServerUnreachable

CHECK_SECONDS = 2.0
"""How long the server has to say that it is there, once something else went unanswered."""

_Answer = TypeVar("_Answer")


async def call_server(thread_id: str, call: Awaitable[_Answer], *, seconds: float) -> _Answer:
    """Return what a call answers that the server answers by itself.

    Raises:
        ServerUnreachable: No answer within ``seconds``.
        UnknownThread: The server knows no run of the thread.
        CallRefused: The server refused the call.
    """
    try:
        async with asyncio.timeout(seconds):
            return await call
    except TimeoutError as error:
        raise _server_silent(seconds) from error
    except RPCError as error:
        if error.status in OUT_OF_TIME:
            raise _server_silent(seconds) from error
        raise error_of_rpc(error, thread_id) from error


async def call_worker(
    client: Client, thread_id: str, call: Awaitable[_Answer], *, seconds: float, doing: str
) -> _Answer:
    """Return what a call answers that needs a worker: an update or a query.

    Args:
        client: The client of the call.
        thread_id: The thread whose run is asked.
        call: The call itself.
        seconds: How long an answer may take.
        doing: What is lost without an answer, for the message.

    Raises:
        NoWorker: The server is there and nobody answered within ``seconds``.
        ServerUnreachable: The server does not answer either.
        CommandRefused: The run refused the command, by the class of its code.
        UnknownThread: The server knows no run of the thread.
        CallRefused: The call was not taken for another reason.
    """
    try:
        async with asyncio.timeout(seconds):
            return await call
    except (TimeoutError, RPCTimeoutOrCancelledError) as error:
        raise await _silence(client, thread_id, seconds, doing) from error
    except WorkflowUpdateFailedError as error:
        raise error_of_update(error, thread_id) from error
    except WorkflowQueryFailedError as error:
        raise error_of_query(error, thread_id) from error
    except RPCError as error:
        if error.status in OUT_OF_TIME:
            raise await _silence(client, thread_id, seconds, doing) from error
        raise error_of_rpc(error, thread_id) from error


async def _silence(client: Client, thread_id: str, seconds: float, doing: str) -> FermataError:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await client.service_client.check_health(timeout=timedelta(seconds=CHECK_SECONDS))
    except (TimeoutError, RPCError, RuntimeError):
        return _server_silent(seconds)
    return NoWorker(
        f"no worker answered for the run of thread {thread_id!r} within {seconds:g} s; {doing}. "
        "Start one with `fermata worker`"
    )


def _server_silent(seconds: float) -> ServerUnreachable:
    return ServerUnreachable(
        f"the Temporal server did not answer within {seconds:g} s; look whether it runs and "
        "whether TEMPORAL_ADDRESS names it"
    )
