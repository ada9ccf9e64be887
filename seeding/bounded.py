"""Views of large values: the largest are shown by reference so that a payload stays small.

A value above 64 KB, and the largest ones where a payload would pass its limit in all, are shown
as ``{"$ref": "...", "bytes": n}``; the log holds them whole.
"""

from collections.abc import Mapping

from seeding.json_values import MAX_PAYLOAD_BYTES, MAX_VALUE_BYTES, size_in_bytes
from seeding.model import Json, JsonObject


def shown_by_reference(
    values: Mapping[str, Json], prefix: str, limit: int = MAX_PAYLOAD_BYTES
) -> JsonObject:
    """Return ``values`` with the largest replaced by references until ``limit`` is kept.

    Args:
        values: Values by key; their order is kept.
        prefix: What a reference starts with; the key follows after a slash.
        limit: The most bytes of JSON that values by value may have in all.
    """
    sizes = {key: size_in_bytes(value) for key, value in values.items()}
    total = sum(sizes.values())
    referenced: dict[str, int] = {}
    for key in sorted(sizes, key=lambda name: (-sizes[name], name)):
        if total <= limit and sizes[key] <= MAX_VALUE_BYTES:
            break
        referenced[key] = sizes[key]
        total -= sizes[key]
    return {
        key: reference(f"{prefix}/{key}", referenced[key]) if key in referenced else value
        for key, value in values.items()
    }


def reference(name: str, size: int) -> JsonObject:
    """Return what stands in a view for a value of ``size`` bytes that is read elsewhere."""
    return {"$ref": name, "bytes": size}
