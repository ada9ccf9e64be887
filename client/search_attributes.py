"""The search attributes of runs: which there are, and which a server has.

An attribute that is not registered, or is of another type, makes every run's workflow task fail
for ever (prototypes, A4). So a worker looks before it serves: it registers what is missing, and
where it may not, its runs do without, which is said once.
"""

import logging

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError

from workflows.search_attributes import SEARCH_ATTRIBUTES

_TYPES = {
    "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "KeywordList": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    "Datetime": IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
}

_log = logging.getLogger("fermata.worker")


async def ensure_search_attributes(client: Client) -> tuple[str, ...]:
    """Return the names of the attributes that runs may set, registering what is missing."""
    try:
        present = await _registered(client)
    except RPCError as error:
        _log.warning("search attributes cannot be listed, runs do without them: %s", error.message)
        return ()
    missing = {
        name: _TYPES[kind] for name, kind in SEARCH_ATTRIBUTES.items() if name not in present
    }
    if missing:
        try:
            await client.operator_service.add_search_attributes(
                AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
            )
            present.update(missing)
        except RPCError as error:
            _log.warning(
                "search attributes %s cannot be registered, runs do without them: %s. "
                "Register them with: temporal operator search-attribute create",
                ", ".join(missing),
                error.message,
            )
    return tuple(_usable(present))


async def _registered(client: Client) -> "dict[str, IndexedValueType.ValueType]":
    reply = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return dict(reply.custom_attributes)


def _usable(present: "dict[str, IndexedValueType.ValueType]") -> list[str]:
    usable: list[str] = []
    for name, kind in SEARCH_ATTRIBUTES.items():
        if name in present and present[name] == _TYPES[kind]:
            usable.append(name)
        elif name in present:
            _log.warning(
                "search attribute %s is registered with another type than %s, runs do without it",
                name,
                kind,
            )
    return usable
