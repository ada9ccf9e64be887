"""Numbers with what they count, as people read them."""


def counted(count: int, noun: str) -> str:
    """Return a number with what it counts, ``1 run`` or ``2 runs``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
