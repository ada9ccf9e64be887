"""What a benchmark says: figures, each with the bar it has to meet where there is one."""

from collections.abc import Sequence

from seeding.model import Model


class Figure(Model):
    """One measured value.

    Attributes:
        subject: The benchmark it belongs to.
        name: What was measured.
        value: What it came to; None where it could not be measured here.
        unit: Of ``value`` and ``bar``.
        bar: The value has to stay below; None where there is no bar.
        note: What else a reader should know.
    """

    subject: str
    name: str
    value: float | None
    unit: str
    bar: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """``ok`` or ``MISSED``; empty without a bar or a value."""
        if self.bar is None or self.value is None:
            return ""
        return "ok" if self.value < self.bar else "MISSED"


def percentile(samples: Sequence[float], percent: float) -> float:
    """Return the smallest sample that at least ``percent`` percent of them do not exceed."""
    ordered = sorted(samples)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]
