"""Turns that a run was given for the queue and that the log does not hold yet."""

from collections import deque
from collections.abc import Sequence

from seeding.errors import FermataError
from seeding.json_values import size_in_bytes
from workflows.inbox_model import Reply, TurnTaken

MAX_UNSTORED = 100
"""How many turns a run keeps while the log does not answer."""

MAX_UNSTORED_BYTES = 256 * 1024
"""How many bytes of JSON they may have in all."""


class MessageLine:
    """Accepted turns in the order of acceptance, each with a number of its own.

    Attributes:
        taken: How many turns this chain has accepted; the number of the newest.
        stored: Whether any of them is in the log's queue by now.
    """

    def __init__(self, taken: int = 0, *, stored: bool = False) -> None:
        self.taken = taken
        self.stored = stored
        self._waiting: deque[tuple[int, TurnTaken]] = deque()
        self._outcomes: dict[int, Reply | FermataError] = {}

    @property
    def first(self) -> tuple[int, TurnTaken] | None:
        """The oldest turn that is not in the log yet, with its number."""
        return self._waiting[0] if self._waiting else None

    @property
    def is_empty(self) -> bool:
        """Whether everything that was accepted is in the log or refused."""
        return not self._waiting

    @property
    def size(self) -> tuple[int, int]:
        """How many turns are not in the log yet, and how many bytes of JSON they have."""
        return len(self._waiting), sum(size_in_bytes(item.request) for _, item in self._waiting)

    def add(self, turn: TurnTaken) -> int:
        """Append an accepted turn and return its number."""
        self.taken += 1
        self._waiting.append((self.taken, turn))
        return self.taken

    def settle(self, outcome: Reply | FermataError) -> None:
        """Remove the first turn, which is in the log now or was refused."""
        number, turn = self._waiting.popleft()
        self.stored = self.stored or isinstance(outcome, Reply)
        if turn.door == "update":
            self._outcomes[number] = outcome

    def is_settled(self, number: int) -> bool:
        """Return whether a turn that came by update has its outcome."""
        return number in self._outcomes

    def outcome(self, number: int) -> Reply | FermataError:
        """Return what became of a turn that came by update, once."""
        return self._outcomes.pop(number)


def fits(size: Sequence[int], turn_bytes: int) -> bool:
    """Return whether one more turn of so many bytes may wait for the log."""
    count, used = size
    return count < MAX_UNSTORED and used + turn_bytes <= MAX_UNSTORED_BYTES
