"""Whether a value that came from a document is JSON through and through, and not too deep."""

from seeding.errors import InvalidGraph
from seeding.json_values import find_not_json
from seeding.model import Json


def check_json(value: Json, where: str) -> None:
    """Refuse a value that could not be stored and hashed as JSON.

    Args:
        value: Any value.
        where: What the value is called in messages.

    Raises:
        InvalidGraph: It nests too deep, or a leaf is no JSON value.
    """
    found = find_not_json(value)
    if found is not None:
        raise InvalidGraph(f"{where}: at {found.path or '(root)'}: {found.kind} is no JSON value")
