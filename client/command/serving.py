"""The verb ``worker``: serves runs until it is stopped."""

import asyncio
import logging
import sys

import typer

from client.command.arguments import examples
from client.connection import check_namespace, connect
from client.settings import settings
from client.worker import serve

READY = "worker ready"
"""Printed on a line of its own once the worker polls."""
EXAMPLES = examples(
    "FERMATA_NODES=my_nodes FERMATA_GRAPHS=my_graphs fermata worker",
)


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command(epilog=EXAMPLES)(worker)


def worker() -> None:
    """Serve runs until Ctrl-C; prints `worker ready` once it polls.

    FERMATA_NODES names modules with node types, FERMATA_GRAPHS folders of graph documents, each
    separated by commas. Modules are found where Python looks for them, and in this folder. It
    makes the log where there is none.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    asyncio.run(_serving())


async def _serving() -> None:
    client = await connect()
    await check_namespace(client)
    await serve(client, settings(), _say_ready)


def _say_ready() -> None:
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()
