"""Connecting to Temporal by the standard environment and profiles."""

import asyncio
from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.service import RPCError, RPCStatusCode

from client.failures import DATA_CONVERTER
from seeding.errors import InvalidSettings, ServerUnreachable

DEFAULT_ADDRESS = "localhost:7233"
CONNECT_SECONDS = 10.0


async def connect(*, within: float = CONNECT_SECONDS) -> Client:
    """Return a client of the configured server (``TEMPORAL_ADDRESS``, profiles).

    Args:
        within: Seconds the server has to answer.

    Raises:
        InvalidSettings: The address or the profile cannot be read.
        ServerUnreachable: Nothing answers there.
    """
    config = _configured()
    address = config.setdefault("target_host", DEFAULT_ADDRESS)
    try:
        async with asyncio.timeout(within):
            return await Client.connect(**config, data_converter=DATA_CONVERTER)
    except ValueError as error:
        raise InvalidSettings(
            f"TEMPORAL_ADDRESS {address!r} is no address: {error}; give one such as "
            f"{DEFAULT_ADDRESS}"
        ) from error
    except TimeoutError as error:
        raise ServerUnreachable(
            f"the Temporal server at {address} did not answer within {within:g} s; look whether "
            "it runs and whether TEMPORAL_ADDRESS names it"
        ) from error
    except (RPCError, RuntimeError, OSError) as error:
        raise ServerUnreachable(
            f"no Temporal server answers at {address}; start one with `make dev`, or set "
            "TEMPORAL_ADDRESS"
        ) from error


def _configured() -> ClientConnectConfig:
    try:
        return ClientConfig.load_client_connect_config()
    except (RuntimeError, ValueError) as error:
        raise InvalidSettings(
            f"the Temporal profile cannot be read: {error}; look at TEMPORAL_PROFILE and "
            "TEMPORAL_CONFIG_FILE"
        ) from error


async def check_namespace(client: Client) -> None:
    """Make sure that the server has the namespace of the client.

    Raises:
        InvalidSettings: It has not.
        ServerUnreachable: It does not answer.
    """
    asked = DescribeNamespaceRequest(namespace=client.namespace)
    within = timedelta(seconds=CONNECT_SECONDS)
    try:
        await client.workflow_service.describe_namespace(asked, timeout=within)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise InvalidSettings(
                f"the Temporal server has no namespace {client.namespace!r}; set "
                "TEMPORAL_NAMESPACE to one it has"
            ) from error
        raise ServerUnreachable(f"the Temporal server does not answer: {error.message}") from error
