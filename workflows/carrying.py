"""How an inbox is made small enough to travel through continue-as-new."""

import json
from collections.abc import Sequence
from typing import TypeVar

from seeding.model import Json, JsonObject, Model
from workflows.inbox_model import Carry

MAX_CARRY_BYTES = 200 * 1024
"""How large a carried inbox is at most, unless accepted and kept commands alone are larger."""

Entry = TypeVar("Entry", bound=Model)


def bounded_carry(carry: Carry, most: int = MAX_CARRY_BYTES) -> JsonObject:
    """Return ``carry`` as JSON, with the oldest refusals and command ids left out beyond ``most``.

    Refusals may take three quarters of what the commands leave free, command ids the rest. A
    command id that is left out is still known where its answer is kept, queued or in the log.
    """
    fixed = carry.model_copy(update={"commands": [], "refusals": []})
    room = most - _bytes(fixed.to_json())
    refusals = _newest(carry.refusals, room * 3 // 4)
    room -= sum(_bytes(entry.to_json()) + 1 for entry in refusals)
    commands = _newest(carry.commands, room)
    return carry.model_copy(update={"commands": commands, "refusals": refusals}).to_json()


def _newest(entries: Sequence[Entry], room: int) -> list[Entry]:
    fitting: list[Entry] = []
    for entry in reversed(entries):
        room -= _bytes(entry.to_json()) + 1
        if room < 0:
            break
        fitting.append(entry)
    return fitting[::-1]


def _bytes(value: Json) -> int:
    # Escaped, because that is the longest form in which a converter may write it.
    return len(json.dumps(value, separators=(",", ":")))
