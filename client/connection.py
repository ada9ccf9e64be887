"""Connecting to Temporal by the standard environment and profiles."""

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError

from seeding.errors import ServerUnreachable

DEFAULT_ADDRESS = "localhost:7233"


async def connect() -> Client:
    """Return a client of the configured server (``TEMPORAL_ADDRESS``, profiles).

    Raises:
        ServerUnreachable: Nothing answers there.
    """
    config = ClientConfig.load_client_connect_config()
    address = config.setdefault("target_host", DEFAULT_ADDRESS)
    try:
        return await Client.connect(**config, data_converter=pydantic_data_converter)
    except (RPCError, RuntimeError, OSError) as error:
        raise ServerUnreachable(
            f"no Temporal server answers at {address}; start one with `make dev`, or set "
            "TEMPORAL_ADDRESS"
        ) from error
